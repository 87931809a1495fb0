package pawl_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/pawl-run/pawl"
)

// turn is what a loop appends in one iteration with one call.
func turn() []pawl.Entry {
	args := json.RawMessage(`{"path":"internal/wire/coder.go","line":12}`)
	var entries []pawl.Entry
	for i, event := range []pawl.Event{
		pawl.ModelCalled{Purpose: pawl.PurposeTurn, Attempt: 1, Reserved: 5296, Cost: 0.0124, MaxTokens: 4096, Bytes: 3211},
		pawl.ModelReplied{Purpose: pawl.PurposeTurn, Reply: pawl.Reply{
			Parts: []pawl.Part{pawl.Text{Text: "I shall look at the file."}, pawl.Call{ID: "c_1", Ref: "toolu_01", Tool: "read_file", Args: args}},
			Stop:  pawl.StopCalls, Usage: pawl.Usage{Input: 1180, Output: 64},
		}, Cost: 0.00123, Priced: true},
		pawl.ToolStarted{Call: "c_1", Tool: "read_file", Args: args, Effect: pawl.Read, Key: "5b1d9c4e0a7f2638", Attempt: 1},
		pawl.ToolFinished{Call: "c_1", Tool: "read_file", Status: pawl.ToolOK, Result: json.RawMessage(`"package wire\n\nimport"`), Duration: 3 * time.Millisecond},
	} {
		entries = append(entries, pawl.Entry{Run: "run_01J9ZKQ3W8V5", Seq: uint64(12 + i), At: 11,
			Time: time.Date(2026, 7, 25, 10, 0, 0, 123456000, time.UTC), Iteration: 3, Event: event})
	}
	return entries
}

func BenchmarkEncode(b *testing.B) {
	entries, buf := turn(), make([]byte, 0, 4096)
	b.ReportAllocs()
	for b.Loop() {
		buf = buf[:0]
		for i := range entries {
			var err error
			if buf, err = entries[i].AppendJSON(buf); err != nil {
				b.Fatal(err)
			}
		}
	}
}

func BenchmarkDecode(b *testing.B) {
	var lines [][]byte
	for _, e := range turn() {
		line, err := e.AppendJSON(nil)
		if err != nil {
			b.Fatal(err)
		}
		lines = append(lines, line)
	}
	b.ReportAllocs()
	for b.Loop() {
		for _, line := range lines {
			if _, err := pawl.DecodeEntry(line); err != nil {
				b.Fatal(err)
			}
		}
	}
}

func BenchmarkNormalise(b *testing.B) {
	entries := turn()
	b.ReportAllocs()
	for b.Loop() {
		for i := range entries {
			if err := entries[i].Normalise(); err != nil {
				b.Fatal(err)
			}
		}
	}
}
