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
)

// TestHistories decides the golden logs again, which transcripts have saved.
func TestHistories(t *testing.T) {
	missing := kinds(t)
	files, err := filepath.Glob("testdata/histories/*.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".jsonl"), func(t *testing.T) {
			lines := history(t, file)
			first := must(pawl.DecodeEntry(bytes.Clone(lines[0])))
			e, j := keeping(t, first.Run, lines)
			d := first.Event.(pawl.RunStarted).Declaration
			agent := again(t, d)
			steps, err := e.Replay(t.Context(), agent, first.Run)
			if err != nil || steps == 0 {
				t.Fatalf("%d steps agree: %v", steps, err)
			}
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
		if err := json.Unmarshal(line, &e); err != nil {
			t.Fatal(err)
		}
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
	if err != nil {
		t.Fatal(err)
	}
	for line := range bytes.Lines(data) {
		lines = append(lines, bytes.TrimSpace(line))
	}
	return lines
}

// TestReplayNotices: a log that was tampered with does not replay.
func TestReplayNotices(t *testing.T) {
	lines := history(t, "testdata/histories/kill_doubt.jsonl")
	first := must(pawl.DecodeEntry(bytes.Clone(lines[0])))
	agent := again(t, first.Event.(pawl.RunStarted).Declaration)
	replay := func(change func(i int, doc map[string]any)) error {
		var changed [][]byte
		for i, line := range lines {
			var doc map[string]any
			if err := json.Unmarshal(line, &doc); err != nil {
				t.Fatal(err)
			}
			if change != nil {
				change(i, doc)
			}
			changed = append(changed, must(json.Marshal(doc)))
		}
		e, _ := keeping(t, first.Run, changed)
		_, err := e.Replay(t.Context(), agent, first.Run)
		return err
	}
	if err := replay(nil); err != nil {
		t.Fatalf("untouched: %v", err)
	}
	found := map[string]int{}
	for i, line := range lines {
		var doc struct {
			Type string
			Data map[string]any
		}
		if err := json.Unmarshal(line, &doc); err != nil {
			t.Fatal(err)
		}
		tamper := func(field string, value any) {
			err := replay(func(k int, d map[string]any) {
				if k == i {
					d["data"].(map[string]any)[field] = value
				}
			})
			if err == nil {
				t.Errorf("entry %d, %s: a changed %s goes unnoticed", i+1, doc.Type, field)
			}
			found[doc.Type]++
		}
		switch doc.Type {
		case "model.called":
			tamper("max_tokens", 1)
			tamper("purpose", "judge")
		case "tool.started":
			tamper("key", "another")
			other := map[any]string{"read": "write", "write": "read", "idempotent": "write"}
			tamper("effect", other[doc.Data["effect"]])
			tamper("call", "c_7")
		case "tool.doubted":
			tamper("why", "it surely took place")
		case "run.stopped":
			tamper("status", "exhausted")
			tamper("leaf", "other")
		case "run.paused":
			tamper("status", "waiting_input")
		}
	}
	if len(found) < 5 {
		t.Errorf("only %v were tampered with", found)
	}
	for i := 1; i < len(lines); i++ { // an entry less
		without := append(append([][]byte(nil), lines[:i]...), lines[i+1:]...)
		e, _ := keeping(t, first.Run, without)
		if _, err := e.Replay(t.Context(), agent, first.Run); err == nil && i < len(lines)-1 {
			t.Errorf("entry %d may be left out", i+1)
		}
	}
}
