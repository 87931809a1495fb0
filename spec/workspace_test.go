package spec_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/engine"
	"github.com/pawl-run/pawl/journal/memory"
	"github.com/pawl-run/pawl/model/script"
	"github.com/pawl-run/pawl/spec"
	"github.com/pawl-run/pawl/workspace"
)

// mortal is a journal whose process dies before it writes an entry for the first time.
type mortal struct {
	*memory.Journal

	left int // how many batches may be written
}

var errDead = errors.New("the process is dead")

func (m *mortal) Append(ctx context.Context, b pawl.Batch) error {
	if m.left--; m.left < 0 {
		return errDead
	}
	return m.Journal.Append(ctx, b)
}

// A run in a copy is killed before each entry that it writes, and goes on from the log and the copy alone. The
// project is as it was until the difference is applied.
func TestWorkspaceKilled(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("agent.yaml", "name: agent\nmodel: script:model.yaml\nworkspace: copy\ntools: [{builtin: [write_file, edit_file]}]\n")
	write("model.yaml", "replies:\n  - calls: [{tool: write_file, args: {path: new, content: \"one\\n\"}}]\n  - calls: [{tool: edit_file, args: {path: old, old: before, new: after}}]\n  - text: done\n")
	write("old", "before\n")
	registry := &spec.Registry{Models: map[string]spec.Provider{"script": func(name string) (pawl.Model, error) { return script.Load(name) }}}
	file := filepath.Join(dir, "agent.yaml")
	for lives := 1; ; lives++ {
		s, err := spec.Load(file, &spec.Options{Registry: registry})
		if err != nil {
			t.Fatal(err)
		}
		if !s.Copied || s.InCopy() || s.Project() != dir {
			t.Fatalf("copied %v, in a copy %v, of %s", s.Copied, s.InCopy(), s.Project())
		}
		tree, err := workspace.Copy(t.Context(), s.Project(), &workspace.Options{Dir: t.TempDir()})
		if err != nil {
			t.Fatal(err)
		}
		if s, err = spec.Load(file, &spec.Options{Registry: registry, Workspace: &spec.Workspace{State: tree.StateDir(), Project: s.Project(), Dir: tree.Dir()}}); err != nil {
			t.Fatal(err)
		}
		agent, err := s.Agent(registry)
		if err != nil {
			t.Fatal(err)
		}
		journal := memory.New()
		run, err := engine.New(&mortal{journal, lives}, nil).Start(t.Context(), agent, "Go.", nil)
		if err != nil {
			t.Fatal(err)
		}
		result, err := run.Wait(t.Context())
		died := errors.Is(err, errDead)
		state, loading := engine.Load(t.Context(), journal, run.ID())
		if loading != nil {
			t.Fatal(loading)
		}
		source := state.Declaration().Source
		if died {
			if s, err = spec.ParseSource(source, &spec.Options{Registry: registry}); err != nil {
				t.Fatal(err)
			}
			if agent, err = s.Agent(registry); err != nil {
				t.Fatal(err)
			}
			if run, err = engine.New(journal, nil).Resume(t.Context(), agent, run.ID(), nil); err != nil {
				t.Fatal(err)
			}
			result, err = run.Wait(t.Context())
		}
		if err != nil || result.Status != pawl.StatusSuccess {
			t.Fatalf("killed at entry %d: %v, %v", lives+1, result.Status, err)
		}
		if _, err := os.Stat(filepath.Join(dir, "new")); err == nil {
			t.Fatalf("killed at entry %d: the project was changed by the run", lives+1)
		}
		if tree, err = workspace.Open(spec.WorkspaceOf(source).State); err != nil {
			t.Fatal(err)
		}
		d, err := tree.Diff(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if err := tree.Apply(d); err != nil {
			t.Fatal(err)
		}
		for name, want := range map[string]string{"new": "one\n", "old": "after\n"} {
			if got, err := os.ReadFile(filepath.Join(dir, name)); string(got) != want {
				t.Errorf("killed at entry %d: %s is %q, %v", lives+1, name, got, err)
			}
		}
		write("old", "before\n")
		if err := os.Remove(filepath.Join(dir, "new")); err != nil {
			t.Fatal(err)
		}
		if !died {
			if lives < 7 {
				t.Errorf("%d batches of entries, want more", lives)
			}
			break
		}
	}
}
