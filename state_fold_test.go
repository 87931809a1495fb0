package pawl

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"
)

// dump writes everything a value reaches, unexported fields included, so that
// two dumps are equal exactly when nothing in reach has changed.
func dump(b *strings.Builder, v reflect.Value) {
	switch v.Kind() {
	case reflect.Pointer, reflect.Interface:
		if v.IsNil() {
			b.WriteString("nil")
			return
		}
		if v.Kind() == reflect.Interface {
			b.WriteString(v.Elem().Type().String())
		}
		dump(b, v.Elem())
	case reflect.Struct:
		if v.Type() == reflect.TypeFor[time.Time]() {
			fmt.Fprint(b, v.Field(0), v.Field(1)) // its location points to the clock's own tables
			return
		}
		b.WriteByte('{')
		for _, field := range v.Fields() {
			dump(b, field)
			b.WriteByte(' ')
		}
		b.WriteByte('}')
	case reflect.Slice, reflect.Array:
		if v.Kind() == reflect.Slice && v.Type().Elem().Kind() == reflect.Uint8 {
			fmt.Fprintf(b, "%q", v.Bytes())
			return
		}
		b.WriteByte('[')
		for i := range v.Len() {
			dump(b, v.Index(i))
			b.WriteByte(' ')
		}
		b.WriteByte(']')
	case reflect.Map:
		var lines []string
		for k, x := range v.Seq2() {
			var line strings.Builder
			dump(&line, k)
			line.WriteByte(':')
			dump(&line, x)
			lines = append(lines, line.String())
		}
		slices.Sort(lines)
		fmt.Fprint(b, lines)
	default:
		fmt.Fprint(b, v)
	}
}

func dumped(s *State) string {
	var b strings.Builder
	dump(&b, reflect.ValueOf(&s.Clone().facts))
	return b.String()
}

// random fills a value with what may stand in a log, sensible or not: few
// names, so that entries meet, and figures at the edges of their range.
func random(r *rand.Rand, v reflect.Value) {
	pick := func(list ...string) string { return list[r.IntN(len(list))] }
	edge := []int64{-1 << 62, -1, 0, 0, 1, 1, 2, 3, 100, 1 << 40, 1 << 62}
	switch v.Interface().(type) {
	case time.Time:
		v.Set(reflect.ValueOf(time.Unix(r.Int64N(1e9), 0).UTC()))
		return
	case json.RawMessage:
		raw := pick("", "null", "{}", `{"a":1}`, `{"a":"x"}`, `[1]`, `"text"`, `{"answer":1}`, "not json")
		if raw == "" {
			return
		}
		v.Set(reflect.ValueOf(json.RawMessage(raw)))
		return
	case []Part:
		var parts []Part
		for range r.IntN(4) {
			parts = append(parts, []Part{
				Text{pick("", "hello", `{"action":"look"}`)}, Thinking{Text: "hm"},
				Call{ID: pick("c_1", "c_2", "c_3", "x"), Tool: pick("look", "set", "pay", "none"), Args: json.RawMessage(pick("{}", `{"a":1}`, "[]", "null"))},
			}[r.IntN(3)])
		}
		v.Set(reflect.ValueOf(parts))
		return
	case Purpose:
		v.SetString(pick("turn", "turn", "turn", "judge", "landing", "other"))
		return
	}
	switch v.Kind() {
	case reflect.String:
		v.SetString(pick("", "c_1", "c_2", "c_3", "c_99", "look", "set", "pay", "q_3", "text", "__complete__"))
	case reflect.Bool:
		v.SetBool(r.IntN(2) == 0)
	case reflect.Int:
		if v.Type() != reflect.TypeFor[int]() { // an enum
			v.SetInt(r.Int64N(17))
			return
		}
		v.SetInt(edge[r.IntN(len(edge))])
	case reflect.Int64:
		v.SetInt(edge[r.IntN(len(edge))])
	case reflect.Uint64:
		v.SetUint(uint64(r.IntN(20)))
	case reflect.Float64:
		v.SetFloat([]float64{-1, 0, 0.5, 1, 1e300}[r.IntN(5)])
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), r.IntN(3), 4))
		for i := range v.Len() {
			random(r, v.Index(i))
		}
	case reflect.Map:
		v.Set(reflect.MakeMap(v.Type()))
		value := reflect.New(v.Type().Elem()).Elem()
		random(r, value)
		v.SetMapIndex(reflect.ValueOf("key"), value)
	case reflect.Pointer:
		if r.IntN(2) == 0 {
			v.Set(reflect.New(v.Type().Elem()))
			random(r, v.Elem())
		}
	case reflect.Struct:
		for _, field := range v.Fields() {
			random(r, field)
		}
	}
}

