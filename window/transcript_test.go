package window

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/internal/display"
	"github.com/pawl-run/pawl/internal/wire"
)

// What State counts for a message beside its text, and for what is left out.
const messageBytes, maskBytes = 32, 100

// TestWindowIsTheConversation holds what pawl.State counts of the conversation to the
// conversation itself, whatever is left out of it: the size of every exchange, what
// could be left out, and the sums over them.
func TestWindowIsTheConversation(t *testing.T) {
	for seed := range uint64(200) {
		r := rand.New(rand.NewPCG(seed, 7))
		s := new(pawl.State)
		talk := NewTranscript(pawl.StrategyNative)
		take := func(iteration int, e pawl.Event) {
			entry := pawl.Entry{Run: "r", Seq: s.Seq() + 1, Time: time.Unix(int64(s.Seq()), 0), Iteration: iteration, Event: e}
			s.Fold(entry)
			talk.Add(entry, s)
		}
		take(0, pawl.RunStarted{Input: strings.Repeat("x", r.IntN(500))})
		calls := 0
		for turn := 1; turn < 40; turn++ {
			take(turn, pawl.ModelCalled{Purpose: pawl.PurposeTurn, Attempt: 1})
			parts := []pawl.Part{pawl.Text{Text: strings.Repeat("t", 1+r.IntN(400))}}
			first := calls
			for range 1 + r.IntN(3) {
				calls++
				parts = append(parts, pawl.Call{ID: fmt.Sprint("c_", calls), Tool: "look", Args: json.RawMessage(`{}`)})
			}
			take(turn, pawl.ModelReplied{Purpose: pawl.PurposeTurn, Reply: pawl.Reply{Parts: parts, Stop: pawl.StopCalls}})
			for n := first + 1; n <= calls; n++ {
				take(turn, pawl.ToolStarted{Call: fmt.Sprint("c_", n), Tool: "look", Effect: pawl.Read, Attempt: 1})
				done := pawl.ToolFinished{Call: fmt.Sprint("c_", n), Tool: "look", Status: pawl.ToolOK, Result: wire.Quote(strings.Repeat("r", r.IntN(900)))}
				if r.IntN(3) == 0 {
					done.Files = []pawl.File{{Name: done.Call, Type: "application/pdf", Blob: "b", Bytes: 9, Tokens: 40 + r.IntN(90)}}
				}
				take(turn, done)
			}
			w := s.Internals().Window()
			switch old := w.Exchanges - r.IntN(w.Exchanges+1); r.IntN(6) {
			case 0:
				if ids := s.Internals().MaskableCalls(old); ids != nil {
					take(turn, pawl.ContextCompacted{Masked: ids, Why: "price"})
				}
			case 1:
				take(turn, pawl.ContextCompacted{Summary: strings.Repeat("s", 300), Kept: w.Exchanges - old, Why: "price"})
			}
			if why := differs(s, talk); why != "" {
				t.Fatalf("seed %d, turn %d: %s", seed, turn, why)
			}
		}
	}
}

// differs says in what the window of s differs from the conversation.
func differs(s *pawl.State, talk *Transcript) string {
	w := s.Internals().Window()
	exchanges, bytes, spare := 0, 0, 0
	carried, hoarded := 0, 0
	messages, _ := talk.Messages(s)
	for _, m := range messages {
		if m.Role == pawl.RoleAssistant {
			if got := w.Before(exchanges); near(got, bytes) > 200 {
				return fmt.Sprintf("exchange %d begins at %d, not at %d", exchanges, got, bytes)
			}
			if got := w.Maskable(exchanges); got != spare {
				return fmt.Sprintf("before exchange %d, %d bytes can be left out, not %d", exchanges, got, spare)
			}
			if exchanges > 0 {
				carried, hoarded = carried+w.Before(exchanges), hoarded+w.Maskable(exchanges)
			}
			exchanges++
		}
		for _, p := range m.Parts {
			switch p := p.(type) {
			case pawl.Text:
				bytes += len(p.Text) + messageBytes
			case pawl.File:
				bytes += 3*p.Tokens + messageBytes
			case pawl.Call:
				bytes += len(p.Tool) + len(p.Args) + messageBytes
			case pawl.ToolResult:
				bytes += len(p.Content) + messageBytes
				if strings.Contains(p.Text(), "left out here") {
					bytes += maskBytes - len(p.Content)
					if files := filesOf(m, p.Call); files > 0 {
						return fmt.Sprintf("%s is left out without its files", p.Call)
					}
				} else if save := len(p.Content) + filesOf(m, p.Call) - maskBytes; save >= maskBytes {
					spare += save
				}
			}
		}
	}
	carried, hoarded = carried+w.Bytes, hoarded+w.Maskable(w.Exchanges)
	switch {
	case exchanges != w.Exchanges:
		return fmt.Sprintf("%d exchanges are counted of %d", w.Exchanges, exchanges)
	case near(w.Bytes, bytes) > 200 || w.Maskable(w.Exchanges) != spare:
		return fmt.Sprintf("%d and %d bytes are counted of %d and %d", w.Bytes, w.Maskable(w.Exchanges), bytes, spare)
	case exchanges > 0 && (w.CarryCost(w.Exchanges, 0) != carried || w.MaskableCarryCost(w.Exchanges) != hoarded):
		return fmt.Sprintf("the sums are %d and %d, not %d and %d", w.CarryCost(w.Exchanges, 0), w.MaskableCarryCost(w.Exchanges), carried, hoarded)
	}
	return ""
}

// filesOf is the size of the file of a call in a message, with what introduces it.
func filesOf(m pawl.Message, call string) int {
	for _, p := range m.Parts {
		if f, ok := p.(pawl.File); ok && f.Name == call {
			return 3*f.Tokens + 2*messageBytes + len(display.Returned("look", false))
		}
	}
	return 0
}

func near(a, b int) int { return max(a-b, b-a) }
