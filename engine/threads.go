package engine

import (
	"context"
	"maps"
	"slices"
	"sync"

	"github.com/pawl-run/pawl/team"
)

// Threads caches the ends of the latest runs of threads, so that the next run of a thread
// begins without reading the logs of earlier runs. It holds as much as a live run of the
// thread, for at most 4,096 runs, and always for the latest thread. What is not cached, or
// has changed in the journal, is read. The zero value is ready to use; engines on one
// journal can share it, and it is safe for concurrent use.
type Threads struct {
	mu    sync.Mutex
	ended []ended // least recently ended first
}

// mostRemembered bounds the cached runs, including those that a run continues.
const mostRemembered = 4096

// ended is a run of a thread that has ended, and what changed its texts.
type ended struct {
	past
	thread  string
	secrets map[string]string
	learned int64 // how many secrets were learned
}

// keep caches a run that was driven to its end.
func (t *Threads) keep(r *recorder) {
	if r.state.Head().Thread == "" { // not of Start, which copies the whole declaration
		return
	}
	if _, handed := team.Handed(r.state.Verdict()); handed { // the next leg has the conversation
		return
	}
	start, _ := r.state.Start()
	after := ""
	if start.Continues != nil {
		after = start.Continues.Run
	}
	if !r.state.Status().Ended() || r.durable != r.state.Seq() ||
		ThreadRun(start.Thread, after) != r.lease.Run || len(r.clean.filters) > 0 {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.drop(start.Thread)
	t.ended = append(t.ended, ended{past{r.state, r.transcript, r.runs + 1}, start.Thread, r.engine.opt.Secrets, r.engine.learned()})
	held := 0
	for i, e := range slices.Backward(t.ended) {
		if held += e.runs; held > mostRemembered && i < len(t.ended)-1 {
			t.ended = slices.Delete(t.ended, 0, i+1)
			break
		}
	}
}

func (t *Threads) drop(thread string) (e ended, ok bool) {
	i := slices.IndexFunc(t.ended, func(e ended) bool { return e.thread == thread })
	if i < 0 {
		return e, false
	}
	e = t.ended[i]
	t.ended = slices.Delete(t.ended, i, i+1)
	return e, true
}

// take removes and returns the cached end of a thread, because continuing a conversation
// changes it. The run must still be in the journal. That it still ends there is checked when
// the next run is claimed; see [Engine.rests].
func (t *Threads) take(ctx context.Context, b *beginning) past {
	t.mu.Lock()
	e, ok := t.drop(b.Thread)
	t.mu.Unlock()
	clean := b.engine.cleaner(b.machine)
	if !ok || len(clean.filters) > 0 || !maps.Equal(e.secrets, b.engine.opt.Secrets) || e.learned != b.engine.learned() {
		return past{}
	}
	was, _ := e.state.Start()
	is, err := firstOf(ctx, b.engine.journal, e.state.Run())
	if err != nil || is.Nonce != was.Nonce {
		return past{}
	}
	e.transcript.Next(e.state, e.runs, clean.parts)
	return e.past
}
