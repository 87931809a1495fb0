package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"
	"time"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/engine"
	"github.com/pawl-run/pawl/explain"
	"github.com/pawl-run/pawl/runs"
	"github.com/pawl-run/pawl/spec"
	"github.com/pawl-run/pawl/workspace"
)

// inWorkspace makes the working copy of a spec with workspace: copy, and reads the spec again to work there.
func (a *app) inWorkspace(ctx context.Context, file string, s *spec.Spec, o *spec.Options) (*spec.Spec, *workspace.Tree, error) {
	t, err := a.copied(ctx, s.Project())
	if err != nil {
		return nil, nil, err
	}
	with := *o
	with.Workspace = workspaceOf(t)
	again, err := loadSpec(file, &with)
	if err != nil {
		return nil, nil, errors.Join(err, t.Close())
	}
	if !a.quiet {
		a.sayf("in a copy of %s", s.Project())
	}
	return again, t, nil
}

// copied makes a working copy of a directory, and removes old ones beside it.
func (a *app) copied(ctx context.Context, dir string) (*workspace.Tree, error) {
	if err := isProject(dir); err != nil {
		return nil, err
	}
	t, err := workspace.Copy(ctx, dir, &workspace.Options{Dir: a.fixState(dir), History: true})
	if err != nil {
		return nil, unlessStopped(ctx, err)
	}
	prune(&a.console, filepath.Dir(t.StateDir()), time.Now())
	return t, nil
}

// workspaceOf is a working copy as a spec has it.
func workspaceOf(t *workspace.Tree) *spec.Workspace {
	return &spec.Workspace{State: t.StateDir(), Project: t.Source(), Dir: t.Dir()}
}

// uncopied refuses to run the agent of a spec that is to work in a copy where nothing makes one and applies it.
func uncopied(s *spec.Spec) error {
	if !s.Copied || s.InCopy() {
		return nil
	}
	return misuse("agent %s has workspace: copy, and this command makes no copies; use pawl run, chat, serve or worker, or leave it out of the spec", s.Name)
}

// copiedAgain opens the working copy of an earlier process.
func (a *app) copiedAgain(s *pawl.State, made *spec.Spec) (*workspace.Tree, error) {
	w := spec.WorkspaceOf(s.Declaration().Source)
	switch {
	case w == nil && made.Copied:
		return nil, misuse("run %s does not work in a copy, and the spec has workspace: copy; leave it out, or start over", s.Run())
	case w == nil:
		return nil, nil //nolint:nilnil // there is none
	case !made.Copied:
		return nil, misuse("run %s works in a copy, and the spec does not have workspace: copy; add it, or start over", s.Run())
	}
	if err := recoverCopy(w.State); err != nil {
		return nil, err
	}
	t, err := workspace.Open(w.State)
	if err != nil {
		return nil, goneCopy(err, s.Run(), a.typed("pawl", "run", "SPEC", "INPUT"))
	}
	return t, nil
}

// copiedResult is the result of a run in a copy.
type copiedResult struct {
	explain.Result

	Workspace copiedFiles `json:"workspace"`
}

type copiedFiles struct {
	Applied bool     `json:"applied"` // to the project
	Files   []string `json:"files"`   // that differ, relative to the project
}

// concludeCopy concludes a run that may work in a copy: it applies what the run changed there to the project, if it
// succeeded, and prints the result. The copy stays as long as the run can be resumed.
func (a *app) concludeCopy(ctx context.Context, r pawl.Result) (int, error) {
	ctx = context.WithoutCancel(ctx) // apply the difference even if ctx ends now
	t, err := ownCopy(ctx, a.current(), r.Run)
	if err != nil {
		return 0, err
	}
	if t == nil {
		return a.conclude(ctx, r)
	}
	ending(ctx, a, &r)
	out := copiedResult{}
	if out.Workspace, err = a.applyCopy(ctx, r, t); err != nil {
		return 0, err
	}
	if !a.json {
		return exitCode(r.Status), printResult(ctx, a, r)
	}
	if out.Result, err = fullResult(ctx, a, r); err != nil {
		return 0, err
	}
	return exitCode(r.Status), printJSON(a.out, out)
}

