package pawl_test

import (
	"bytes"
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/engine"
	"github.com/pawl-run/pawl/internal/testkit/check"
)

// TestHistories reads the golden logs. The transcripts that save them decide them again.
func TestHistories(t *testing.T) {
	missing := kinds(t)
	files, err := filepath.Glob("testdata/histories/*.jsonl")
	check.Must(t, err)
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".jsonl"), func(t *testing.T) {
			lines := history(t, file)
			first := must(pawl.DecodeEntry(bytes.Clone(lines[0])))
			_, j := keeping(t, first.Run, lines)
			s := must(engine.Load(t.Context(), j, first.Run))
			if want := ending(t, lines); s.Status().String() != want || s.Seq() != uint64(len(lines)) {
				t.Errorf("it folds to %v at entry %d, not to %s", s.Status(), s.Seq(), want)
			}
			delete(missing, "ends "+s.Status().String())
			for _, line := range lines { // what is read is written the same
				e := must(pawl.DecodeEntry(bytes.Clone(line)))
				if got := must(e.AppendJSON(nil)); !bytes.Equal(got, line) {
					t.Errorf("rewritten as\n%s\nnot\n%s", got, line)
				}
				delete(missing, e.Type())
			}
		})
	}
	for _, known := range slices.Sorted(maps.Keys(missing)) {
		t.Errorf("no history has %s", known)
	}
}

// kinds is what the histories are to have between them: each type of entry, and each ending.
func kinds(t *testing.T) map[string]bool {
	t.Helper()
	all := map[string]bool{}
	for _, line := range history(t, "testdata/events.golden.jsonl") {
		all[must(pawl.DecodeEntry(line)).Type()] = true
	}
	delete(all, "model.delta") // is in no log
	delete(all, "tool.progressed")
	for s := pawl.StatusSuccess; s <= pawl.StatusQueued; s++ {
		all["ends "+s.String()] = true
	}
	for _, seen := range []pawl.Status{pawl.StatusQueued, pawl.StatusExpired, pawl.StatusInterrupted} { // derived when a run is read; no log says so
		delete(all, "ends "+seen.String())
	}
	return all
}

// ending is what the last entry about it says that the run has come to.
func ending(t *testing.T, lines [][]byte) string {
	t.Helper()
	status := "running"
	for _, line := range lines {
		var e struct {
			Type string
			Data struct{ Status string }
		}
		check.Must(t, json.Unmarshal(line, &e))
		switch e.Type {
		case "run.paused", "run.stopped":
			status = e.Data.Status
		case "run.resumed", "run.forked":
			status = "running"
		}
	}
	return status
}

func history(t *testing.T, file string) (lines [][]byte) {
	data, err := os.ReadFile(file)
	check.Must(t, err)
	for line := range bytes.Lines(data) {
		lines = append(lines, bytes.TrimSpace(line))
	}
	return lines
}
