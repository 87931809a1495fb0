package stop_test

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/pawl-run/pawl"
)

// world writes a log and folds it, so that conditions meet the states that
// runs really have.
type world struct {
	state pawl.State
	seq   uint64
	now   time.Time
	turn  int
	calls int
}

func newWorld(input string, priced bool) *world {
	w := &world{now: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)}
	decl := pawl.Declaration{Agent: "test", Loop: "react"}
	if priced {
		decl.ModelInfo.Price = &pawl.Price{Input: 1, Output: 1}
	}
	w.add(pawl.RunStarted{Declaration: decl, Input: input})
	return w
}

func (w *world) add(events ...pawl.Event) {
	for _, e := range events {
		w.seq++
		w.state.Fold(pawl.Entry{Run: "r", Seq: w.seq, At: w.seq - 1, Time: w.now, Iteration: w.turn, Event: e})
	}
}

func (w *world) wait(d time.Duration) { w.now = w.now.Add(d) }

// call is what a turn does: what the model asked for, what ran, and the result.
type call struct {
	tool, args, edited string
	status             pawl.ToolStatus // zero: a person answers the call with args
}

// think makes a turn with its calls answered.
func (w *world) think(text string, usage pawl.Usage, dollars float64, calls ...call) {
	w.turn++
	parts := []pawl.Part{}
	if text != "" {
		parts = append(parts, pawl.Text{Text: text})
	}
	first := w.calls + 1
	for _, c := range calls {
		w.calls++
		args := json.RawMessage(c.args)
		if c.status == 0 {
			args = json.RawMessage(`{}`)
		}
		parts = append(parts, pawl.Call{ID: "c_" + strconv.Itoa(w.calls), Tool: c.tool, Args: args})
	}
	w.add(
		pawl.ModelCalled{Purpose: pawl.PurposeTurn, Attempt: 1},
		pawl.ModelReplied{Purpose: pawl.PurposeTurn, Reply: pawl.Reply{Parts: parts, Usage: usage}, Cost: dollars},
	)
	for i, c := range calls {
		id := "c_" + strconv.Itoa(first+i)
		if c.status == 0 {
			w.add(pawl.InputRequested{Call: id, Question: "?"}, pawl.InputGiven{Call: id, Text: c.args})
			continue
		}
		args := json.RawMessage(c.args)
		if c.edited != "" {
			args = json.RawMessage(c.edited)
			w.add(pawl.ApprovalDecided{Call: id, Approved: true, By: "me", Args: args})
		}
		done := pawl.ToolFinished{Call: id, Tool: c.tool, Status: c.status, Result: json.RawMessage(`"fine"`)}
		if c.status != pawl.ToolOK {
			done.Result, done.Error = nil, "it said no"
		}
		w.add(pawl.ToolStarted{Call: id, Tool: c.tool, Args: args, Effect: pawl.Read, Attempt: 1}, done)
	}
}

// script makes a world of lines, each an event or two:
//
//	input TEXT · priced · wait DURATION · used INPUT OUTPUT [DOLLARS] (by the next turn)
//	turn [TEXT], then any of: call TOOL ARGS ok|error|… · edited ARGS (the call before) · asked ANSWER
//	confidence X · metric X
func script(t *testing.T, source string) *world {
	t.Helper()
	lines := strings.Split(strings.TrimSpace(source), "\n")
	input, priced := "", false
	for _, line := range lines {
		if rest, ok := strings.CutPrefix(line, "input "); ok {
			input = rest
		}
		priced = priced || line == "priced"
	}
	w := newWorld(input, priced)
	var usage pawl.Usage
	var dollars float64
	for i := 0; i < len(lines); i++ {
		verb, rest, _ := strings.Cut(strings.TrimSpace(lines[i]), " ")
		switch verb {
		case "", "input", "priced":
		case "wait":
			w.wait(must(time.ParseDuration(rest)))
		case "used":
			if _, err := fmt.Sscan(rest+" 0", &usage.Input, &usage.Output, &dollars); err != nil {
				t.Fatalf("line %d: %v", i+1, err)
			}
		case "turn":
			var calls []call
			for ; i+1 < len(lines) && strings.HasPrefix(lines[i+1], " "); i++ {
				verb, rest, _ := strings.Cut(strings.TrimSpace(lines[i+1]), " ")
				switch verb {
				case "call":
					f := strings.Fields(rest)
					c := call{tool: f[0], args: strings.Join(f[1:len(f)-1], " ")}
					if err := c.status.UnmarshalText([]byte(f[len(f)-1])); err != nil {
						t.Fatal(err)
					}
					calls = append(calls, c)
				case "edited":
					calls[len(calls)-1].edited = rest
				case "asked":
					calls = append(calls, call{tool: "__pause_for_human__", args: rest})
				default:
					t.Fatalf("line %d: %s", i+2, lines[i+1])
				}
			}
			w.think(rest, usage, dollars, calls...)
			usage, dollars = pawl.Usage{}, 0
		case "confidence":
			w.add(pawl.Reflected{Confidence: must(strconv.ParseFloat(rest, 64))})
		case "metric":
			w.add(pawl.Observed{}, pawl.Measured{Value: must(strconv.ParseFloat(rest, 64))})
		default:
			t.Fatalf("line %d: %s", i+1, lines[i])
		}
	}
	w.add(pawl.Noted{By: "test", Name: "end", Value: []byte("null")})
	return w
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}