// finishCopy applies what a run changed in its copy, as concludeCopy does. It does nothing for a run without a copy, or
// one that has not ended.
func (a *app) finishCopy(ctx context.Context, j pawl.Journal, run string) error {
	ctx = context.WithoutCancel(ctx) // as in concludeCopy
	s, err := engine.Load(ctx, j, run)
	if err != nil || !s.Status().Ended() {
		return err
	}
	t, err := ownCopy(ctx, j, run)
	if err == nil && t != nil {
		_, err = a.applyCopy(ctx, s.Result(), t)
	}
	return err
}

// ownCopy opens the working copy of a run; nil: it has none, or it was applied and removed.
func ownCopy(ctx context.Context, j pawl.Journal, run string) (*workspace.Tree, error) {
	if j == nil { // a second signal has closed it
		return nil, nil //nolint:nilnil // resuming the run applies the copy
	}
	s, err := engine.Load(ctx, j, run)
	if err != nil {
		return nil, err
	}
	w := spec.WorkspaceOf(s.Declaration().Source)
	if w == nil {
		return nil, nil //nolint:nilnil // it works in none
	}
	t, err := workspace.Open(w.State)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil //nolint:nilnil // it was applied and removed
	}
	return t, err
}

// works reports whether a run works in a copy, and claims it then. Under a key the run may be an earlier one.
func works(ctx context.Context, j pawl.Journal, run string, t *workspace.Tree) bool {
	s, err := engine.Load(ctx, j, run)
	if err != nil {
		return true // it may
	}
	w := spec.WorkspaceOf(s.Declaration().Source)
	if w == nil || filepath.Clean(w.State) != t.StateDir() {
		return false
	}
	claimCopy(w.State, run)
	return true
}

// applyCopy applies what a run changed in its copy to the project, if it succeeded: all of it, or nothing. It says so,
// and removes the copy.
func (a *app) applyCopy(ctx context.Context, r pawl.Result, t *workspace.Tree) (copiedFiles, error) {
	out := copiedFiles{Files: []string{}}
	d, err := t.Diff(ctx)
	if err != nil {
		return out, refused(err)
	}
	for _, c := range d.Changes {
		out.Files = append(out.Files, c.Path)
	}
	if r.Status == pawl.StatusSuccess && !d.Empty() {
		if err := t.Apply(d); err != nil {
			return out, a.unapplied(err, t.Dir(), r.Run)
		}
		out.Applied = true
	}
	if !a.quiet {
		sayCopied(a, r, out, d)
	}
	if r.Status == pawl.StatusSuccess {
		err = t.Close()
	}
	return out, err
}

// reportOf is the report of a run. It says so if the run succeeded in a copy and the project does not have the change,
// which the log cannot know.
func (a *app) reportOf(ctx context.Context, j store, h pawl.Head) (explain.Report, error) {
	r, err := a.explained(ctx, j, h)
	_, far := j.(*remote)
	if err != nil || far || r.Status != pawl.StatusSuccess || runs.IsChild(h) || len(r.Next) > 0 && strings.HasPrefix(r.Next[0].Command, "pawl explain ") {
		return r, err // what works in the copy of another run, or goes on in one, is applied with that run
	}
	s, err := engine.Load(ctx, j, h.Run)
	if err != nil {
		return r, err
	}
	state := stateOf(s.Declaration().Source)
	if state == "" {
		return r, nil
	}
	if t, err := workspace.Open(state); err == nil {
		r.Recommend(a.typed("pawl", "resume", r.Run), fmt.Sprintf("to apply its change to %s; it was not applied, and is in %s", t.Source(), t.Dir()))
	}
	return r, nil
}

func sayCopied(a *app, r pawl.Result, f copiedFiles, d workspace.Diff) {
	for _, l := range d.LeftOut {
		a.sayf("left in the copy: %s: %s", l.Path, l.Why)
	}
	switch {
	case f.Applied:
		a.sayf("applied to %s", strings.Join(f.Files, ", "))
	case r.Status == pawl.StatusSuccess || len(f.Files) == 0:
		a.sayf("nothing was changed")
	default:
		a.sayf("the project is unchanged; the copy differs in %s", strings.Join(f.Files, ", "))
	}
}
