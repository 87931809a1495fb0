package window

import (
	"cmp"
	"sort"
	"time"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/internal/meter"
)

// operation is a way to shorten a conversation.
type operation int

const (
	nothing   operation = iota
	mask                // omit the results of old calls
	summarise           // a model summarises the old part
	shorten             // the machine summarises it, without a model
	broken              // nothing can be omitted any more
)

// plan is one decision: the operation, the reason, and how many of the latest replies stay.
type plan struct {
	do   operation
	why  string
	keep int
	bare int // for shorten: how many of these keep their results
}

// tokensOf returns a function that converts bytes to tokens, at the expected rate of the whole
// request t.
func tokensOf(t pawl.Think) func(bytes int) float64 {
	rate := 1.0 / bytesPerToken
	if t.Bytes > 0 {
		rate = float64(t.Estimate) / float64(t.Bytes)
	}
	return func(bytes int) float64 { return float64(bytes) * rate }
}

// rates are the prices of a token relative to each other.
type rates struct{ read, write, in, out float64 }

func ratesOf(p pawl.Price, long bool) rates {
	r := rates{read: cmp.Or(p.CacheRead, p.Input), write: cmp.Or(p.CacheWrite, p.Input), in: p.Input, out: p.Output}
	if long {
		r.write = cmp.Or(p.CacheLong, r.write)
	}
	return r
}

// tier is the price of a request with so much input.
func tier(p pawl.Price, input int) pawl.Price {
	if l := p.Long; l.From > 0 && input > l.From {
		return pawl.Price{Input: l.Input, Output: l.Output, CacheRead: l.CacheRead, CacheWrite: l.CacheWrite, CacheLong: l.CacheLong}
	}
	return p
}

// fine is what a request costs more, and every one after it, because it is longer than
// where the price of long input begins, and would not be without removable tokens of it.
func fine(p pawl.Price, t pawl.Think, removable float64) float64 {
	rest := float64(t.Estimate) - removable
	if l := p.Long; l.From == 0 || t.Estimate <= l.From || rest > float64(l.From) {
		return 0
	}
	low, high := ratesOf(p, t.Long), ratesOf(tier(p, t.Estimate), t.Long)
	return (high.read-low.read)*rest + (high.out-low.out)*usualReply
}

// relativePrice is what a model costs. For one elsewhere whose price is unknown it is one with the
// usual ratios of input, output and cache, in no currency, which is enough to compare costs. A model
// in this process has no price: what it costs is unlike that.
func relativePrice(info *pawl.ModelInfo) pawl.Price {
	if info.Price == nil && info.Endpoint != "" {
		return pawl.Price{Input: 1, Output: 5, CacheRead: 0.1, CacheWrite: 1.25}
	}
	return *cmp.Or(info.Price, &pawl.Price{})
}

// byPrice plans what saves money. With a model that costs nothing, such as one that runs in this
// process, nothing does. Only the ratios of prices count, so that they may be unknown.
func (c compaction) byPrice(s *pawl.State, t pawl.Think, w meter.Window) plan {
	price := relativePrice(s.Internals().Asked(t))
	if price.Input <= 0 || c.Never || w.Exchanges == 0 {
		return plan{}
	}
	var (
		ctx     = float64(t.Estimate)
		r       = ratesOf(tier(price, t.Estimate), t.Long)
		old     = max(0, w.Exchanges-c.Keep)
		left    = float64(s.Limits().Iterations - t.Iteration + 1) // requests, this one included
		tokens  = tokensOf(t)
		expired = c.expired(s, t, w)
		again   = max(0, r.write-r.read) // the surcharge for a token that must be written again
	)
	why := "price"
	if expired {
		if again, why = 0, "pause"; w.Fallback < 0 {
			why = "tools"
		}
	}

	free := w.Least + summaryTokens*bytesPerToken
	removable := tokens(w.Before(old) - free)
	tail := tokens(w.Bytes - w.Before(old))
	made := r.out*summaryTokens + r.write*promptTokens + r.read*ctx
	if expired {
		made += (r.write - r.read) * ctx
	}
	if c.name != "" {
		if by := s.Internals().Asked(pawl.Think{Model: c.name}).Price; by != nil && s.Internals().Asked(t).Price != nil { // else the two do not compare
			made = by.Input*(ctx+promptTokens) + by.Output*summaryTokens
		}
	}
	rethought := c.rethinking(t, w, r.out)
	summary := made + r.write*summaryTokens + again*tail + rethought
	over := fine(price, t, removable-summaryTokens)
	paid := r.read * tokens(w.CarryCost(old, free)+min(w.Exchanges, c.Keep)*max(0, w.Before(0)-free))
	if removable > summaryTokens && paid+over >= summary && (r.read*removable+over)*left >= summary && c.affords(s, t) {
		return plan{do: summarise, why: "price", keep: w.Exchanges - old}
	}

	spare := tokens(w.Maskable(old))
	least := float64(leastSpare)
	if expired {
		least = leastIdle
	}
	if spare < least {
		return plan{}
	}
	masking := again*(tokens(w.Bytes-w.Before(w.Full()))-spare) + rethought
	over = fine(price, t, spare)
	if r.read*tokens(w.MaskableCarryCost(old))+over >= masking && (r.read*spare+over)*left >= masking {
		return plan{do: mask, why: why, keep: w.Exchanges - old}
	}
	return plan{}
}

// rethinking is what the thinking in the latest replies costs if the model thinks it again: a model
// that is bound to what stood before its thinking takes none back behind a change. It is nothing for
// thinking that is lost already, because the conversation, the tools or the model changed since.
func (c compaction) rethinking(t pawl.Think, w meter.Window, out float64) float64 {
	if t.Fallback != w.Fallback {
		return 0
	}
	changed := sort.Search(w.Exchanges, func(n int) bool { return w.Since(n) > w.Compacted })
	return out * float64(w.Thought*min(c.Keep, w.Exchanges-changed))
}

// expired reports whether the provider's cache has dropped the conversation: it was not read for
// longer than the TTL, another model gets the request, or it has other tools.
func (c compaction) expired(s *pawl.State, t pawl.Think, w meter.Window) bool {
	ttl := c.TTL
	if w.Long {
		ttl = max(ttl, time.Hour)
	}
	return !w.Sent.IsZero() && (s.Time().Sub(w.Sent) > ttl || t.Fallback != w.Fallback)
}

// affords reports whether a summary and a turn after it fit the rest of the run's limits. If not,
// the summary would end the run.
func (c compaction) affords(s *pawl.State, t pawl.Think) bool {
	asked := pawl.Think{Model: c.name, Prepared: pawl.Prepared{Fallback: t.Fallback}}
	need := t.Estimate + promptTokens + mostSummary
	if s.Limits().Tokens-s.Tokens() < need+t.Estimate+t.MaxTokens {
		return false
	}
	limit := s.Limits().Cost
	if limit == 0 {
		return true
	}
	price := s.Internals().Asked(asked).Price
	spent, _ := s.Cost()
	return price != nil && limit-spent >= 2*price.Cost(pawl.Usage{Input: need, Output: mostSummary})
}
