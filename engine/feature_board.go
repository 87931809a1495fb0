package engine

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/team"
)

// A board is the tasks of a run (see [team.Board]), and the calls that wait to change them. The
// calls are the run's own and those of its children. The run's driver makes the changes, so they
// are in one order, and in its log.
type board struct {
	rec   *recorder
	inbox *inbox
	kin   kin
	tasks team.Tasks // only the driver uses it

	mu    sync.Mutex
	calls []*boardCalled
}

func (b *board) attends(t pawl.Tool) bool {
	_, ok := team.OnBoard(t, "", "")
	return ok
}

func (b *board) outfit(t pawl.Tool) pawl.Tool {
	if run, ok := team.OnBoard(t, b.rec.lease.Run, ParentOf(b.rec.state)); ok {
		return boardCall{t, b.kin, run}
	}
	return t
}

// boardCalled is a call of a tool of a board.
type boardCalled struct {
	inv  pawl.Invocation
	out  pawl.Output
	err  error
	done chan struct{} // closed when out and err are set
}

// boardCall is a tool of a board in the log of a run.
type boardCall struct {
	pawl.Tool
	kin kin
	run string
}

// Run has the driver of the board's run make the change. The driver waits for the calls of its
// run meanwhile, and so for those of its children.
func (b boardCall) Run(ctx context.Context, inv pawl.Invocation) (pawl.Output, error) {
	if b.run == "" {
		return pawl.Output{}, errors.New("this run has no board: the run that has it did not call this one")
	}
	for end := time.Now().Add(boardPatience); ; {
		var over <-chan struct{}
		var look <-chan time.Time
		c := &boardCalled{inv: inv, done: make(chan struct{})}
		if h := b.kin.Live(b.run); h != nil {
			over = h.done
			for _, f := range h.driver.rec.features {
				if at, ok := f.(*board); ok {
					at.put(c)
				}
			}
		} else {
			look = time.After(boardEvery)
		}
		select {
		case <-c.done:
			return c.out, c.err
		case <-ctx.Done(): // if the change is made all the same, the call finds it when it runs again
			return pawl.Output{}, context.Cause(ctx)
		case <-over:
		case <-look:
		}
		// The run of the board is not driven now. Its children are suspended with it, as a
		// rule, and it may be resumed before that reaches this one.
		if time.Now().After(end) {
			return pawl.Output{}, fmt.Errorf("the board is in the log of run %s, which is not driven in this process", b.run)
		}
		time.Sleep(time.Millisecond)
	}
}

// How long a call waits for the run of its board to be driven, and how often it looks.
const boardPatience, boardEvery = 5 * time.Second, 10 * time.Millisecond

// put has the driver make the change of a call.
func (b *board) put(c *boardCalled) {
	b.mu.Lock()
	b.calls = append(b.calls, c)
	b.mu.Unlock()
	b.inbox.notify()
}

// serve makes the changes of the calls that wait, and makes them durable before it answers.
func (b *board) serve(at uint64) error {
	r := b.rec
	b.mu.Lock()
	calls := b.calls
	b.calls = nil
	b.mu.Unlock()
	if calls == nil {
		return nil
	}
	for _, c := range calls {
		c.inv.Args = r.clean.json(c.inv.Args)
		var note *pawl.Noted
		if note, c.out, c.err = b.tasks.Do(r.state, c.inv); note != nil {
			r.append(at, *note)
		}
	}
	if err := r.flush(); err != nil {
		return err
	}
	for _, c := range calls {
		close(c.done)
	}
	return nil
}
