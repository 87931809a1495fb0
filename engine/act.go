package engine

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/internal/excerpt"
)

// act settles a batch: everything but the runs is appended first, then the
// runs start, group by group. Each call's intent is durable before it runs, and
// a finished call is durable while its siblings still run.
func (s *session) act(ctx context.Context, at uint64, a pawl.Act) error {
	it := s.state.Iteration()
	for _, d := range a.Calls {
		if d.Do != pawl.RunCall {
			s.append(at, it, d.Facts()...)
		}
	}
	for _, group := range s.m.Groups(a) {
		if cancel, park := s.called(ctx); cancel || park {
			return nil
		}
		if err := s.runGroup(ctx, at, group); err != nil {
			return err
		}
	}
	return nil
}

// job is a call on its way.
type job struct {
	d         *pawl.Disposed
	tool      pawl.Tool
	inv       pawl.Invocation
	began     time.Time
	deadline  time.Time
	outOfTime bool // the deadline is the run's, not the tool's
	ctx       context.Context
	cancel    context.CancelCauseFunc
	cut       error // why it was told to stop
	over      bool
}

type outcome struct {
	job *job
	out pawl.Output
	err error
}

var (
	errTimeout   = fmt.Errorf("the time is over: %w", context.DeadlineExceeded)
	errCancelled = fmt.Errorf("the run is being cancelled: %w", context.Canceled)
	errParked    = fmt.Errorf("the run is being parked: %w", context.Canceled)
)

func (s *session) runGroup(ctx context.Context, at uint64, group []pawl.Disposed) error {
	it := s.state.Iteration()
	jobs := make([]job, len(group))
	for i := range group {
		d := &group[i]
		tool, _, _ := s.m.Tool(d.Call.Tool)
		before, _ := s.state.Call(d.Call.ID)
		j := &jobs[i]
		j.d, j.tool = d, tool
		j.inv = pawl.Invocation{Run: s.lease.Run, Call: d.Call.ID, Tool: d.Call.Tool, Args: d.Call.Args, Key: d.Key, Attempt: before.Attempt + 1}
		s.append(at, it, pawl.ToolStarted{Call: d.Call.ID, Tool: d.Call.Tool, Args: d.Call.Args, Effect: d.Info.Effect, Key: d.Key, Attempt: j.inv.Attempt})
	}
	if err := s.flush(ctx); err != nil {
		return err
	}
	left := s.left()
	now := time.Now()
	for i := range jobs {
		j := &jobs[i]
		j.began = now
		limit := j.d.Info.Timeout
		if left < limit {
			limit, j.outOfTime = left, true
		}
		j.deadline = now.Add(limit)
	}
	if len(jobs) == 1 {
		return s.runOne(ctx, at, &jobs[0])
	}
	done := make(chan outcome, len(jobs))
	base := context.WithoutCancel(ctx)
	for i := range jobs {
		jobs[i].ctx, jobs[i].cancel = context.WithCancelCause(base)
		go func(j *job) { done <- j.run(j.ctx) }(&jobs[i])
	}
	return s.gather(ctx, at, jobs, done)
}

// runOne runs a call that has no siblings.
func (s *session) runOne(ctx context.Context, at uint64, j *job) error {
	it := s.state.Iteration()
	var o outcome
	cut, err := s.fly(ctx, func(ctx context.Context) { o = j.run(ctx) }, &flight{
		late: errTimeout, grace: grace(j.tool), sheltered: j.d.Info.Effect == pawl.Write,
		instead: func(cut error) error {
			left := *j
			left.cut = cut
			s.append(at, it, s.finished(outcome{job: &left, err: cut}, true)...)
			return nil
		},
	}, time.Until(j.deadline))
	if err != nil {
		return err
	}
	j.cut = cut
	s.append(at, it, s.finished(o, false)...)
	return nil
}

// run performs the call.
func (j *job) run(ctx context.Context) (o outcome) {
	o.job = j
	defer func() {
		if p := recover(); p != nil {
			o.out, o.err = pawl.Output{}, fmt.Errorf("the tool panicked: %v", p)
		}
	}()
	o.out, o.err = j.tool.Run(ctx, j.inv)
	return o
}

// gather waits for the jobs of a group.
func (s *session) gather(ctx context.Context, at uint64, jobs []job, done <-chan outcome) error {
	it := s.state.Iteration()
	stop := func(j *job, why error) {
		if j.over || j.cut != nil {
			return
		}
		j.cut = why
		j.deadline = time.Now().Add(grace(j.tool))
		j.cancel(why)
	}
	ended := ctx.Done()
	for left := len(jobs); left > 0; {
		select {
		case o := <-done:
			if o.job.over {
				continue // it was abandoned, and has come back after all
			}
			o.job.over = true
			o.job.cancel(nil)
			left--
			s.append(at, it, s.finished(o, false)...)
			if left > 0 {
				if err := s.flush(ctx); err != nil {
					s.abandon(jobs)
					return err
				}
			}
		case <-s.alarm(nextDeadline(jobs)):
			now := time.Now()
			for i := range jobs {
				j := &jobs[i]
				switch {
				case j.over || j.deadline.After(now):
				case j.cut == nil:
					stop(j, errTimeout)
				default:
					j.over = true
					left--
					s.append(at, it, s.finished(outcome{job: j, err: j.cut}, true)...)
				}
			}
		case <-ended:
			ended = nil
			s.hold(jobs, stop)
		case <-s.wake:
			cancel, park := s.called(ctx)
			switch {
			case cancel:
				for i := range jobs {
					stop(&jobs[i], errCancelled)
				}
			case park:
				s.hold(jobs, stop)
			}
		}
	}
	return nil
}

