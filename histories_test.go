package pawl_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"iter"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/engine"
	"github.com/pawl-run/pawl/journal/memory"
	"github.com/pawl-run/pawl/progress"
	"github.com/pawl-run/pawl/stop"
)

// TestHistories decides again what earlier builds wrote. The logs are never
// rewritten: one that no longer replays means that runs which are out there
// cannot be resumed, and calls for a new machine number.
func TestHistories(t *testing.T) {
	files, err := filepath.Glob("testdata/histories/*/*.jsonl")
	if err != nil || len(files) < 4 {
		t.Fatalf("%d histories (%v)", len(files), err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".jsonl"), func(t *testing.T) {
			lines := history(t, file)
			j := volatile{memory.New()}
			first := must(pawl.DecodeEntry(bytes.Clone(lines[0])))
			must(j.Claim(t.Context(), pawl.Claim{Run: first.Run, Owner: "history", TTL: 1, New: true}))
			if err := j.Append(t.Context(), pawl.Batch{Run: first.Run, Epoch: 1, Records: lines}); err != nil {
				t.Fatal(err)
			}
			d := first.Event.(pawl.RunStarted).Declaration
			agent := again(t, d)
			steps, err := engine.New(j, nil).Replay(t.Context(), agent, first.Run)
			if err != nil || steps == 0 {
				t.Fatalf("%d steps agree: %v", steps, err)
			}
			s := must(engine.Load(t.Context(), j, first.Run))
			if s.Status() != pawl.Success || s.Seq() != uint64(len(lines)) {
				t.Errorf("it folds to %v at entry %d", s.Status(), s.Seq())
			}
			for _, line := range lines { // what is read is written the same
				if got := must(must(pawl.DecodeEntry(bytes.Clone(line))).AppendJSON(nil)); !bytes.Equal(got, line) {
					t.Errorf("rewritten as\n%s\nnot\n%s", got, line)
				}
			}
		})
	}
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

// again makes an agent of what a log says of the one it was written by. It can
// decide, which is pure, but not act.
func again(t *testing.T, d pawl.Declaration) pawl.Agent {
	a := pawl.Agent{
		Name: d.Agent, Description: d.Description, Prompt: d.Prompt, Strategy: d.Strategy, Limits: d.Limits,
		Output: d.Output, Sampling: d.Sampling, Serial: d.Serial, Model: recalled{d.Model},
	}
	if d.Loop == "single" {
		a.Loop = pawl.SingleCall{}
	}
	if d.Observes {
		a.Observer = pawl.ObserverFunc(func(context.Context) (pawl.Observation, error) { return pawl.Observation{}, errors.New("long gone") })
	}
	if d.Stop != "" {
		a.Stop = must(stop.Parse(d.Stop, nil))
	}
	if d.Goal != "" {
		a.Goal = &pawl.Goal{Metric: &realm{}, Success: must(stop.Parse(d.Goal, nil))}
	}
	for _, info := range d.Tools {
		if strings.HasPrefix(info.Name, "__") {
			a.Builtins = d.Strategy != pawl.JSON
			continue
		}
		a.Tools = append(a.Tools, deed{nil, info})
	}
	for _, source := range d.Policies {
		if m := regexp.MustCompile(`^refuse\((\w+)\)$`).FindStringSubmatch(source); m != nil {
			a.Policies = append(a.Policies, refuses(m[1]))
			continue
		}
		m := regexp.MustCompile(`^no_progress\((\d+), (fail|escalate|hint)(?:, (".*"))?\)$`).FindStringSubmatch(source)
		if m == nil {
			t.Fatalf("policy %q", source)
		}
		var hint string
		if m[3] != "" {
			hint = must(strconv.Unquote(m[3]))
		}
		then := map[string]progress.Then{"fail": progress.Fail, "escalate": progress.Escalate, "hint": progress.Hint}[m[2]]
		a.Policies = append(a.Policies, progress.NoProgress(must(strconv.Atoi(m[1])), then, hint))
	}
	return a
}

type recalled struct{ info pawl.ModelInfo }

func (r recalled) Describe() pawl.ModelInfo { return r.info }
func (r recalled) Stream(context.Context, pawl.Request) iter.Seq2[pawl.Chunk, error] {
	return func(func(pawl.Chunk, error) bool) {}
}

// refuses is the policy of that name that the transcripts use.
type refuses string

func (r refuses) String() string { return "refuse(" + string(r) + ")" }

func (r refuses) Review(_ pawl.State, step pawl.Step) pawl.Step {
	if act, ok := step.(pawl.Act); ok {
		for i := range act.Calls {
			if d := &act.Calls[i]; d.Call.Tool == string(r) && d.Do < pawl.Refuse {
				d.Do, d.Why = pawl.Refuse, "the policy "+r.String()+" says so"
			}
		}
	}
	return step
}

// TestReplayNotices: a log that was tampered with does not replay.
func TestReplayNotices(t *testing.T) {
	lines := history(t, "testdata/histories/v0/kill_doubt.jsonl")
	start := must(pawl.DecodeEntry(bytes.Clone(lines[0]))).Event.(pawl.RunStarted)
	m := must(pawl.NewMachine(again(t, start.Declaration)))
	replay := func(change func(i int, doc map[string]any)) error {
		_, err := m.Replay(func(yield func(pawl.Entry, error) bool) {
			for i, line := range lines {
				var doc map[string]any
				if err := json.Unmarshal(line, &doc); err != nil {
					t.Fatal(err)
				}
				if change != nil {
					change(i, doc)
				}
				if !yield(pawl.DecodeEntry(must(json.Marshal(doc)))) {
					return
				}
			}
		}, func(source string) (pawl.Condition, error) { return stop.Parse(source, nil) })
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
		if _, err := m.Replay(func(yield func(pawl.Entry, error) bool) {
			for _, line := range without {
				if !yield(pawl.DecodeEntry(bytes.Clone(line))) {
					return
				}
			}
		}, nil); err == nil && i < len(lines)-1 {
			t.Errorf("entry %d may be left out", i+1)
		}
	}
}
