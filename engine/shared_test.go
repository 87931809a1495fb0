package engine_test

import (
	"context"
	"encoding/json"
	"slices"
	"testing"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/engine"
	"github.com/pawl-run/pawl/journal/memory"
)

// spoil writes into bytes that user code got or gave away.
func spoil(all ...[]byte) {
	for _, b := range all {
		for i := range b {
			b[i] = 'x'
		}
	}
}

// vandal is a tool, a hook, a watcher and a policy that write into what they get.
type vandal struct{ given [][]byte }

func (*vandal) Info() pawl.ToolInfo {
	return pawl.ToolInfo{Name: "look", Effect: pawl.Read, Input: json.RawMessage(`{"type":"object","properties":{"a":{"type":"integer"}}}`)}
}

func (v *vandal) Run(_ context.Context, inv pawl.Invocation) (pawl.Output, error) {
	out := pawl.Output{JSON: json.RawMessage(`{"seen":` + string(inv.Args) + `}`), Files: []pawl.File{{Type: "image/png", Data: []byte("pixels")}}}
	spoil(inv.Args)
	v.given = append(v.given, out.JSON, out.Files[0].Data)
	return out, nil
}

func (*vandal) Name() string                        { return "vandal" }
func (*vandal) String() string                      { return "vandal" }
func (*vandal) Left(context.Context, string, error) {}
func (v *vandal) write(e pawl.Entry) {
	switch e := e.Event.(type) {
	case pawl.ModelReplied:
		for i, p := range e.Reply.Parts {
			if c, ok := p.(pawl.Call); ok {
				spoil(c.Args)
			}
			e.Reply.Parts[i] = pawl.Text{Text: "x"}
		}
	case pawl.ToolStarted:
		spoil(e.Args)
	case pawl.ToolFinished:
		spoil(e.Result)
	case pawl.Noted:
		spoil(e.Value)
	}
}

// Review notes once what it keeps, and writes into the calls it is shown.
func (v *vandal) Review(s *pawl.State, step pawl.Step) pawl.Step {
	if act, ok := step.(pawl.Act); ok {
		for _, d := range act.Calls {
			spoil(d.Call.Args)
		}
	}
	_, noted := s.Note("vandal", "n")
	if _, records := step.(pawl.Record); !records && !noted {
		value := json.RawMessage(`{"kept":1}`)
		v.given = append(v.given, value)
		return pawl.Record{Events: []pawl.Event{pawl.Noted{By: "vandal", Name: "n", Value: value}}}
	}
	return step
}

type vandalHook struct{ *vandal }

func (h vandalHook) Entry(_ context.Context, _ *pawl.State, e pawl.Entry) engine.Direction {
	h.write(e)
	return engine.Direction{}
}

type vandalWatcher struct{ *vandal }

func (vandalWatcher) Within(ctx context.Context, _ string, _ uint64) context.Context { return ctx }

func (w vandalWatcher) Entry(_ context.Context, _ *pawl.State, e pawl.Entry) { w.write(e) }

// Whatever user code writes into what it gets, and into what it gave away, the log,
// the model and the result say what they would say without.
func TestNothingIsShared(t *testing.T) {
	for _, wrapped := range []bool{false, true} {
		v := &vandal{}
		var shown []string
		turn := 0
		model := pawl.ModelFunc(func(_ context.Context, r pawl.Request) (pawl.Reply, error) {
			spoil(v.given...)
			for _, m := range r.Messages {
				for _, p := range m.Parts {
					switch p := p.(type) {
					case pawl.Call:
						shown = append(shown, string(p.Args))
					case pawl.ToolResult:
						shown = append(shown, string(p.Content), string(p.Images[0].Data))
					}
				}
			}
			if turn++; turn == 2 {
				return pawl.Say("done"), nil
			}
			args := json.RawMessage(`{"a":9}`)
			v.given = append(v.given, args)
			return pawl.Do(pawl.Call{Tool: "look", Args: args}), nil
		})
		j := pawl.Journal(memory.New())
		if wrapped {
			j = struct{ pawl.Journal }{j}
		}
		e := engine.New(j, &engine.Options{Hooks: []engine.Hook{vandalHook{v}}, Watchers: []engine.Watcher{vandalWatcher{v}}})
		agent := pawl.Agent{Name: "a", Model: model, Tools: []pawl.Tool{v}, Policies: []pawl.Policy{v}}
		ends(t, begin(t, e, agent), pawl.StatusSuccess)
		if want := []string{`{"a":9}`, `{"seen":{"a":9}}`, "pixels"}; !slices.Equal(shown, want) {
			t.Errorf("the model sees %q", shown)
		}
		spoil(v.given...)
		m := loaded(t, j, "r")
		c, _ := m.Call("c_1")
		note, _ := m.Note("vandal", "n")
		if string(c.Args) != `{"a":9}` || string(c.Result) != `{"seen":{"a":9}}` || string(note) != `{"kept":1}` {
			t.Errorf("the log has %s, %s, %s", c.Args, c.Result, note)
		}
		for range 2 { // what is read of the journal belongs to the reader
			for entry := range entriesOf(t, j, "r") {
				v.write(entry)
			}
		}
	}
}
