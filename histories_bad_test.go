package pawl_test

import (
	"bytes"
	"errors"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/engine"
	"github.com/pawl-run/pawl/journal/memory"
)

// refused is what is said of the bad histories, each of which is the sound one
// with one thing wrong. What is no log cannot be read, resumed, forked or
// replayed. What is a log, but none that this build would have written, is
// told so by replaying; those begin with decided.
var refused = map[string]string{
	"unknown_type":             `entry 9: entry: field "data.type": event type "tool.teleported" is unknown to this build (machine 5)`,
	"newer_machine":            "run run-1 was written by a newer build (machine 999; this is 5)",
	"seq_gap":                  "entry 6: the journal has entry 7",
	"seq_twice":                "entry 7: the journal has entry 6",
	"seq_swapped":              "entry 6: the journal has entry 7",
	"seq_missing":              "entry 6: the journal has entry 0",
	"other_run":                "entry 9: the journal has entry 9 of run run-2 in its place",
	"whole_other_run":          "entry 1: the journal has entry 1 of run run-2 in its place",
	"decided_later":            "entry 9 was decided on entry 12, which comes after it",
	"decided_on_itself":        "entry 9 was decided on entry 9, which comes after it",
	"started_twice":            "entry 8 is run.started; run.started comes first and only first",
	"start_missing":            "entry 1: the journal has entry 2",
	"start_missing_renumbered": "entry 1 is model.called; run.started comes first and only first",
	"torn_json":                "entry 18: entry: unexpected end of JSON at offset 90",
	"torn_in_the_middle":       "entry 9: entry: unexpected end of JSON at offset 120",
	"zeroes":                   "entry 18: entry: want a JSON value at offset 0",
	"no_object":                "entry 18: entry: want an object, found a string",
	"seq_is_text":              `entry 6: entry: field "seq": want a number, found a string`,
	"seq_is_negative":          `entry 6: entry: field "seq": want an integer in range, found -6`,
	"seq_too_big":              `entry 6: entry: field "seq": want an integer in range, found 18446744073709551616`,
	"time_is_no_time":          `entry 6: entry: field "time": want a time such as`,
	"data_is_a_list":           `entry 6: entry: field "data": want an object, found an array`,
	"data_missing":             "entry 6: entry 6 of run run-1 has no data",
	"unknown_status":           `entry 6: entry: field "data.status": tool status "great" is not one of ok, error`,
	"unknown_effect":           `entry 5: entry: field "data.effect": effect "harmless" is not one of read, idempotent, write`,
	"calls_are_text":           `entry 3: entry: field "data.calls[0]": want an object, found a string`,
	"happened_is_text":         `entry 15: entry: field "data.happened": want a boolean, found a string`,

	"decided_other_key":        "entry 8: call c_2 was started with another key or effect",
	"decided_other_effect":     "entry 10: call c_3 was started with another key or effect",
	"decided_other_args":       `entry 10: call c_3 was started as pay{"eur":5000}, not as pay{"eur":5}`,
	"decided_call_nobody_made": "entry 10: call c_9 would not run now",
	"decided_no_doubt":         "entry 12, decided on entry 11: the log has tool.started, this build decides pawl.Record",
	"decided_end_too_early":    "entry 7: the log has run.stopped, this build acts on calls",
	"decided_other_end":        "entry 18, decided on entry 17: the log has run.stopped, this build decides pawl.Finish",
	"decided_higher_clamp":     "entry 16, decided on entry 15: the log has model.called, this build decides pawl.Think",
	"decided_no_reservation":   "entry 16, decided on entry 15: the log has model.called, this build decides pawl.Think",
}

// TestBadHistories: what is no log is refused with the reason, whatever is
// wanted of it, and stays as it is.
func TestBadHistories(t *testing.T) {
	sound := history(t, "testdata/histories/v1/kill_doubt.jsonl")
	agent := again(t, must(pawl.DecodeEntry(bytes.Clone(sound[0]))).Event.(pawl.RunStarted).Declaration)
	files := histories(t, "bad")
	if len(files) != len(refused) {
		t.Errorf("there are %d bad histories, not %d", len(files), len(refused))
	}
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".jsonl")
		t.Run(name, func(t *testing.T) {
			want := refused[name]
			if want == "" {
				t.Fatal("it does not say what is to be said of it")
			}
			lines := history(t, file)
			e, j := keeping(t, "run-1", lines)
			saying := func(what string, err error) {
				if err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "run run-1") {
					t.Errorf("%s: %v; it is to say: %s", what, err, want)
				}
			}
			_, err := e.Replay(t.Context(), agent, "run-1")
			saying("replay", err)
			if _, err := engine.Load(t.Context(), j, "run-1"); name != "newer_machine" && !decided(name) {
				saying("load", err)
			} else if err != nil {
				t.Errorf("it cannot be looked at: %v", err)
			}
			if decided(name) {
				return
			}
			_, err = e.Resume(t.Context(), agent, "run-1", &engine.ResumeOptions{AllowChange: true})
			saying("resume", err)
			_, err = e.Fork(t.Context(), agent, "run-1", 1, &engine.ForkOptions{AllowChange: true})
			saying("fork", err)
			saying("cancel", e.Cancel(t.Context(), "run-1", "me", "enough"))
			n := 0
			for row, err := range j.Read(t.Context(), "run-1", 1) {
				if err != nil || n >= len(lines) || !bytes.Equal(row.Data, lines[n]) {
					t.Errorf("entry %d is another now: %v", row.Seq, err)
				}
				n++
			}
			heads := 0
			for range j.List(t.Context(), pawl.Query{}) {
				heads++
			}
			if n != len(lines) || heads != 1 {
				t.Errorf("%d runs with %d of %d entries are left", heads, n, len(lines))
			}
		})
	}
}

// decided tells the logs that only replaying can find wrong.
func decided(name string) bool {
	return strings.HasPrefix(name, "decided_") && name != "decided_later" && name != "decided_on_itself"
}

// keeping is an engine on a journal that keeps a log nobody owns.
func keeping(t *testing.T, run string, lines [][]byte) (*engine.Engine, volatile) {
	t.Helper()
	j := volatile{memory.New()}
	lease := must(j.Claim(t.Context(), pawl.Claim{Run: run, Owner: "history", TTL: time.Hour, New: true}))
	err := j.Append(t.Context(), pawl.Batch{Run: run, Epoch: lease.Epoch, Records: lines})
	if _, bad := j.Claim(t.Context(), pawl.Claim{Run: run, Epoch: lease.Epoch}); errors.Join(err, bad) != nil {
		t.Fatal(err, bad)
	}
	return engine.New(j, nil), j
}

// TestTimeStands: a clock that was set back is no reason to refuse a log; the
// time between is nobody's.
func TestTimeStands(t *testing.T) {
	lines := history(t, "testdata/histories/v1/kill_doubt.jsonl")
	elapsed := func() time.Duration {
		_, j := keeping(t, "run-1", lines)
		s := must(engine.Load(t.Context(), j, "run-1"))
		return s.Elapsed()
	}
	was := elapsed()
	n := len(lines) - 1
	lines[n] = bytes.Replace(lines[n], []byte(`"time":"2000-`), []byte(`"time":"1999-`), 1)
	if now := elapsed(); now != was || !bytes.Contains(lines[n], []byte("1999-")) {
		t.Errorf("the run took %v, and with a clock set back %v", was, now)
	}
}
