package temporal

import (
	"cmp"
	"context"
	"sync"
	"time"

	"go.temporal.io/sdk/activity"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/engine"
)

// A pulse is the heartbeat of an activity. It beats when the run gets on: at every entry and
// every piece of a reply. A call in flight that says nothing counts as getting on until its
// own time-out is over, since the engine ends it then.
type pulse struct {
	tell   func(about string)
	stop   func()
	limits map[string]time.Duration // time-outs of tools, by name
	about  string                   // where the run is; only for the caller of saw

	mu     sync.Mutex
	flight map[string]time.Time // when the calls in flight are to end at the latest
	beaten string               // about, as it was last told
}

const (
	quietBeat  = 10 * time.Second // between two heartbeats of a call in flight
	grace      = 30 * time.Second // after the time-out of a call
	modelCall  = 10 * time.Minute // the most that a model call takes; see engine.Options
	toolCall   = time.Minute      // the most that a call of a tool takes; see pawl.ToolInfo
	childLimit = 30 * time.Minute // the most that a child run takes; see pawl.Limits
)

// theModel stands for the model call among the calls in flight.
const theModel = "model call"

func newPulse(ctx context.Context, j pawl.Journal, run string) *pulse {
	life, stop := context.WithCancel(context.WithoutCancel(ctx))
	p := &pulse{tell: func(about string) { activity.RecordHeartbeat(ctx, about) }, stop: stop, limits: map[string]time.Duration{}, flight: map[string]time.Time{}}
	for e, err := range engine.Entries(ctx, j, run, 1) {
		if start, ok := e.Event.(pawl.RunStarted); ok && err == nil {
			p.declared(&start.Declaration)
		}
		break
	}
	go func() {
		for beat := time.NewTicker(quietBeat); ; {
			select {
			case now := <-beat.C:
				p.quiet(now)
			case <-life.Done():
				beat.Stop()
				return
			}
		}
	}()
	return p
}

func (p *pulse) declared(d *pawl.Declaration) {
	for _, t := range d.Tools {
		p.limits[t.Name] = t.Timeout
	}
}

// saw beats because of an entry. It reports whether nothing is in flight now.
func (p *pulse) saw(e pawl.Entry) (idle bool) {
	tool := ""
	p.mu.Lock()
	defer p.mu.Unlock()
	within := func(call string, limit time.Duration) { p.flight[call] = time.Now().Add(limit + grace) }
	switch ev := e.Event.(type) {
	case pawl.ModelCalled:
		within(theModel, modelCall)
	case pawl.ModelReplied, pawl.ModelFailed:
		delete(p.flight, theModel)
	case pawl.ToolStarted:
		tool = ev.Tool
		within(ev.Call, cmp.Or(p.limits[ev.Tool], toolCall))
	case pawl.ToolFinished:
		tool = ev.Tool
		delete(p.flight, ev.Call)
	case pawl.ToolDoubted:
		delete(p.flight, ev.Call)
	case pawl.ChildStarted:
		within(ev.Child, cmp.Or(ev.Limits.Time, childLimit))
	case pawl.ChildStopped:
		delete(p.flight, ev.Child)
	case pawl.RunResumed:
		if ev.Changed != nil {
			p.declared(ev.Changed)
		}
	}
	if e.Seq > 0 {
		p.about = about(e.Iteration, tool)
	}
	p.beaten = p.about
	p.tell(p.beaten)
	return len(p.flight) == 0
}

// quiet beats if a call in flight has time left.
func (p *pulse) quiet(now time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, until := range p.flight {
		if now.Before(until) {
			p.tell(p.beaten)
			return
		}
	}
}