// hold parks a group: a Write is let finish, since cutting it short would leave
// a doubt; what may be driven again is stopped.
func (s *session) hold(jobs []job, stop func(*job, error)) {
	for i := range jobs {
		if jobs[i].d.Info.Effect != pawl.Write {
			stop(&jobs[i], errParked)
		}
	}
}

func (s *session) abandon(jobs []job) {
	for i := range jobs {
		jobs[i].cancel(errCancelled)
	}
}

// grace is how long a tool may take to notice that its call is over. A tool
// that needs longer, as a command does between TERM and KILL, says so.
func grace(t pawl.Tool) time.Duration {
	if g, ok := t.(interface{ Grace() time.Duration }); ok {
		return g.Grace()
	}
	return time.Second
}

func nextDeadline(jobs []job) time.Duration {
	var next time.Time
	for i := range jobs {
		if j := &jobs[i]; !j.over && (next.IsZero() || j.deadline.Before(next)) {
			next = j.deadline
		}
	}
	return time.Until(next)
}

// finished turns an outcome into what the log says of it. A call that was cut
// short for parking and may be driven again leaves no trace: resuming finds it
// lost.
func (s *session) finished(o outcome, abandoned bool) []pawl.Event {
	j := o.job
	e := pawl.ToolFinished{Call: j.d.Call.ID, Tool: j.d.Call.Tool, Duration: time.Since(j.began), Abandoned: abandoned}
	write := j.d.Info.Effect == pawl.Write
	switch {
	case o.err == nil:
		e.Status = pawl.ToolOK
		s.result(&e, j.d.Info, o.out)
	case j.cut == nil:
		e.Status, e.Error = pawl.ToolFailed, s.told(o.err.Error(), j.d.Info)
		if errors.Is(o.err, context.DeadlineExceeded) {
			e.Status = pawl.ToolTimeout
		}
	case errors.Is(j.cut, context.DeadlineExceeded):
		e.Status, e.Error = pawl.ToolTimeout, fmt.Sprintf("no result within %v", j.d.Info.Timeout)
		if j.outOfTime {
			e.Error = "no result before the run's time was over"
		}
		if abandoned {
			e.Error += "; it did not stop when told to and was left behind"
		}
	case j.cut == errParked:
		return nil
	case write:
		return []pawl.Event{pawl.ToolDoubted{Call: e.Call, Tool: e.Tool, Why: "it was cut short by cancelling the run; whether it took place is unknown"}}
	default:
		e.Status, e.Error = pawl.ToolCancelled, "the run was cancelled"
	}
	return []pawl.Event{e}
}

// result takes a tool's output in: valid, filtered, and within its cap. What
// is beyond the cap goes to the journal's blobs, where it has any.
func (s *session) result(e *pawl.ToolFinished, info *pawl.ToolInfo, out pawl.Output) {
	e.Images, e.Truncated = out.Images, out.Truncated
	raw := out.JSON
	switch {
	case raw == nil:
		raw = json.RawMessage("null")
	case !json.Valid(raw) || !utf8.Valid(raw):
		raw = quote(strings.ToValidUTF8(string(raw), "\uFFFD"))
	}
	raw = s.filterJSON(raw)
	if len(raw) > info.MaxOutput+64 && !out.Truncated { // the slack spares what a tool cut to size itself
		text := string(raw)
		var inner string
		if json.Unmarshal(raw, &inner) == nil {
			text = inner
		}
		short, cut := excerpt.Cut(text, info.MaxOutput)
		if cut {
			e.Truncated = true
			e.Blob = s.keep([]byte(text))
		}
		raw = quote(short)
	}
	e.Result = raw
}

// keep stores bytes apart from the log and returns their digest; empty when
// they could not be kept.
func (s *session) keep(data []byte) string {
	if s.engine.blobs == nil {
		return ""
	}
	sum := sha256.Sum256(data)
	digest := hex.EncodeToString(sum[:])
	if s.engine.blobs.PutBlob(context.Background(), digest, data) != nil {
		return "" // the excerpt stands; a missing whole is no reason to lose it
	}
	return digest
}

// told is an error's text for the model, within the tool's cap.
func (s *session) told(text string, info *pawl.ToolInfo) string {
	short, _ := excerpt.Cut(strings.ToValidUTF8(s.filter(text), "\uFFFD"), info.MaxOutput)
	return short
}

func quote(text string) json.RawMessage {
	raw, err := json.Marshal(text)
	if err != nil {
		return json.RawMessage(`""`) // a Go string always marshals
	}
	return raw
}
