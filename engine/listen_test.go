package engine_test

import (
	"bytes"
	"context"
	"errors"
	"iter"
	"log/slog"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/engine"
)

// A telling journal says what a test has it say, and may be slow to show signals.
type telling struct {
	*tap
	watch   func(context.Context) iter.Seq2[string, error]
	asked   atomic.Int32
	reading atomic.Int32
	mu      sync.Mutex
	letters func(run string) error // before signals are shown
}

func (j *telling) WatchSignals(ctx context.Context) iter.Seq2[string, error] {
	j.asked.Add(1)
	return j.watch(ctx)
}

func (j *telling) Signals(ctx context.Context, run string, after int64) iter.Seq2[pawl.Signal, error] {
	return func(yield func(pawl.Signal, error) bool) {
		j.reading.Add(1)
		defer j.reading.Add(-1)
		j.mu.Lock()
		f := j.letters
		j.mu.Unlock()
		if f != nil {
			if err := f(run); err != nil {
				yield(pawl.Signal{}, err)
				return
			}
		}
		j.tap.Signals(ctx, run, after)(yield)
	}
}

func (j *telling) before(f func(run string) error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.letters = f
}

// words yields what comes over a channel.
func words(c <-chan string) func(context.Context) iter.Seq2[string, error] {
	return func(ctx context.Context) iter.Seq2[string, error] {
		return func(yield func(string, error) bool) {
			for {
				select {
				case run := <-c:
					if !yield(run, nil) {
						return
					}
				case <-ctx.Done():
					return
				}
			}
		}
	}
}

// A run that ends while the engine looks for signals is no failure of the inbox.
func TestListenUntilTheEnd(t *testing.T) {
	bubble(t, func(t *testing.T) {
		var said bytes.Buffer
		j := &telling{tap: newTap()}
		j.watch = func(ctx context.Context) iter.Seq2[string, error] {
			j.before(func(string) error {
				j.before(nil)
				<-ctx.Done()
				return ctx.Err()
			})
			return func(yield func(string, error) bool) { yield("", nil) }
		}
		e := engine.New(j, &engine.Options{Log: slog.New(slog.NewTextHandler(&said, nil))})
		run := start(t, e, drowsy())
		time.Sleep(1500 * time.Millisecond)
		cancelled(t, j, run, func() {})
		must(t, e.Close())
		if j.asked.Load() != 1 || said.Len() > 0 {
			t.Errorf("it listened %d times, and says %s", j.asked.Load(), &said)
		}
	})
}

// drowsy is an agent whose tool runs until its run is cancelled.
func drowsy() pawl.Agent {
	return pawl.Agent{Name: "a", Model: says(calls("sleep", 1)), Tools: []pawl.Tool{dozing(time.Hour, pawl.Read)}, Limits: pawl.Limits{Time: 24 * time.Hour}}
}

// cancelled cancels a run from elsewhere and returns how long its owner took to
// heed it. say is called when the signal is posted.
func cancelled(t *testing.T, j *telling, run *engine.Handle, say func()) time.Duration {
	t.Helper()
	began := time.Now()
	must(t, engine.New(j.tap, nil).Cancel(t.Context(), run.ID(), "x", "enough"))
	say()
	ends(t, run, pawl.StatusCancelled)
	return time.Since(began)
}

// Who hears of a signal does not wait for the next look.
func TestListen(t *testing.T) {
	for _, word := range []string{"run", ""} {
		bubble(t, func(t *testing.T) {
			c := make(chan string)
			j := &telling{tap: newTap(), watch: words(c)}
			e := engine.New(j, nil)
			run := start(t, e, drowsy())
			time.Sleep(time.Second)
			c <- "another"
			if took := cancelled(t, j, run, func() { c <- word }); took != 0 {
				t.Errorf("told of %q it took %v", word, took)
			}
			synctest.Wait()
			select {
			case c <- "run":
				t.Error("it listens, and nothing runs")
			default:
			}
			if n := j.asked.Load(); n != 1 {
				t.Errorf("it began to listen %d times", n)
			}

			// The next run has it listen again.
			next, err := e.Start(t.Context(), drowsy(), "go", nil)
			must(t, err)
			time.Sleep(time.Second)
			if took := cancelled(t, j, next, func() { c <- next.ID() }); took != 0 {
				t.Errorf("the next run's took %v", took)
			}
			must(t, e.Close())
		})
	}
}

