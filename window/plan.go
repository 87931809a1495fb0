package window

import (
	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/internal/exchange"
)

// operation is what is done to a conversation.
type operation int

const (
	nothing   operation = iota
	mask                // the results of old calls are left out
	summarise           // a model puts what is old into a summary
	shorten             // so does the machine, without a model
	broken              // nothing helps
)

// plan is one decision: what is done, for what reason, and how many of the
// latest replies stay.
type plan struct {
	do   operation
	why  string
	keep int
	bare int // to shorten: how many of these keep their results
}

// tokensOf says how many tokens so many bytes are, at the rate that t is
// expected to have as a whole.
func tokensOf(t pawl.Think) func(bytes int) float64 {
	rate := 1.0 / bytesPerToken
	if t.Bytes > 0 {
		rate = float64(t.Estimate) / float64(t.Bytes)
	}
	return func(bytes int) float64 { return float64(bytes) * rate }
}

// rates are prices of a token relative to each other.
type rates struct{ read, write, in, out float64 }

func ratesOf(p pawl.Price) rates {
	r := rates{read: p.CacheRead, write: p.CacheWrite, in: p.Input, out: p.Output}
	if r.read == 0 {
		r.read = r.in
	}
	if r.write == 0 {
		r.write = r.in
	}
	return r
}

// byPrice is what pays. Nothing does with a model that costs nothing, such as one
// that runs in this process.
func (c compaction) byPrice(s *pawl.State, t pawl.Think, w exchange.Window) plan {
	price, priced := s.Price(t)
	if !priced || price.Input <= 0 || c.Never || w.Exchanges == 0 {
		return plan{}
	}
	var (
		r       = ratesOf(price)
		old     = max(0, w.Exchanges-c.Keep)
		left    = float64(s.Limits().Iterations - t.Iteration + 1) // requests, this one included
		ctx     = float64(t.Estimate)
		tokens  = tokensOf(t)
		expired = c.expired(s, t, w)
		again   = max(0, r.write-r.read) // what a token costs more that must be written anew
	)
	why := "price"
	if expired {
		again, why = 0, "pause"
	}

	free := w.Least + summaryTokens*bytesPerToken
	removable := tokens(w.Before(old) - free)
	tail := tokens(w.Bytes - w.Before(old))
	made := r.out*summaryTokens + r.write*promptTokens + r.read*ctx
	if expired {
		made += (r.write - r.read) * ctx
	}
	if c.name != "" {
		if by, ok := s.Price(pawl.Think{Model: c.name}); ok {
			made = by.Input*(ctx+promptTokens) + by.Output*summaryTokens
		}
	}
	summary := made + r.write*summaryTokens + again*tail
	paid := r.read * tokens(w.CarryCost(old, free)+min(w.Exchanges, c.Keep)*max(0, w.Before(0)-free))
	if removable > summaryTokens && paid >= summary && r.read*removable*left >= summary && c.affords(s, t) {
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
	masking := again * (tokens(w.Bytes-w.Before(w.Full())) - spare)
	if r.read*tokens(w.MaskableCarryCost(old)) >= masking && r.read*spare*left >= masking {
		return plan{do: mask, why: why, keep: w.Exchanges - old}
	}
	return plan{}
}

// expired reports whether the provider's cache has lost the conversation: nobody
// has read it for too long, or another model is asked.
func (c compaction) expired(s *pawl.State, t pawl.Think, w exchange.Window) bool {
	return !w.Sent.IsZero() && (s.Time().Sub(w.Sent) > c.TTL || t.Fallback != w.Fallback)
}

// affords reports whether a summary and a turn after it fit what is left of the
// run's ceilings. Else it would end the run rather than help it on.
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
	price, ok := s.Price(asked)
	spent, _ := s.Cost()
	return ok && limit-spent >= 2*price.Cost(pawl.Usage{Input: need, Output: mostSummary})
}
