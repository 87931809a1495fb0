package server

import (
	"cmp"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/internal/meter"
	"github.com/pawl-run/pawl/internal/redact"
	"github.com/pawl-run/pawl/runs"
	"github.com/pawl-run/pawl/server/client"
)

// mostSteps bounds the spans of time of one answer.
const mostSteps = 1000

var statsRoute = route{
	method: http.MethodGet, path: "/v1/stats", name: "stats", summary: "Count runs and sum their cost over time", scope: Read,
	query: []parameter{
		{"by", "how runs are grouped: agent (default), or label:KEY"},
		{"step", "how long each span of time is: hour or day (default), in UTC"},
		{"since", "only runs created at this time or later; default: seven days before until"},
		{"until", "only runs created before this time; default: now"},
		{"agent", "only runs of this agent"},
		{"loop", "only runs of this loop"},
		{"label", "only runs with this label, as KEY=VALUE; may be repeated"},
	},
	reply: client.Stats{}, refuses: []int{422}, do: (*Server).stats,
}

// keptStats are the answers of late, so that a page which asks again and again does not have all
// runs read each time. An answer holds for ten times as long as it took, two seconds at least.
type keptStats struct {
	mu      sync.Mutex
	answers map[string]keptAnswer // by the request, and what its key may see
}

type keptAnswer struct {
	client.Stats
	until time.Time
}

const leastKept = 2 * time.Second

// of returns the answer to a request. Callers share the time that read takes.
func (k *keptStats) of(request string, read func() (client.Stats, error)) (client.Stats, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	began := time.Now()
	maps.DeleteFunc(k.answers, func(_ string, a keptAnswer) bool { return began.After(a.until) })
	if kept, ok := k.answers[request]; ok {
		return kept.Stats, nil
	}
	out, err := read()
	if now := time.Now(); err == nil {
		if k.answers == nil {
			k.answers = map[string]keptAnswer{}
		}
		k.answers[request] = keptAnswer{out, now.Add(max(leastKept, 10*now.Sub(began)))}
	}
	return out, err
}

// stats reads the heads of the runs of a span of time, and no log.
func (s *Server) stats(x *exchange) (any, error) {
	f, _, err := s.filter(x)
	if err != nil {
		return nil, err
	}
	step, ok := map[string]time.Duration{"": 24 * time.Hour, "day": 24 * time.Hour, "hour": time.Hour}[x.URL.Query().Get("step")]
	if !ok {
		return nil, invalid("step is hour or day")
	}
	by := cmp.Or(x.URL.Query().Get("by"), "agent")
	label, isLabel := strings.CutPrefix(by, "label:")
	if by != "agent" && (!isLabel || label == "") {
		return nil, invalid(fmt.Sprintf("by is %q; write agent or label:KEY", by))
	}
	q := &f.Query
	if q.Until.IsZero() {
		q.Until = time.Now()
	}
	if q.Since.IsZero() {
		q.Since = q.Until.Add(-7 * 24 * time.Hour)
	}
	q.Since, q.Until = q.Since.UTC().Truncate(step), q.Until.UTC()
	if n := q.Until.Sub(q.Since) / step; n > mostSteps {
		return nil, invalid(fmt.Sprintf("that is more than %d spans of time; choose a longer step or a later since", mostSteps))
	}
	out := client.Stats{Since: q.Since, Until: q.Until, Seconds: int(step / time.Second), Spans: []client.Span{}}
	if q.Labels == nil {
		return out, nil // the key cannot see the requested labels
	}
	return s.statistics.of(fmt.Sprint(x.URL.Query().Encode(), q.Labels), func() (client.Stats, error) {
		err := s.count(x, *q, &out, func(h pawl.Head) string {
			if isLabel {
				return redact.Text(h.Labels[label])
			}
			return h.Agent
		})
		return out, err
	})
}

// count counts the runs of a query by span of time and group.
func (s *Server) count(x *exchange, q pawl.Query, out *client.Stats, groupOf func(pawl.Head) string) error {
	step := time.Duration(out.Seconds) * time.Second
	type spot struct {
		at    time.Time
		group string
	}
	found := map[spot]*client.Span{}
	for h, err := range s.journal.List(x.Context(), q) {
		if err != nil {
			return err
		}
		if h.Seq == 0 || runs.IsChild(h) || runs.IsMemory(h) {
			continue // the parent's cost includes that of its children
		}
		if h.Status == pawl.StatusRunning && !runs.Owned(h.Lease) {
			h.Status = pawl.StatusInterrupted
		}
		k := spot{h.Created.UTC().Truncate(step), groupOf(h)}
		one := found[k]
		if one == nil {
			one = &client.Span{At: k.at, Group: k.group, Statuses: map[string]int{}}
			found[k] = one
		}
		one.Runs++
		one.Statuses[h.Status.String()]++
		if h.Priced {
			one.CostUSD = pawl.Decimal(meter.Dollars(float64(one.CostUSD) + h.Cost))
		} else {
			one.Unpriced++
		}
	}
	for one := range maps.Values(found) {
		out.Spans = append(out.Spans, *one)
	}
	slices.SortFunc(out.Spans, func(a, b client.Span) int { return cmp.Or(a.At.Compare(b.At), cmp.Compare(a.Group, b.Group)) })
	return nil
}
