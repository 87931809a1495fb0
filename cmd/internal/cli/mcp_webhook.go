package cli

import (
	"context"
	"maps"
	"sync"
	"time"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/webhook"
)

// deliverForCalls delivers the webhooks of a served agent's runs, until quit. Call the
// returned function with a run that this process releases; nil: the agent names no
// webhooks.
func deliverForCalls(ctx context.Context, a *app, j store, agent pawl.Agent) (rests func(pawl.Result), quit func(), err error) {
	if a.webhooks(agent.Source) == nil {
		return nil, func() {}, nil
	}
	out, stop, err := outbox(ctx, j, func(d pawl.Declaration) []webhook.Hook {
		if d.Agent != agent.Name {
			return nil // other processes deliver for other runs of the journal
		}
		return a.webhooks(d.Source)
	}, &webhook.Options{Allow: a.webhookAllow(), Loopback: true, Log: a.noticeLog()})
	if err != nil {
		return nil, nil, err
	}
	var mu sync.Mutex
	last := map[string]lastRest{} // may be undelivered when the client disconnects
	rests = func(r pawl.Result) {
		mu.Lock()
		maps.DeleteFunc(last, func(_ string, l lastRest) bool { return time.Since(l.at) > tellFor })
		last[r.Run] = lastRest{r, time.Now()}
		mu.Unlock()
		out.Tell(r)
	}
	quit = func() {
		stop()
		within, cancel := context.WithTimeout(context.WithoutCancel(ctx), tellForLeaving)
		defer cancel()
		mu.Lock()
		defer mu.Unlock()
		for run, l := range last {
			if left, err := out.Deliver(within, l.result); err != nil || left > 0 {
				a.sayf("pawl: run %s: %s not delivered yet; pawl serve, or the next command that drives the run, retries", run, counted(max(left, 1), "notice"))
			}
		}
	}
	return rests, quit, nil
}

// lastRest is the latest status of a run, and its time.
type lastRest struct {
	result pawl.Result
	at     time.Time
}
