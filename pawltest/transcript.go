package pawltest

import (
	"context"
	"errors"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/engine"
	"github.com/pawl-run/pawl/journal/memory"
	"github.com/pawl-run/pawl/model/script"
)

func init() {
	if flag.Lookup("rewrite") == nil { // package datadriven has the flag, too
		flag.Bool("rewrite", false, "write the files of transcripts")
	}
}

// Transcript runs an agent of your own on an input, with a journal in memory, and compares
// the log with a file that has an entry on each line, as [Line] writes it. With the flag
// -rewrite it writes the file instead: read the difference before you commit it. It
// returns the result of the run. Parallel calls finish in any order: set [pawl.Agent.Serial]
// if the agent makes some. o are the options of the engine, as for [KillEverywhere].
func Transcript(t testing.TB, file string, agent pawl.Agent, input string, o *engine.Options) pawl.Result {
	t.Helper()
	ctx, j := context.Background(), memory.New()
	o = atOnce(o)
	result, err := drive(ctx, engine.New(journalFor(j, o), o), agent, input, o, 0)
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	for _, e := range entriesOf(t, j, killedRun) {
		if c, ok := e.Event.(pawl.ChildStarted); ok {
			c.Limits.Time = 0 // what was left differs from run to run
			e.Event = c
		}
		b.WriteString(Line(e) + "\n")
	}
	if flag.Lookup("rewrite").Value.String() == "true" {
		if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o755), os.WriteFile(file, []byte(b.String()), 0o644)); err != nil {
			t.Fatal(err)
		}
		return result
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatalf("%v (the flag -rewrite writes it)", err)
	}
	if diff := cmp.Diff(strings.SplitAfter(string(want), "\n"), strings.SplitAfter(b.String(), "\n")); diff != "" {
		t.Errorf("%s: the run went differently (-file +run; the flag -rewrite accepts it):\n%s", file, diff)
	}
	return result
}

// Script returns the model that answers from a script, such as one that pawl record has
// written. If the script is strict and the test does not ask for all its replies, the test
// fails.
func Script(t testing.TB, file string) pawl.Model {
	t.Helper()
	m, err := script.Load(file)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if places := m.Unasked(); len(places) > 0 {
			t.Errorf("%s: no request was made for %s", file, strings.Join(places, ", "))
		}
	})
	return m
}
