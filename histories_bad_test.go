package pawl_test

import (
	"bytes"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/engine"
	"github.com/pawl-run/pawl/journal/memory"
	"github.com/pawl-run/pawl/progress"
	"github.com/pawl-run/pawl/window"
)

// bad are damages of a sound log, and what is said of them. A log that cannot be read cannot be
// resumed, forked or replayed. One that can be read, but that this build would not have written,
// is found by replaying; these begin with decided.
var bad = map[string]struct {
	damage damage
	want   string
}{
	"unknown_type":             {edit(9, "tool.finished", "tool.teleported"), `entry 9: entry: event type "tool.teleported" is unknown to this build (machine 1)`},
	"other_machine":            {both(only(17), edit(1, `"machine":1,`, `"machine":999,`)), "run run-1 was written under machine number 999, and this build decides as machine 1"},
	"seq_gap":                  {without(6), "entry 6: the journal has entry 7"},
	"seq_twice":                {insert(7, 6), "entry 7: the journal has entry 6"},
	"seq_swapped":              {both(insert(8, 6), without(6)), "entry 6: the journal has entry 7"},
	"seq_missing":              {edit(6, `"seq":6,`, ""), "entry 6: the journal has entry 0"},
	"other_run":                {edit(9, "run-1", "run-2"), "entry 9: the journal has entry 9 of run run-2 in its place"},
	"whole_other_run":          {whole(`"run":"run-1"`, `"run":"run-2"`), "entry 1: the journal has entry 1 of run run-2 in its place"},
	"decided_later":            {edit(9, `"at":7`, `"at":12`), "entry 9 was decided on entry 12, which comes after it"},
	"decided_on_itself":        {edit(9, `"at":7`, `"at":9`), "entry 9 was decided on entry 9, which comes after it"},
	"started_twice":            {both(insert(8, 1), both(without(9), edit(8, `"seq":1,"at":0`, `"seq":8,"at":7`))), "entry 8 is run.started; run.started comes first and only first"},
	"start_missing":            {without(1), "entry 1: the journal has entry 2"},
	"start_missing_renumbered": {both(without(1), edit(1, `"seq":2,"at":1`, `"seq":1,"at":0`)), "entry 1 is model.called; run.started comes first and only first"},
	"torn_json":                {cut(18, 90), "entry 18: entry: unexpected end of JSON input at offset 90"},
	"torn_in_the_middle":       {cut(9, 120), "entry 9: entry: unexpected end of JSON input at offset 120"},
	"zeroes":                   {become(18, strings.Repeat("\x00", 64)), "entry 18: entry: invalid character '\\x00' looking for beginning of value at offset 0"},
	"no_object":                {become(18, `"just a text"`), "entry 18: entry: it cannot be a JSON string"},
	"seq_is_text":              {edit(6, `"seq":6`, `"seq":"6"`), `entry 6: entry: seq cannot be a JSON string`},
	"seq_is_negative":          {edit(6, `"seq":6`, `"seq":-6`), `entry 6: entry: seq cannot be a JSON number -6`},
	"seq_too_big":              {edit(6, `"seq":6`, `"seq":18446744073709551616`), `entry 6: entry: seq cannot be a JSON number 18446744073709551616`},
	"time_is_no_time":          {edit(6, "2000-01-01T00:00:00.000000001Z", "yesterday"), `entry 6: entry: parsing time "yesterday"`},
	"data_is_a_list":           {data(6, "[]"), `entry 6: entry: tool.finished cannot be a JSON array`},
	"data_missing":             {data(6, ""), "entry 6: entry 6 of run run-1 has no data"},
	"unknown_status":           {edit(6, `"ok"`, `"great"`), `entry 6: entry: tool status "great" is not one of ok, error`},
	"unknown_effect":           {edit(5, "idempotent", "harmless"), `entry 5: entry: effect "harmless" is not one of read, idempotent, write`},
	"calls_are_text":           {edit(3, `{"call":"c_1","tool":"look","args":{}}`, `"c_1"`), `entry 3: entry: model.replied.calls cannot be a JSON string`},
	"happened_is_text":         {edit(15, `"happened":true`, `"happened":"true"`), `entry 15: entry: tool.settled.happened cannot be a JSON string`},

	"decided_other_key":        {edit(8, `"key":"0`, `"key":"1`), "entry 8: call c_2 was started with another key or effect"},
	"decided_other_effect":     {edit(10, `"write"`, `"read"`), "entry 10: call c_3 was started with another key or effect"},
	"decided_other_purpose":    {edit(16, `"purpose":"turn"`, `"purpose":"judge"`), "entry 16, decided on entry 15: the log has model.called, this build decides pawl.Think"},
	"decided_other_doubt":      {edit(12, "the process of the run ended while", "it surely took place, for"), "entry 12, decided on entry 11: the log has tool.doubted, this build decides pawl.Record"},
	"decided_other_pause":      {edit(13, "waiting_doubt", "waiting_input"), "entry 13, decided on entry 12: the log has run.paused, this build decides pawl.Await"},
	"decided_other_leaf":       {edit(18, `"leaf":"done"`, `"leaf":"other"`), "entry 18, decided on entry 17: the log has run.stopped, this build decides pawl.Finish"},
	"decided_other_args":       {edit(10, `"eur":5`, `"eur":5000`), `entry 10: call c_3 was started as pay{"eur":5000}, not as pay{"eur":5}`},
	"decided_call_nobody_made": {edit(10, `"call":"c_3"`, `"call":"c_9"`), "entry 10: call c_9 would not run now"},
	"decided_no_doubt":         {both(become(12, `{"run":"run-1","seq":12,"at":11,"time":"2000-01-01T00:00:30.000000007Z","iteration":1,"type":"tool.started","data":{"call":"c_3","tool":"pay","args":{"eur":5},"effect":"write","key":"run-1/c_3","attempt":2}}`), only(12)), "entry 12, decided on entry 11: the log has tool.started, this build decides pawl.Record"},
	"decided_end_too_early":    {both(insert(7, 18), both(edit(7, `"seq":18,"at":17`, `"seq":7,"at":6`), only(7))), "entry 7: the log has run.stopped, this build acts on calls"},
	"decided_other_end":        {edit(18, "success", "exhausted"), "entry 18, decided on entry 17: the log has run.stopped, this build decides pawl.Finish"},
	"decided_higher_clamp":     {edit(16, "16384", "90000"), "entry 16, decided on entry 15: the log has model.called, this build decides pawl.Think"},
	"decided_no_reservation":   {edit(16, `"reserved_tokens":1`, `"reserved_tokens":9`), "entry 16, decided on entry 15: the log has model.called, this build decides pawl.Think"},
}