// randomEntry is any entry that may stand after s.
func randomEntry(r *rand.Rand, s *State) Entry {
	v := reflect.New(reflect.TypeOf(every[1+r.IntN(len(every)-1)])).Elem() // run.started only starts
	random(r, v)
	if d, ok := reflect.TypeAssert[HookDirected](v); ok && r.IntN(4) > 0 {
		v.Set(reflect.ValueOf(randomRetry(r, s, d)))
	}
	it := s.iteration + []int{-1, 0, 0, 0, 1, 5}[r.IntN(6)]
	return Entry{Run: "run", Seq: s.seq + 1, At: s.seq, Time: s.time.Add(time.Duration(r.IntN(5)-1) * time.Second), Iteration: it, Event: v.Interface().(Event)}
}

// randomRetry directs that the latest reply, or a call of the latest turn, be made again.
func randomRetry(r *rand.Rand, s *State, d HookDirected) HookDirected {
	d.Direction, d.Entry, d.Call = "retry", s.replied.seq, ""
	if calls := append(s.unsentCalls(), s.open...); len(calls) > 0 && r.IntN(3) > 0 {
		c := calls[r.IntN(len(calls))]
		d.Entry, d.Call = c.finished, c.ID
	}
	return d
}

// justBegun is a run of m that has just started.
func justBegun(m *Machine) *State {
	s := new(State)
	s.Fold(Entry{Run: "run", Seq: 1, Time: time.Unix(1000, 0).UTC(), Event: RunStarted{Declaration: m.Declaration(), Input: "go"}})
	return s
}

type dud struct{ info ToolInfo }

func (d dud) Info() ToolInfo { return d.info }
func (dud) Run(ctx context.Context, _ Invocation) (Output, error) {
	return Output{}, ctx.Err()
}

// machines are agents of every kind, for what must hold of all.
func machines(t testing.TB) []*Machine {
	model := ModelFunc(nil)
	tools := []Tool{
		dud{ToolInfo{Name: "look", Effect: Read, Input: json.RawMessage(`{"type":"object","properties":{"a":{"type":"integer"}}}`)}},
		dud{ToolInfo{Name: "set", Effect: Idempotent, MaxCalls: 2, Input: json.RawMessage(`{"type":"object","additionalProperties":true}`)}},
		dud{ToolInfo{Name: "pay", Input: json.RawMessage(`{"type":"object","additionalProperties":true}`)}},
	}
	goal := &Goal{Metric: func(context.Context, Observation) (Measured, error) { return Measured{}, nil }, Success: reached{}}
	var list []*Machine
	for _, a := range []Agent{
		{Name: "plain", Model: model},
		{Name: "tools", Model: model, Tools: tools, Builtins: true, Output: json.RawMessage(`{"type":"object"}`)},
		{Name: "single", Model: model, Loop: SingleCall{}, Output: json.RawMessage(`{"type":"object"}`)},
		{Name: "json", Model: model, Tools: tools, Strategy: StrategyJSON, Observer: func(context.Context) (Observation, error) { return Observation{}, nil }, Goal: goal},
		{Name: "priced", Model: priced{}, Tools: tools, Goal: goal, Stop: reached{}, Limits: Limits{Cost: 1}},
	} {
		m, err := NewMachine(a)
		must(t, err)
		list = append(list, m)
	}
	return list
}

