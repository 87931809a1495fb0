package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/engine"
	"github.com/pawl-run/pawl/explain"
	"github.com/pawl-run/pawl/fix/mechanic"
	"github.com/pawl-run/pawl/fix/refactor"
	"github.com/pawl-run/pawl/fix/repro"
	"github.com/pawl-run/pawl/fix/review"
	"github.com/pawl-run/pawl/fix/testfix"
	"github.com/pawl-run/pawl/runs"
	"github.com/pawl-run/pawl/workspace"
)

// inCopy is an agent that works in a copy of a project, by the source that its runs record.
type inCopy struct {
	dir, state string
	test, env  []string
	startOver  []string                                 // the command that does so
	success    string                                   // why a run succeeded, in place of its condition
	recorded   func(pawl.Model, pawl.Limits) pawl.Agent // the agent without its copy
	open       func(pawl.Model, pawl.Limits) (blueprint, error)
}

// copyOf reads the source of such an agent. is is false for any other; the error is about a source
// of this kind.
func copyOf(source string) (c inCopy, is bool, err error) {
	if s, is, err := testfix.ParseSource(source); is {
		return inCopy{
			s.Dir, s.State, s.Test, s.Env, []string{"pawl", "fix", s.Dir}, "every test passes",
			func(m pawl.Model, l pawl.Limits) pawl.Agent { return testfix.Recorded(s, m, l) },
			func(m pawl.Model, l pawl.Limits) (blueprint, error) { return testfix.Open(s, m, l) },
		}, true, err
	}
	if s, is, err := refactor.ParseSource(source); is {
		return inCopy{
			s.Dir, s.State, s.Test, s.Env, []string{"pawl", "refactor", s.Goal, s.Dir}, "every test passes, as before",
			func(m pawl.Model, l pawl.Limits) pawl.Agent { return refactor.Recorded(s, m, l) },
			func(m pawl.Model, l pawl.Limits) (blueprint, error) { return refactor.Open(s, m, l) },
		}, true, err
	}
	s, is, err := repro.ParseSource(source)
	return inCopy{
		s.Dir, s.State, s.Test, s.Env, []string{"pawl", "repro", "TEXT", s.Dir}, "a new test fails because of the bug",
		func(m pawl.Model, l pawl.Limits) pawl.Agent { return repro.Recorded(s, m, l) },
		func(m pawl.Model, l pawl.Limits) (blueprint, error) { return repro.Open(s, m, l) },
	}, is, err
}

// model finds a model for the agent.
func (c inCopy) model(a *app, name string) (pawl.Model, error) {
	if name == mechanic.Name && c.startOver[1] != "fix" {
		return nil, misuse("the mechanic repairs code and does nothing else; name another model with --model")
	}
	return a.model(name)
}

// completeLate completes a run that succeeded but was killed before its diff was applied to the project, or its
// findings were printed. found is false for any other run, and what is wrong with a source is reported when the run is
// resumed.
func completeLate(ctx context.Context, a *app, s *pawl.State) (code int, found bool, err error) {
	var w *work
	source := s.Declaration().Source
	if from, is, wrong := copyOf(source); is && wrong == nil {
		if _, err = workspace.Open(from.state); errors.Is(err, fs.ErrNotExist) {
			return 0, false, nil // the diff was applied; the copy is removed or being removed
		}
		if err == nil {
			w, err = reopenCopy(a, from, s, remake{})
		}
	} else if of, is, wrong := review.ParseSource(source); is && wrong == nil {
		w, err = reopenReview(a, of, s, remake{declared: true})
	} else {
		return 0, false, nil
	}
	if err != nil {
		return 0, true, err
	}
	code, err = w.conclude(ctx, s.Result())
	return code, true, err
}

// unapplied says of a change that conflicts with the project where it is, and what applies it later.
func (a *app) unapplied(err error, dir, run string) error {
	if conflict := (*workspace.ConflictError)(nil); errors.As(err, &conflict) {
		return refused(fmt.Errorf("%w; the copy is %s; then complete it with: %s", err, dir, a.typed("pawl", "resume", run)))
	}
	return err
}

// goneCopy says why a working copy could not be opened, and which command starts over.
func goneCopy(err error, run, command string) error {
	if errors.Is(err, fs.ErrNotExist) {
		return misuse("run %s cannot resume: its working copy is gone; start over with: %s", run, command)
	}
	return refused(err)
}

// reportOf is the report of a run. It says so if the run succeeded in a copy and the project does not have the change,
// which the log cannot know.
func (a *app) reportOf(ctx context.Context, j pawl.Journal, h pawl.Head) (explain.Report, error) {
	r, err := a.explained(ctx, j, h)
	if err != nil || a.far != nil || r.Status != pawl.StatusSuccess || runs.IsChild(h) || len(r.Next) > 0 && strings.HasPrefix(r.Next[0].Command, "pawl explain ") {
		return r, err // what works in the copy of another run, or goes on in one, is applied with that run
	}
	s, err := engine.Load(ctx, j, h.Run)
	if err != nil {
		return r, err
	}
	from, is, err := copyOf(s.Declaration().Source)
	if err != nil || !is {
		return r, nil //nolint:nilerr // it is reported when the run is resumed
	}
	if _, err := os.Stat(from.state); err == nil {
		r.Recommend(a.typed("pawl", "resume", r.Run), fmt.Sprintf("to apply its change to %s; it was not applied, and is in %s", from.dir, from.state))
	}
	return r, nil
}
