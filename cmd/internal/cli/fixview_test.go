package cli

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/fix/testfix"
)

// play shows a short fix: what is written, and how many writes it took.
func play(t *testing.T, v *fixView, out *bytes.Buffer) {
	t.Helper()
	seq := uint64(0)
	add := func(turn int, events ...pawl.Event) {
		for _, e := range events {
			seq++
			v.add(pawl.Entry{Seq: seq, At: seq - 1, Iteration: turn, Time: time.Unix(1000, 0), Event: e}, false)
		}
	}
	v.limits = pawl.Limits{Iterations: 20, Tokens: 500_000, Time: 30 * time.Minute}
	v.now = func() time.Time { return time.Unix(1000, 0) }
	add(0, pawl.RunStarted{}, pawl.Observed{Text: "FAIL"}, pawl.Measured{Value: -2, Open: []string{"m.TestA", "m.TestB"}})
	add(1, pawl.ModelCalled{Purpose: pawl.PurposeTurn}, pawl.ModelReplied{Purpose: pawl.PurposeTurn, Reply: pawl.Say("Looking at the sum.")},
		pawl.ToolFinished{Call: "c1", Tool: "edit_file", Status: pawl.ToolOK, Result: []byte(`"sum.go: replaced at line 3"`)},
		pawl.Observed{Text: "FAIL"}, pawl.Measured{Value: -2, Open: []string{"m.TestB", "m.TestC\x1b[2J"}})
	add(2, pawl.ToolFinished{Call: "c2", Tool: "edit_file", Status: pawl.ToolFailed, Error: "old does not occur"})
}

func TestFixView(t *testing.T) {
	for _, c := range []struct {
		name   string
		live   bool
		colour bool
		want   string
	}{
		{"elsewhere", false, false, `[0] fails: m.TestA
[0] fails: m.TestB
[1] Looking at the sum.
[1] sum.go: replaced at line 3
[1] passes now: m.TestA
[1] newly fails: m.TestC
[2] c2 edit_file: error after 0 ms: old does not occur
`},
		{"terminal", true, false, `✗ fails: m.TestA
✗ fails: m.TestB
Looking at the sum.
sum.go: replaced at line 3
✓ passes now: m.TestA
✗ newly fails: m.TestC
c2 edit_file: error after 0 ms: old does not occur
1 attempt · open 2 of 2 · turn 1/20 · 0/500k tokens · 0s/3…`},
		{"colours", true, true, "\x1b[31m✗ fails: m.TestA\x1b[0m\n\x1b[31m✗ fails: m.TestB\x1b[0m\nLooking at the sum.\nsum.go: replaced at line 3\n" +
			"\x1b[32m✓ passes now: m.TestA\x1b[0m\n\x1b[31m✗ newly fails: m.TestC\x1b[0m\nc2 edit_file: error after 0 ms: old does not occur\n" +
			"\x1b[2m1 attempt · open 2 of 2 · turn 1/20 · 0/500k tokens · 0s/3…\x1b[0m"},
	} {
		var out bytes.Buffer
		a := &app{console: console{err: &lockedWriter{w: &out}}}
		v := &fixView{a: a, talks: true, colour: c.colour}
		if c.live {
			v.live = func() int { return 60 }
		}
		play(t, v, &out)
		got := out.String()
		if c.live {
			got = screen(got)
		} else if strings.ContainsAny(got, "\r\x1b") {
			t.Errorf("%s: there are control characters in %q", c.name, got)
		}
		if d := cmp.Diff(c.want, got); d != "" {
			t.Errorf("%s (-want +got):\n%s", c.name, d)
		}
		v.stop = func() {}
		if v.end(); c.live && strings.Contains(screen(out.String()), "attempt") {
			t.Errorf("%s: the status line stays behind", c.name)
		}
	}
}

// The line beneath never comes and goes: no write leaves the screen without it.
func TestStatusDoesNotFlicker(t *testing.T) {
	var all strings.Builder
	l := &lockedWriter{w: writerFunc(func(b []byte) {
		all.Write(b)
		if last := screen(all.String()); !strings.HasSuffix(last, "\nstatus") && last != "status" {
			t.Errorf("after a write of %q the screen ends %q", b, last)
		}
	})}
	l.setStatus("status")
	for _, text := range []string{"a line longer than the status\n", "two\nlines\n", "no end"} {
		if _, err := l.Write([]byte(text)); err != nil {
			t.Fatal(err)
		}
	}
	if got, want := screen(all.String()), "a line longer than the status\ntwo\nlines\nno end\nstatus"; got != want {
		t.Errorf("the screen shows %q, want %q", got, want)
	}
}

type writerFunc func([]byte)

func (f writerFunc) Write(b []byte) (int, error) {
	f(b)
	return len(b), nil
}

func TestSayChanges(t *testing.T) {
	var out bytes.Buffer
	sayChanges(&app{console: console{err: &lockedWriter{w: &out}}}, []testfix.Changed{
		{Input: "0 in place of 10", At: "a_test.go:4", Before: "two  spaces", Now: "a\tb\x1b[2J"},
		{Input: `"" in place of "x"`, At: "a_test.go:11"},
	})
	want := "what changes for other inputs than those of the tests:\n" +
		"  input                              before       now\n" +
		"  0 in place of 10 (a_test.go:4)     two  spaces  a b\n" +
		"  \"\" in place of \"x\" (a_test.go:11)  (nothing)    (nothing)\n"
	if d := cmp.Diff(want, out.String()); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
}