type priced struct{ ModelFunc }

func (priced) Describe() ModelInfo {
	return ModelInfo{Name: "priced", Price: &Price{Input: 1, Output: 2}}
}

// reached holds when the metric is at least one.
type reached struct{}

func (reached) Eval(s *State) Verdict {
	v, ok := s.Metric()
	return Verdict{Holds: ok && v >= 1, Status: StatusSuccess, Condition: "reached", Leaf: "reached"}
}
func (reached) String() string { return "metric >= 1" }

// FuzzDecide: whatever a log holds, it folds, the machine says what is next, a
// conversation comes of it, and no older or sibling state is touched.
func FuzzDecide(f *testing.F) { // Promises: L1.
	for seed := range uint64(60) {
		f.Add(seed, uint8(40))
	}
	f.Fuzz(func(t *testing.T, seed uint64, n uint8) {
		r := rand.New(rand.NewPCG(seed, 1))
		all := machines(t)
		m := all[seed%uint64(len(all))]
		s := justBegun(m)
		talk := Talk(m.Declaration().Strategy)
		var states []*State
		var dumps []string
		for range n {
			if step := m.Decide(s); step == nil {
				t.Fatalf("no step at entry %d", s.seq)
			}
			s.Result()
			s.Head()
			states, dumps = append(states, s.Clone()), append(dumps, dumped(s))
			e := randomEntry(r, s)
			must(t, s.Internals().CheckNext(e))
			states[r.IntN(len(states))].Clone().Fold(randomEntry(r, s)) // a sibling, in any state's name
			s.Fold(e)
			talk(e, s)
		}
		for i, old := range states {
			if got := dumped(old); got != dumps[i] {
				t.Fatalf("state %d has changed:\n%s\n%s", i, dumps[i], got)
			}
		}
	})
}

// Talk makes what builds a conversation of entries. Package window, which it is of,
// imports this one, so that the tests outside of this package set it.
var Talk func(Strategy) func(Entry, *State)

// spoil writes into everything a value lets others write into.
func spoil(v reflect.Value) {
	if v.Type() == reflect.TypeFor[State]() { // which is out of reach itself, as is shown here
		return
	}
	switch v.Kind() {
	case reflect.Pointer, reflect.Interface:
		if !v.IsNil() {
			spoil(v.Elem())
		}
	case reflect.Struct:
		for _, field := range v.Fields() {
			spoil(field)
		}
	case reflect.Slice:
		for i := range v.Len() {
			spoil(v.Index(i))
			if e := v.Index(i); e.CanSet() {
				e.SetZero()
			}
		}
	case reflect.Map:
		for _, k := range v.MapKeys() {
			spoil(v.MapIndex(k))
			v.SetMapIndex(k, reflect.Value{})
		}
	}
}

