package cli

import (
	"context"
	"log/slog"
	"maps"
	"sync"
	"time"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/webhook"
)

// tellOfCalls tells those whom a served agent names of its runs, until quit. It
// gives what is to be called with a run that is let go of here; nil: the agent names
// nobody.
func (a *app) tellOfCalls(ctx context.Context, j store, agent pawl.Agent) (rests func(pawl.Result), quit func(), err error) {
	if a.webhooks(agent.Source) == nil {
		return nil, func() {}, nil
	}
	out, err := webhook.New(j, func(d pawl.Declaration) []webhook.Hook {
		if d.Agent != agent.Name {
			return nil // other runs of the journal are for others to tell of
		}
		return a.webhooks(d.Source)
	}, &webhook.Options{Allow: a.webhookAllow(), Loopback: true, Log: slog.New(&noticeLog{a: a})})
	if err != nil {
		return nil, nil, misuse("PAWL_WEBHOOK_ALLOW: %w", err)
	}
	serving, stop := context.WithCancel(context.WithoutCancel(ctx))
	done := make(chan struct{})
	go func() {
		defer close(done)
		out.Serve(serving)
	}()
	var mu sync.Mutex
	last := map[string]lastRest{} // which may not be told of yet when the client goes
	rests = func(r pawl.Result) {
		mu.Lock()
		maps.DeleteFunc(last, func(_ string, l lastRest) bool { return time.Since(l.at) > tellFor })
		last[r.Run] = lastRest{r, time.Now()}
		mu.Unlock()
		out.Tell(r)
	}
	quit = func() {
		stop()
		<-done
		within, cancel := context.WithTimeout(context.WithoutCancel(ctx), tellForLeaving)
		defer cancel()
		mu.Lock()
		defer mu.Unlock()
		for run, l := range last {
			if left, err := out.Deliver(within, l.result); err != nil || left > 0 {
				a.sayf("pawl: run %s: %s not delivered yet; pawl serve, or the next command that drives the run, goes on", run, counted(max(left, 1), "notice"))
			}
		}
	}
	return rests, quit, nil
}

// lastRest is what a run came to, and when.
type lastRest struct {
	result pawl.Result
	at     time.Time
}
