package explain_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/explain"
)

// What is said of a run that came from elsewhere, and not whole, is what can be
// done with it: it cannot be resumed.
func TestImported(t *testing.T) {
	var log []pawl.Entry
	inLab(t, func(l *lab) []pawl.Entry {
		a := seeker(l)
		a.Limits.Iterations = 2
		log = l.run(a, "Find them all.")
		return log
	})
	broken := func(keep int, redacted, torn bool) explain.Report {
		t.Helper()
		s := new(pawl.State)
		kept := log[:keep:keep]
		for _, e := range kept {
			s.Fold(e)
		}
		note := kept[keep-1]
		note.Seq, note.At, note.Event = note.Seq+1, note.Seq, s.Internals().Import("ann", redacted, torn)
		r, err := explain.Of(sequence(append(kept, note)), &explain.Options{Status: pawl.StatusInterrupted})
		must(t, err)
		return r
	}
	r := broken(len(log), true, false)
	if r.Resumable || strings.HasPrefix(r.Action, "resume") || len(r.Next) != 1 || r.Next[0].Command != "pawl export 01RUN --raw" {
		t.Errorf("redacted: %v %q %v", r.Resumable, r.Action, r.Next)
	}
	at := 0 // a model call is in flight there, and was not before
	for i, e := range log {
		if _, ok := e.Event.(pawl.ModelCalled); ok {
			at = i
		}
	}
	r = broken(at+1, false, true)
	want := fmt.Sprintf("pawl fork 01RUN --at %d", at)
	if r.Resumable || strings.HasPrefix(r.Action, "resume") || len(r.Next) != 1 || r.Next[0].Command != want {
		t.Errorf("torn: %v %q %v, want %s", r.Resumable, r.Action, r.Next, want)
	}
}

// TestHistories explains the golden logs.
func TestHistories(t *testing.T) {
	files, err := filepath.Glob("../testdata/histories/*.jsonl")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	for _, file := range files {
		data, err := os.ReadFile(file)
		must(t, err)
		var log []pawl.Entry
		for line := range bytes.Lines(data) {
			e, err := pawl.DecodeEntry(bytes.TrimSpace(line))
			if err != nil {
				t.Fatal(file, err)
			}
			log = append(log, e)
		}
		if r, err := explain.Of(sequence(log), nil); err != nil || r.Status == 0 || len(r.Decisions) == 0 {
			t.Errorf("%s: %v, %v, %d decisions", file, err, r.Status, len(r.Decisions))
		}
	}
}