// TestStateIsOutOfReach writes into everything the methods of a State hand out,
// and sees the State and the machine's next step unchanged.
func TestStateIsOutOfReach(t *testing.T) { // Promises: L2.
	m, err := NewMachine(Agent{
		Name: "reach", Model: ModelFunc(nil), Output: json.RawMessage(`{"type":"object"}`),
		Tools:    []Tool{dud{ToolInfo{Name: "look", Effect: Read, Input: json.RawMessage(`{"type":"object"}`)}}},
		Policies: []Policy{meddler{}},
	})
	must(t, err)
	s := new(State)
	for i, event := range []Event{
		RunStarted{Declaration: m.Declaration(), Input: "go", Labels: map[string]string{"team": "ops"}},
		Noted{By: "loop", Name: "plan", Value: json.RawMessage(`["a"]`)},
		MemoryStored{Key: "k", Value: json.RawMessage(`{"v":1}`)},
		Observed{Text: "seen"}, Measured{Value: -1, Open: []string{"x"}},
		ModelCalled{Purpose: "vote", Attempt: 1}, ModelReplied{Purpose: "vote", Reply: Say("yes")},
		ModelCalled{Purpose: PurposeTurn, Attempt: 1},
		ModelReplied{Purpose: PurposeTurn, Reply: Reply{Stop: StopCalls, Parts: []Part{
			Thinking{Text: "hm", Opaque: json.RawMessage(`"sig"`)},
			Call{ID: "c_1", Tool: "look", Args: json.RawMessage(`{"n":1}`)}, Call{ID: "c_2", Tool: "look", Args: json.RawMessage(`{"n":2}`)}}}},
		ToolStarted{Call: "c_1", Tool: "look", Effect: Read, Attempt: 1, Args: json.RawMessage(`{"n":1}`)},
		ToolFinished{Call: "c_1", Tool: "look", Status: ToolOK, Result: json.RawMessage(`{"r":1}`)},
	} {
		iteration := 0
		if i > 6 {
			iteration = 1
		}
		s.Fold(Entry{Run: "r", Seq: uint64(i + 1), At: uint64(i), Time: time.Unix(int64(i), 0).UTC(), Iteration: iteration, Event: event})
	}
	before, step := dumped(s), fmt.Sprintf("%+v", m.Decide(s))
	methods := reflect.ValueOf(s)
	tried := 0
	for i := range methods.NumMethod() {
		name, method := methods.Type().Method(i).Name, methods.Method(i)
		if name == "Fold" || name == "Gather" { // which hands its caller what that made
			continue
		}
		var args []reflect.Value
		for a := range method.Type().NumIn() {
			arg := reflect.New(method.Type().In(a)).Elem()
			switch {
			case name == "Replied":
				arg.SetString("turn")
			case name == "Note":
				arg.SetString([]string{"loop", "plan"}[a])
			case name == "Memory":
				arg.SetString("k")
			case arg.Kind() == reflect.String:
				arg.SetString(map[bool]string{true: "c_1", false: "look"}[name == "Call" || name == "Attempts"])
			}
			args = append(args, arg)
		}
		for _, out := range method.Call(args) {
			if out.Kind() == reflect.Func { // a sequence
				for v := range out.Seq() {
					spoil(v)
				}
			} else {
				spoil(out)
			}
			tried++
		}
		if after := dumped(s); after != before {
			t.Errorf("what %s hands out can be written into:\n%s\nwas\n%s", name, after, before)
			before = after
		}
	}
	if tried < 40 {
		t.Errorf("only %d results were tried", tried)
	}
	if after := fmt.Sprintf("%+v", m.Decide(s)); after != step {
		t.Errorf("the next step is %s, was %s", after, step)
	}
}

// meddler is a policy that writes into whatever it is shown.
type meddler struct{}

func (meddler) String() string { return "meddler" }

func (meddler) Review(s *State, step Step) Step {
	if act, ok := step.(Act); ok {
		for i := range act.Calls {
			spoil(reflect.ValueOf(act.Calls[i].Call.Args))
		}
		for c := range s.Open() {
			spoil(reflect.ValueOf(&c))
		}
	}
	return step
}

// A summary may leave instructions out, so that they are to be given again.
func TestSummaryForgetsInstructions(t *testing.T) {
	s := new(State)
	for i, e := range []Event{RunStarted{}, InstructionsGiven{Text: "Be brief."}, ContextCompacted{Masked: []string{"c_1"}}} {
		s.Fold(Entry{Run: "r", Seq: uint64(i + 1), At: uint64(i), Event: e})
	}
	if s.Instructions() != "Be brief." {
		t.Errorf("after results are left out, they are %q", s.Instructions())
	}
	if s.Fold(Entry{Run: "r", Seq: 4, At: 3, Event: ContextCompacted{Summary: "Much."}}); s.Instructions() != "" {
		t.Errorf("after a summary they are %q", s.Instructions())
	}
}