// A signal without a notification is found by polling: if the notifier is silent, if
// it only announced that it listens, and if it fails.
func TestListenFallsBack(t *testing.T) {
	broken := errors.New("the line is down")
	for name, c := range map[string]struct {
		most  time.Duration
		asked int32 // in ten seconds
		watch func(context.Context) iter.Seq2[string, error]
	}{
		"silent": {400 * time.Millisecond, 1, words(nil)},
		"announced": {time.Second, 1, func(ctx context.Context) iter.Seq2[string, error] {
			return func(yield func(string, error) bool) {
				if yield("", nil) {
					<-ctx.Done()
				}
			}
		}},
		"broken": {400 * time.Millisecond, 2, func(context.Context) iter.Seq2[string, error] {
			return func(yield func(string, error) bool) {
				for yield("", broken) { // who goes on after an error hears it again
				}
			}
		}},
		"brief": {400 * time.Millisecond, 2, func(context.Context) iter.Seq2[string, error] {
			return func(yield func(string, error) bool) { yield("", nil) }
		}},
	} {
		bubble(t, func(t *testing.T) {
			j := &telling{tap: newTap(), watch: c.watch}
			run := start(t, engine.New(j, nil), drowsy())
			time.Sleep(9910 * time.Millisecond)
			if took := cancelled(t, j, run, func() {}); took == 0 || took > c.most {
				t.Errorf("%s: it took %v", name, took)
			}
			if n := j.asked.Load(); n != c.asked {
				t.Errorf("%s: it began to listen %d times", name, n)
			}
		})
	}
}

// Nothing touches the journal when Close has returned, and a run that is over
// soon does not have the journal listened to.
func TestListenCloses(t *testing.T) {
	bubble(t, func(t *testing.T) {
		c := make(chan string)
		j := &telling{tap: newTap(), watch: words(c)}
		e := engine.New(j, nil)
		a := drowsy()
		a.Tools = []pawl.Tool{dozing(300*time.Millisecond, pawl.Read)}
		ends(t, start(t, e, a), pawl.StatusSuccess)
		if n := j.asked.Load(); n != 0 {
			t.Errorf("a short run was listened for %d times", n)
		}

		run, err := e.Start(t.Context(), drowsy(), "go", nil)
		must(t, err)
		time.Sleep(time.Second)
		var once sync.Once
		j.before(func(run string) error {
			if run != "" { // who looks at all mail holds a lock, on which no bubble's clock goes on
				slow := false
				if once.Do(func() { slow = true }); slow {
					time.Sleep(3 * time.Second)
				}
			}
			return nil
		})
		c <- run.ID()
		synctest.Wait()
		if n := j.reading.Load(); n != 1 {
			t.Errorf("%d read the mail", n)
		}
		must(t, e.Close())
		if n := j.reading.Load(); n != 0 {
			t.Errorf("closed, %d read the mail", n)
		}
		j.before(func(run string) error { t.Errorf("closed, the mail of %q is read", run); return nil })
	})
}

// Mail that could not be read when it was told of, or found, is read later.
func TestMailReadLater(t *testing.T) {
	for _, told := range []bool{true, false} {
		bubble(t, func(t *testing.T) {
			c := make(chan string)
			j := &telling{tap: newTap(), watch: words(c)}
			run := start(t, engine.New(j, nil), drowsy())
			time.Sleep(time.Second)
			failed := false
			j.before(func(run string) error {
				if run == "run" && !failed {
					failed = true
					return errors.New("not now")
				}
				return nil
			})
			took := cancelled(t, j, run, func() {
				if told {
					c <- "run"
				}
			})
			if !failed || took == 0 || took > 2*time.Second {
				t.Errorf("it took %v, and reading has failed: %v", took, failed)
			}
		})
	}
}
