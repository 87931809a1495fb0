package pawl

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-run/pawl/internal/testkit/check"
)

var update = flag.Bool("update", false, "write the golden files instead of comparing with them")

// every has one value of each event type there is, zero but for its type.
// TestEventsAreWhole holds it to the source.
var every = []Event{
	RunStarted{}, RunPaused{}, RunResumed{}, RunExtended{}, RunForked{}, RunStopped{},
	Observed{}, Measured{}, ModelCalled{}, ModelReplied{}, ModelFailed{}, PlanRejected{},
	ToolStarted{}, ToolFinished{}, ToolReused{}, ToolRefused{}, ToolDoubted{}, ToolSettled{},
	ApprovalRequested{}, ApprovalDecided{}, ApprovalExpired{}, ApprovalInvalidated{},
	InputRequested{}, InputGiven{}, ClientToolRequested{}, ClientToolReturned{},
	Reflected{}, Grounded{}, CausesFound{}, ProgressJudged{}, ProgressLogged{}, CancelRequested{},
	ContextCompacted{}, MemoryStored{}, ChildStarted{}, ChildStopped{}, HookDirected{}, InstructionsGiven{}, NoticeGiven{}, Noted{}, ModelDelta{}, ToolProgressed{},
}

// TestEventsAreWhole reads the sealed set off the source, so that no type goes
// without a golden line.
func TestEventsAreWhole(t *testing.T) {
	known := map[string]bool{}
	for _, e := range every {
		known[reflect.TypeOf(e).Name()] = true
	}
	files, err := filepath.Glob("*.go")
	must(t, err)
	found := 0
	for _, file := range files {
		src, err := os.ReadFile(file)
		must(t, err)
		for _, m := range regexp.MustCompile(`(?m)^func \((?:\w+ )?(\w+)\) event\(\)`).FindAllSubmatch(src, -1) {
			found++
			if !known[string(m[1])] {
				t.Errorf("%s: event %s has no golden line; add it to every and run with -update", file, m[1])
			}
		}
	}
	if found != len(every) {
		t.Errorf("the source has %d events, the list %d", found, len(every))
	}
}

// full fills every field of an event with something that is not its zero.
// Enums take their last name, so that a name that moves is noticed.
func full(e Event) Event {
	v := reflect.New(reflect.TypeOf(e)).Elem()
	fill(v, 3)
	if r, ok := reflect.TypeAssert[*ModelReplied](v.Addr()); ok {
		r.Reply.Notes = nil // which are an event of their own
	}
	return v.Interface().(Event)
}

func fill(v reflect.Value, n int) {
	for _, x := range []any{
		time.Date(2026, 11, 21, 14, 3, n, 123456789, time.UTC), time.Duration(n) * time.Second,
		json.RawMessage(fmt.Sprintf(`{"n":%d,"s":"<é\u2028>"}`, n)),
		[]Part{
			Thinking{Text: "hm", Opaque: json.RawMessage(`"sig"`), Model: "m", Account: "a"}, Text{"first"},
			Citation{"title", "https://example.org", "quote", json.RawMessage(`{"index":1}`), "m"},
			Call{ID: "c_1", Ref: "r1", Tool: "t", Args: json.RawMessage(`{}`)}, Text{"last"},
		},
		ClassCut, StatusQueued, StopPause, ToolUnknown, StrategyJSON, Write, DoubtTell, Untrusted, JudgedHinted,
	} {
		if reflect.TypeOf(x) == v.Type() {
			v.Set(reflect.ValueOf(x))
			return
		}
	}
	switch v.Kind() {
	case reflect.String:
		v.SetString(fmt.Sprintf("%s %d\t\"\\ é", strings.ToLower(v.Type().Name()), n))
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Int, reflect.Int64:
		v.SetInt(int64(n))
	case reflect.Uint64:
		v.SetUint(uint64(n))
	case reflect.Float64:
		v.SetFloat(float64(n) + 0.125)
	case reflect.Slice:
		if v.Type().Elem().Kind() == reflect.Uint8 {
			v.SetBytes([]byte{0, 1, 255})
			return
		}
		v.Set(reflect.MakeSlice(v.Type(), 2, 2))
		for i := range 2 {
			fill(v.Index(i), n+i)
		}
	case reflect.Map:
		v.Set(reflect.MakeMap(v.Type()))
		for i := range 2 {
			value := reflect.New(v.Type().Elem()).Elem()
			fill(value, n+i)
			v.SetMapIndex(reflect.ValueOf(fmt.Sprintf("key %d", i)), value)
		}
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(v.Elem(), n)
	case reflect.Struct:
		for i := range v.NumField() {
			fill(v.Field(i), n+i%2)
		}
	}
}

