package testfix_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/blueprint/mechanic"
	"github.com/pawl-run/pawl/blueprint/testfix"
	"github.com/pawl-run/pawl/engine"
	"github.com/pawl-run/pawl/journal/memory"
)

func TestRepairExample(t *testing.T) {
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS(filepath.Join("..", "..", "examples", "broken"))); err != nil {
		t.Fatal(err)
	}
	repair(t, dir, nil)
}

func repair(t *testing.T, dir string, o *testfix.Options) {
	began := time.Now()
	f, err := testfix.New(t.Context(), dir, mechanic.New(), o)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	j := memory.New()
	e := engine.New(j, nil)
	run, err := e.Start(t.Context(), f.Agent(), f.Input(), nil)
	if err != nil {
		t.Fatal(err)
	}
	for en, err := range run.Entries(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		switch ev := en.Event.(type) {
		case pawl.ModelReplied:
			t.Log(ev.Reply.Text())
		case pawl.Observed:
			t.Log(ev.Text)
		case pawl.ToolFinished:
			if ev.Status != pawl.ToolOK || ev.Tool == "edit_file" {
				t.Log(ev.Tool, ev.Status, ev.Error, string(ev.Result))
			}
		case pawl.ToolRefused:
			t.Log(ev.Tool, ev.Why)
		}
	}
	res, err := run.Wait(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	d, err := f.Outcome(t.Context(), res.Status)
	if err != nil {
		t.Fatal(err)
	}
	t.Log(time.Since(began), res.Status, res.Verdict, res.Iterations, res.Usage)
	t.Log("\n" + d.String())
}
