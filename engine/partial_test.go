package engine_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/engine"
	"github.com/pawl-run/pawl/journal/memory"
	"github.com/pawl-run/pawl/tool"
)

type invoice struct {
	Vendor string `json:"vendor"`
	Kind   string `json:"kind" enum:"bill,offer"`
	Lines  []struct {
		Text  string `json:"text"`
		Cents int    `json:"cents"`
	} `json:"lines"`
}

// bytewise streams each reply in pieces of n bytes.
type bytewise struct {
	n       int
	replies []pawl.Reply
	next    *int
}

func (b bytewise) Stream(context.Context, pawl.Request) iter.Seq2[pawl.Chunk, error] {
	return func(yield func(pawl.Chunk, error) bool) {
		reply := b.replies[*b.next]
		*b.next++
		text := reply.Text()
		for i := 0; i < len(text); i += b.n {
			time.Sleep(time.Millisecond)
			if !yield(pawl.Chunk{Text: text[i:min(i+b.n, len(text))]}, nil) {
				return
			}
		}
		yield(pawl.Chunk{Reply: &reply}, nil)
	}
}

func growing(t *testing.T, n int, replies ...pawl.Reply) *engine.Handle {
	t.Helper()
	look := tool.Func("look", "Looks.", func(context.Context, struct{}) (string, error) { return "seen", nil }, pawl.Read)
	agent := pawl.Agent{Name: "clerk", Model: bytewise{n, replies, new(int)}, Tools: []pawl.Tool{look}, Output: engine.OutputOf[invoice]()}
	h, err := engine.New(memory.New(), nil).Start(t.Context(), agent, "Go.", &engine.StartOptions{Watch: true})
	must(t, err)
	return h
}

// TestPartial: the answer is there before it is complete, in a run with a tool and a
// rejected answer, and never with a value of a restricted scalar that is not the whole one.
func TestPartial(t *testing.T) {
	const answer = `{"vendor":"Miller & Söns","kind":"offer","lines":[{"text":"Bolts","cents":1250},{"text":"Nuts","cents":99}]}`
	calls := pawl.Reply{Parts: []pawl.Part{pawl.Text{Text: `I look at {"vendor":"x"} first.`}, pawl.Call{Tool: "look", Args: []byte(`{}`)}}}
	for _, n := range []int{1, 7, 4096} {
		synctest.Test(t, func(t *testing.T) {
			h := growing(t, n, calls, pawl.Say(`{"vendor":"Nobody","kind":"loan","lines":[]}`), pawl.Say(answer))
			var seen []invoice
			for v, err := range engine.Partial[invoice](h.Entries(t.Context())) {
				must(t, err)
				for _, l := range v.Lines {
					if l.Cents != 0 && l.Cents != 1250 && l.Cents != 99 {
						t.Fatalf("half of a number: %+v", v)
					}
				}
				if v.Kind != "" && v.Kind != "loan" && v.Kind != "offer" {
					t.Fatalf("half of a word: %+v", v)
				}
				seen = append(seen, v)
			}
			whole, err := h.Wait(t.Context())
			must(t, err)
			want, err := engine.Decode[invoice](whole)
			must(t, err)
			if d := cmp.Diff(want, seen[len(seen)-1]); d != "" {
				t.Errorf("the last value is another than the answer (-want +got):\n%s", d)
			}
			steps := map[string]bool{}
			for _, v := range seen {
				steps[fmt.Sprintf("%.3s %d", v.Vendor, len(v.Lines))] = true
			}
			if n == 1 && (!steps["M 0"] || !steps["Mil 0"] || !steps["Mil 1"] || !steps["Mil 2"] || !steps["Nob 0"]) {
				t.Errorf("the values are %v", steps)
			}
		})
	}
}

// TestPartialFails: the error of a run without an answer, and of entries that break off.
func TestPartialFails(t *testing.T) {
	bad := pawl.Say(`{"vendor":"Nobody"}`)
	h := growing(t, 8, bad, bad, bad, bad, bad, bad)
	var last error
	for _, err := range engine.Partial[invoice](h.Entries(t.Context())) {
		last = err
	}
	if result, err := h.Wait(t.Context()); err != nil || last == nil || last.Error() != result.Err().Error() {
		t.Errorf("%v, %v; the run's is %v", last, err, result.Err())
	}
	broken := errors.New("broken")
	for _, err := range engine.Partial[invoice](func(yield func(pawl.Entry, error) bool) { yield(pawl.Entry{}, broken) }) {
		if !errors.Is(err, broken) {
			t.Error(err)
		}
	}
	for range engine.Partial[invoice](h.Entries(t.Context())) {
		break // which must not be called again
	}
}

// A reader that comes in the middle of a reply sees no part of it for the whole.
func TestGrowingFromTheMiddle(t *testing.T) {
	entry := func(seq uint64, e pawl.Event) pawl.Entry { return pawl.Entry{Seq: seq, At: 1, Event: e} }
	var g engine.Growing
	g.Add(entry(1, pawl.RunStarted{Declaration: pawl.Declaration{Output: engine.OutputOf[invoice]()}}))
	g.Add(entry(2, pawl.ModelCalled{Purpose: pawl.PurposeTurn}))
	if doc := g.Add(entry(0, pawl.ModelDelta{Text: `{"text":"Bolts","cents":1}`, From: 40})); doc != nil {
		t.Errorf("%s", doc)
	}
	g.Add(entry(3, pawl.ModelCalled{Purpose: pawl.PurposeTurn}))
	if doc := g.Add(entry(0, pawl.ModelDelta{Text: `{"vendor":"A`})); string(doc) != `{"vendor":"A"}` {
		t.Errorf("%s", doc)
	}
	if doc := g.Add(entry(0, pawl.ModelDelta{Text: `c`, From: 13})); doc != nil {
		t.Errorf("%s, though a piece is missing", doc)
	}
}

// The model reads what a tool printed before its time was over.
func TestPartialOutput(t *testing.T) {
	command := tool.Command("counter", "Count.", []string{"/bin/sh", "-c", "echo one, two; exec sleep 60"}, &tool.CommandOptions{Effect: pawl.Read, Timeout: 300 * time.Millisecond})
	halfway := fake{name: "halfway", effect: pawl.Read, limit: 50 * time.Millisecond, run: func(ctx context.Context, _ pawl.Invocation) (pawl.Output, error) {
		<-ctx.Done()
		return pawl.Output{JSON: json.RawMessage(`"one, two"`)}, ctx.Err()
	}}
	for _, counting := range []pawl.Tool{halfway, command} {
		var read string
		agent := pawl.Agent{Name: "a", Tools: []pawl.Tool{counting}, Model: pawl.ModelFunc(func(_ context.Context, r pawl.Request) (pawl.Reply, error) {
			if last := r.Messages[len(r.Messages)-1].Parts[0]; len(r.Messages) > 1 {
				read = last.(pawl.ToolResult).Text()
				return pawl.Say("done"), nil
			}
			return pawl.Reply{Parts: []pawl.Part{pawl.Call{Tool: counting.Info().Name, Args: json.RawMessage(`{}`)}}}, nil
		})}
		if r, err := engine.Run(t.Context(), agent, "go"); err != nil || r.Err() != nil {
			t.Fatal(r.Verdict, err)
		}
		if !strings.HasPrefix(read, "timed out: no result within ") || !strings.HasSuffix(read, ": one, two") {
			t.Errorf("%s: the model reads %q", counting.Info().Name, read)
		}
	}
}
