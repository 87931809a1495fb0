package window

import (
	"fmt"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/internal/meter"
)

// byLimit plans what a limit requires. Near the limit a model summarises the old part, while the
// request for a summary still fits. Beyond the limit the machine writes the summary, and fewer of
// the latest replies stay whole.
func (c compaction) byLimit(s *pawl.State, t pawl.Think, w meter.Window) plan {
	if c.heavy(w, 0) {
		return c.lighten(w)
	}
	most, guess := c.MaxTokens, false
	if w.Refused > 0 { // a little less than a size that was refused
		if r := w.Refused - w.Refused/10; most == 0 || r < most {
			most, guess = r, true
		}
	}
	// The difference leaves room for the request for a summary and for new messages.
	near := most - max(most/8, min(2*(promptTokens+promptTokens/2), most/4))
	if most == 0 || t.Estimate <= near {
		return plan{}
	}
	tokens := tokensOf(t)
	after := func(saved int) int { // the rest is estimated again, with the margin
		return int((float64(t.Estimate) - tokens(saved)) * (1 + s.Limits().Margin))
	}
	why := fmt.Sprintf("limit: about %d tokens of %d", t.Estimate, most)
	keep := c.kept(w)
	old := w.Exchanges - keep
	if spare := w.Maskable(old); spare > 0 && after(spare) <= most*5/8 {
		return plan{do: mask, why: why, keep: keep}
	}
	free := w.Least + summaryTokens*bytesPerToken
	if removable := w.Before(old) - free; tokens(removable) > max(summaryTokens, float64(most)/8) {
		if t.Estimate+promptTokens+promptTokens/2 <= most && after(removable) <= most && c.affords(s, t) {
			return plan{do: summarise, why: why, keep: keep}
		}
	}
	if t.Estimate <= most {
		return plan{}
	}
	for ; ; keep-- {
		n := w.Exchanges - keep
		for _, bare := range []int{keep, min(keep, 1), 0} {
			masked := w.Maskable(w.Exchanges-bare) - w.Maskable(n)
			if after(w.Before(n)-w.Least-localBytes+masked) <= near {
				return plan{do: shorten, why: why, keep: keep, bare: bare}
			}
		}
		if keep == 0 {
			break
		}
	}
	if saved := w.Before(w.Exchanges) - w.Least - localBytes; after(saved) <= most {
		return plan{do: shorten, why: why}
	}
	if guess && (c.MaxTokens == 0 || t.Estimate <= c.MaxTokens) {
		return plan{} // the provider decides
	}
	return plan{do: broken, why: fmt.Sprintf("the next request needs about %d tokens of %d, and nothing more can be left out: prompt, tools and input are too long", t.Estimate, most)}
}

// heavy reports whether the conversation has too many bytes after saving some.
func (c compaction) heavy(w meter.Window, saved int) bool {
	return w.Bytes+w.Images/3*4-saved > c.MaxBytes // pictures travel as base64
}

// lighten masks results, oldest first, until the conversation has few enough bytes.
func (c compaction) lighten(w meter.Window) plan {
	why := fmt.Sprintf("limit: more than %d bytes", c.MaxBytes)
	for _, bare := range []int{c.kept(w), 1, 0} {
		if n := w.Exchanges - bare; n > 0 && w.Maskable(n) > 0 {
			return plan{do: mask, why: why, keep: bare}
		}
	}
	if w.Before(w.Exchanges) > w.Least+2*localBytes {
		return plan{do: shorten, why: why}
	}
	return plan{do: broken, why: fmt.Sprintf("the next request has more than %d bytes, and nothing more can be left out", c.MaxBytes)}
}
