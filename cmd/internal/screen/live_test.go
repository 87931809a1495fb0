package screen

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/internal/display"
)

// screen is what a terminal shows of what was written to it: lines, a carriage
// return, the way up, and the sequences that clear the rest of a line and of the
// screen. Anything else that begins with an escape is left in, and so shows.
func screen(written string) string {
	lines := [][]rune{nil}
	row, col := 0, 0
	for len(written) > 0 {
		up := 0
		if n, _ := fmt.Sscanf(written, "\x1b[%dA", &up); n == 1 && strings.HasPrefix(written, fmt.Sprintf(cursorUp, up)) {
			row = max(0, row-up)
			written = written[len(fmt.Sprintf(cursorUp, up)):]
			continue
		}
		switch {
		case strings.HasPrefix(written, clearRest):
			lines[row] = lines[row][:min(col, len(lines[row]))]
			written = written[len(clearRest):]
			continue
		case strings.HasPrefix(written, clearBelow):
			lines[row] = lines[row][:min(col, len(lines[row]))]
			lines = lines[:row+1]
			written = written[len(clearBelow):]
			continue
		case written[0] == '\r':
			col = 0
		case written[0] == '\n':
			if row++; row == len(lines) {
				lines = append(lines, nil)
			}
			col = 0
		default:
			r := []rune(written)[0]
			if col < len(lines[row]) {
				lines[row][col] = r
			} else {
				lines[row] = append(lines[row], r)
			}
			col++
			written = written[len(string(r)):]
			continue
		}
		written = written[1:]
	}
	var b strings.Builder
	for i, l := range lines {
		if i > 0 {
			b.WriteString("\n")
		}
		b.WriteString(string(l))
	}
	return b.String()
}

// Whatever is written above however many lines, all of it is there in the end, in
// order, with the lines beneath and nothing of what they were before.
func TestStatusOfSeveralLines(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 8 {
		var out bytes.Buffer
		l := NewWriter(&out)
		said, status := "", ""
		for i := range 30 {
			if r.IntN(2) == 0 {
				text := strings.Repeat(fmt.Sprintf("line %d\n", i), 1+r.IntN(3))
				said += text
				_, _ = l.Write([]byte(text))
			} else {
				status = strings.TrimSuffix(strings.Repeat(fmt.Sprintf("status %s\n", strings.Repeat("x", r.IntN(20))), r.IntN(5)), "\n")
				l.SetStatus(status)
			}
			if d := cmp.Diff(said+status, screen(out.String())); d != "" {
				t.Fatalf("after %d steps (-want +got):\n%s", i, d)
			}
		}
		if l.SetStatus(""); screen(out.String()) != said {
			t.Fatal("something stays behind")
		}
	}
}

func TestWidth(t *testing.T) {
	for text, want := range map[string]int{"": 0, "abc": 3, "日本": 4, "e\u0301": 1, "🚀x": 3, "한글": 4, "ｆ": 2, "…·✓": 3, "a\u200db": 2} {
		if got := display.Width(text); got != want {
			t.Errorf("%q takes %d columns, not %d", text, got, want)
		}
	}
	for _, text := range []string{"abcdefghij", "日本語日本語", "a日b本c語", "e\u0301e\u0301e\u0301e\u0301e\u0301e\u0301e\u0301e\u0301"} {
		for most := 1; most < 14; most++ {
			if got := fit(text, most); display.Width(got) > most || display.Width(text) <= most && got != text {
				t.Errorf("%q in %d columns is %q", text, most, got)
			}
			if got := spoken(text+" ", most); display.Width(got) > most || display.Width(text) <= most && got != text {
				t.Errorf("the end of %q in %d columns is %q", text, most, got)
			}
		}
	}
}