// TestGoldenEvents holds the JSON of every event type, full and minimal, to
// testdata/events.golden.jsonl.
func TestGoldenEvents(t *testing.T) { // Promises: L10.
	var got []byte
	at := time.Date(2026, 11, 21, 14, 3, 5, 120_000_000, time.UTC)
	for _, zero := range every {
		for i, e := range []Event{full(zero), zero} {
			entry := Entry{Run: "01RUN", Seq: uint64(i + 2), At: 1, Time: at, Iteration: i, Event: e}
			switch e.(type) {
			case ModelDelta, ToolProgressed:
				entry.Seq, entry.At = 0, 0
			}
			line, err := entry.AppendJSON(nil)
			if err != nil {
				t.Fatalf("%s: %v", e.event(), err)
			}
			if !json.Valid(line) {
				t.Errorf("%s: not JSON: %s", e.event(), line)
			}
			back, err := DecodeEntry(append([]byte(nil), line...))
			if err != nil {
				t.Fatalf("%s: %v\n%s", e.event(), err, line)
			}
			if again, err := back.AppendJSON(nil); err != nil || !bytes.Equal(again, line) {
				t.Errorf("%s: read back and written again it is\n%s (%v), not\n%s", e.event(), again, err, line)
			}
			if i == 0 {
				if diff := cmp.Diff(entry, back); diff != "" {
					t.Errorf("%s loses something:\n%s", e.event(), diff)
				}
			}
			got = append(append(got, line...), '\n')
		}
	}
	file := filepath.Join("testdata", "events.golden.jsonl")
	if *update {
		must(t, os.WriteFile(file, got, 0o644))
	}
	want, err := os.ReadFile(file)
	must(t, err)
	if diff := cmp.Diff(strings.Split(string(want), "\n"), strings.Split(string(got), "\n")); diff != "" {
		t.Errorf("%s differs (-update writes it):\n%s", file, diff)
	}
}

// FuzzEntry: what can be read can be written, and reads back as the same.
func FuzzEntry(f *testing.F) { // Promises: L10.
	golden, err := os.ReadFile(filepath.Join("testdata", "events.golden.jsonl"))
	must(f, err)
	for line := range bytes.Lines(golden) {
		f.Add(bytes.TrimSpace(line))
	}
	f.Add([]byte(`{"run":"","type":"model.replied","data":{"parts":[{"call":"c_1"}],"calls":[]}}`))
	f.Add([]byte(`{`))
	f.Fuzz(func(t *testing.T, data []byte) {
		e, err := DecodeEntry(bytes.Clone(data))
		if err != nil {
			return
		}
		line, err := e.AppendJSON(nil)
		if err != nil {
			t.Fatalf("%s was read, but cannot be written: %v", data, err)
		}
		back, err := DecodeEntry(bytes.Clone(line))
		if err != nil {
			t.Fatalf("%s was written, but cannot be read: %v", line, err)
		}
		if diff := cmp.Diff(e, back); diff != "" {
			t.Fatalf("%s changes on its way:\n%s", line, diff)
		}
	})
}

var must = check.Must
