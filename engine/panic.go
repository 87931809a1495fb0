package engine

import (
	"fmt"
	"log/slog"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/internal/blame"
	"github.com/pawl-run/pawl/internal/redact"
)

// guard drives a run. If code of the agent panics (a loop, a condition, a policy, a
// metric, a filter), the run ends as failed and names that code. The other runs of
// the process go on.
func (s *session) guard(drive func() error) (err error) {
	back, me := false, s.driver()
	defer func() {
		switch p := recover(); {
		case p != nil:
			err = s.panicked(blame.Of(p))
		case !back && s.driver() == me: // the code has ended this goroutine, and no other drives the run
			p := blame.Of(errExited)
			go func() { s.finish(s.panicked(p)) }()
		}
	}()
	err = drive()
	back = true
	return err
}

// driver counts the goroutines that have taken the run over from another.
func (s *session) driver() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.drivers
}

// panicked ends the run because of a panic. The error is that the run cannot be ended:
// it is not ours, or its log does not stand where its state does.
func (s *session) panicked(p *blame.Panic) error {
	clean := func(text string) string { return redact.Text(s.engine.secrets.Scrub(text)) }
	s.log(slog.LevelError, "code of the run panicked", slog.String("panic", clean(p.Error())),
		slog.String("value", clean(fmt.Sprint(p.Value))), slog.String("stack", clean(string(p.Stack))))
	ended := false
	err := s.caught(func() error {
		if ended = s.writable(); !ended {
			return nil
		}
		s.endChildren()
		s.append(s.state.Seq(), s.state.Iteration(), pawl.RunStopped{
			Status: pawl.Failed, Condition: pawl.PanicLeaf, Leaf: pawl.PanicLeaf, Detail: s.panicDetail(p),
		})
		return s.leave()
	})
	if err != nil || ended {
		return err
	}
	s.release()
	return s.panicError(p)
}

// writable reports whether an entry can be added to the log: the run is ours and
// goes on, and its state is that of the log and of what was appended.
func (s *session) writable() bool {
	s.holding.Lock()
	released := s.released
	s.holding.Unlock()
	return !released && s.failed == nil && s.state.Seq() > 0 && s.state.Seq() == s.after+uint64(len(s.pending)) && !s.state.Status().Ended()
}

// panicDetail is what the log says of a panic. What a filter that panics would have
// taken out must not stand there, so the value is left out then.
func (s *session) panicDetail(p *blame.Panic) (detail string) {
	defer func() {
		if recover() != nil {
			silent := *p
			silent.Value = "(its message is left out, because a filter panicked)"
			detail = silent.Error()
		}
	}()
	return s.filter(p.Error())
}

// caught calls do and makes an error of a panic. The run is then given up.
func (s *session) caught(do func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			s.release()
			err = s.panicError(blame.Of(p))
		}
	}()
	return do()
}

func (s *session) panicError(p *blame.Panic) error {
	return fmt.Errorf("run %s: %w\n%s", s.lease.Run, p, p.Stack)
}