func TestLiveView(t *testing.T) {
	var out bytes.Buffer
	now := time.Unix(1000, 0)
	w := NewWriter(&out)
	v := &live{w: w, columns: func() int { return 60 }, now: func() time.Time { return now }}
	v.print = func(e pawl.Entry) {
		if c, is := e.Event.(pawl.ToolStarted); is {
			fmt.Fprintln(w, OneLine(c.Call+" "+c.Tool))
		}
	}
	seq := uint64(0)
	add := func(events ...pawl.Event) {
		for _, e := range events {
			entry := pawl.Entry{Run: "r", Iteration: 1, Time: now, Event: e}
			switch e.(type) {
			case pawl.ModelDelta, pawl.ToolProgressed:
			default:
				seq++
				entry.Seq, entry.At = seq, seq-1
			}
			v.Add(entry, false)
		}
		now = now.Add(time.Second)
		v.draw()
	}
	shows := func(want string) {
		t.Helper()
		if d := cmp.Diff(want, screen(out.String())); d != "" {
			t.Errorf("(-want +got):\n%s", d)
		}
	}
	for _, e := range []pawl.Event{pawl.RunStarted{Declaration: pawl.Declaration{Limits: pawl.Limits{Iterations: 20, Tokens: 500_000, Time: 30 * time.Minute, Cost: 2}}}, pawl.ModelCalled{Purpose: pawl.PurposeTurn}} {
		seq++
		v.Add(pawl.Entry{Run: "r", Seq: seq, At: seq - 1, Iteration: 1, Time: now, Event: e}, false)
	}
	shows("turn 1/20 · 0/500k tokens · 0s/30m0s\n  0.0 s · waiting for the model") // a new turn is drawn at once
	add()
	shows("turn 1/20 · 0/500k tokens · 1s/30m0s\n  1.0 s · waiting for the model")
	add(pawl.ModelDelta{Thinking: "Who said "}, pawl.ModelDelta{Thinking: "it first? "}, pawl.ModelDelta{Tool: "search"})
	shows("turn 1/20 · 0/500k tokens · 2s/30m0s\n  2.0 s · Who said it first?")
	add(pawl.ModelDelta{Text: "First.\nSecond \x1b[2Jline sk-an"})
	shows("turn 1/20 · 0/500k tokens · 3s/30m0s\n  3.0 s · Second line")
	add(pawl.ModelReplied{Purpose: pawl.PurposeTurn, Reply: pawl.Say("Looking.")}, pawl.ToolStarted{Call: "c_1", Tool: "search"}, pawl.ToolStarted{Call: "c_2", Tool: "fetch\u202e"},
		pawl.ToolStarted{Call: "c_3", Tool: "x"}, pawl.ToolStarted{Call: "c_4", Tool: "y"})
	want := "c_1 search\nc_2 fetch\\u202e\nc_3 x\nc_4 y\n"
	if got := screen(out.String()); !strings.HasSuffix(got, "\n  c_1 search · 1.0 s\n  c_2 fetch\\u202e · 1.0 s\n  c_3 x · 1.0 s\n  and 1 more") || !strings.HasPrefix(got, want) {
		t.Error(got)
	}
	now = now.Add(20 * time.Second)
	add(pawl.ToolFinished{Call: "c_1", Tool: "search", Status: pawl.ToolOK}, pawl.ToolFinished{Call: "c_3", Tool: "x", Status: pawl.ToolOK})
	if got := screen(out.String()); !strings.HasSuffix(got, "\n  c_2 fetch\\u202e · 22s\n  c_4 y · 22s") {
		t.Error(got)
	}
	add(pawl.ToolProgressed{Call: "c_2", Fraction: 0.4, Text: "12 of 30 \x1b[2J\u202efiles"}, pawl.ToolProgressed{Call: "c_4", Text: "not mine", Agent: "child"})
	if got := screen(out.String()); !strings.HasSuffix(got, "\n  c_2 fetch\\u202e · 23s · 40 %: 12 of 30 \\u202efiles\n  c_4 y · 23s") {
		t.Error(got)
	}
	add(pawl.RunPaused{Status: pawl.StatusWaitingApproval})
	if got := screen(out.String()); strings.Contains(got, "turn") || strings.Contains(got, "c_2 fetch\\u202e ·") {
		t.Errorf("while somebody is asked it shows %q", got)
	}
	v.stop = func() {}
	v.End()
	if got := screen(out.String()); strings.Contains(got, "turn") || strings.ContainsAny(strings.ReplaceAll(out.String(), "\x1b", ""), "\u202e") {
		t.Errorf("in the end it shows %q", got)
	}
}