// A damage changes the lines of a log. Lines are numbered from 1.
type damage func(lines [][]byte) [][]byte

func both(first, then damage) damage {
	return func(lines [][]byte) [][]byte { return then(first(lines)) }
}

func become(n int, text string) damage {
	return func(lines [][]byte) [][]byte {
		lines[n-1] = []byte(text)
		return lines
	}
}

func edit(n int, old, text string) damage {
	return func(lines [][]byte) [][]byte {
		return become(n, strings.Replace(string(lines[n-1]), old, text, 1))(lines)
	}
}

func whole(old, text string) damage {
	return func(lines [][]byte) [][]byte {
		for i := range lines {
			lines = edit(i+1, old, text)(lines)
		}
		return lines
	}
}

// data replaces the data of a line; empty: it has none.
func data(n int, text string) damage {
	return func(lines [][]byte) [][]byte {
		before, _, _ := strings.Cut(string(lines[n-1]), `,"data":`)
		if text != "" {
			text = `,"data":` + text
		}
		return become(n, before+text+"}")(lines)
	}
}

func cut(n, size int) damage {
	return func(lines [][]byte) [][]byte { return become(n, string(lines[n-1][:size]))(lines) }
}

func without(n int) damage {
	return func(lines [][]byte) [][]byte { return slices.Delete(lines, n-1, n) }
}

// insert puts a copy of a line in front of line n.
func insert(n, line int) damage {
	return func(lines [][]byte) [][]byte { return slices.Insert(lines, n-1, lines[line-1]) }
}

// only keeps the first n lines.
func only(n int) damage {
	return func(lines [][]byte) [][]byte { return lines[:n] }
}

// TestBadHistories: what is no log is refused with the reason, whatever is
// wanted of it, and stays as it is.
func TestBadHistories(t *testing.T) {
	const sound = "testdata/histories/kill_doubt.jsonl"
	d := must(pawl.DecodeEntry(history(t, sound)[0])).Event.(pawl.RunStarted).Declaration
	agent := pawl.Agent{
		Name: d.Agent, Model: pricedFunc{d.ModelInfo.Name, nil, nil}, Limits: d.Limits,
		Policies: []pawl.Policy{window.Compact(nil), progress.NoProgress(3, progress.Fail, "")},
	}
	for _, info := range d.Tools {
		agent.Tools = append(agent.Tools, deed{info})
	}
	for name, c := range bad {
		t.Run(name, func(t *testing.T) {
			lines := c.damage(history(t, sound))
			e, j := keeping(t, "run-1", lines)
			saying := func(what string, err error) {
				if err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), "run run-1") {
					t.Errorf("%s: %v; it is to say: %s", what, err, c.want)
				}
			}
			_, err := e.Replay(t.Context(), agent, "run-1")
			saying("replay", err)
			if _, err := engine.Load(t.Context(), j, "run-1"); name != "other_machine" && !decided(name) {
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

// volatile hides that a journal is memory: the tests of what outlives a
// process stay in one.
type volatile struct{ *memory.Journal }

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
	lines := history(t, "testdata/histories/kill_doubt.jsonl")
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
