package window

import (
	"slices"
	"strings"
	"time"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/internal/meter"
)

// A run that may wait is expected to do so after one request in five, until it has made
// some requests: half a wait after two and a half requests.
const (
	priorWaits    = 0.5
	priorRequests = 2.5
)

// lasting reports whether the provider should keep the request for an hour in place of five
// minutes. That costs a surcharge for what requests add to the cache. It saves writing
// the whole conversation again when the run waits after a request, for a person or a slow
// tool. How likely that is follows from the waits of the run so far and, at first, from
// whether anything in the agent's declaration can wait. The run is expected to go on for as
// many requests as it has made, so that it is worth to pay once for a long conversation
// that is written now.
func (c compaction) lasting(s *pawl.State, t pawl.Think, w meter.Window) bool {
	declared := s.Internals().Asked(t).Price
	if declared == nil {
		return false
	}
	price := tier(*declared, t.Estimate)
	if price.CacheLong <= 0 || t.Model != "" {
		return false
	}
	waits, requests := float64(w.Waits), float64(w.Requests)
	if d := s.Declaration(); mayWait(&d) {
		waits += priorWaits
	}
	if waits == 0 {
		return false
	}
	var (
		tokens      = tokensOf(t)
		ctx         = float64(t.Estimate)
		added       = ctx
		each        = 0.0                                                           // added by a later request
		ahead       = min(requests+1, float64(s.Limits().Iterations-t.Iteration+1)) // as many requests as before, this one included
		short, long = ratesOf(price, false), ratesOf(price, true)
	)
	if w.Exchanges > 0 {
		each = tokens(w.Bytes-w.Before(0)) / float64(w.Exchanges)
	}
	if latest := w.Exchanges - 1; latest >= 0 && w.Compacted < w.Since(latest) && !c.expired(s, t, w) {
		added = tokens(w.Bytes - w.Before(latest))
	}
	// After a wait that the cache does not outlast, old results can be left out at no cost.
	lost := short.write*(ctx-tokens(w.Maskable(max(0, w.Exchanges-c.Keep)))) - long.read*ctx
	return ahead*waits/(requests+priorRequests)*lost >= (long.write-short.write)*(added+(ahead-1)*each)
}

// mayWait reports whether a run of the agent can wait: for a person, a client, or a tool
// that may take longer than five minutes.
func mayWait(d *pawl.Declaration) bool {
	return slices.ContainsFunc(d.Tools, func(t pawl.ToolInfo) bool {
		return t.Client || t.Timeout > 5*time.Minute || t.Name == "ask_human" || t.Name == "__pause_for_human__"
	}) || slices.ContainsFunc(d.PolicyInfo, func(p pawl.PolicyInfo) bool { return p.Kind == "plan" || strings.HasPrefix(p.Kind, "approval") })
}
