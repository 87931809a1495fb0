package workflow

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/internal/expr"
)

// fields are what is known of a step.
var fields = []string{"output", "errors", "rounds"}

// data is what the steps of a run can refer to. It is read off the state as it
// is asked for, and only then.
type data struct {
	loop *Loop
	s    *pawl.State

	told  map[string]any // what the run was asked, if it is a branch's; nil: not read yet
	steps map[string]any
}

// root is what a reference begins with.
func (d *data) root(p *expr.Path) (any, error) {
	switch {
	case p.Root == "steps":
		id := p.Keys[0].Name
		v, ok := d.steps[id]
		if !ok {
			var err error
			if v, err = d.step(id); err != nil {
				return nil, err
			}
			if d.steps == nil {
				d.steps = map[string]any{}
			}
			d.steps[id] = v
		}
		return map[string]any{id: v}, nil
	case d.loop.branch:
		told, err := d.outside()
		return told[p.Root], err
	}
	return input(d.s.Input()), nil
}

// input is what a workflow was asked: a text or, if it is one, a JSON object or list.
func input(text string) any {
	if t := strings.TrimSpace(text); strings.HasPrefix(t, "{") || strings.HasPrefix(t, "[") {
		var v any
		if decode([]byte(t), &v) == nil {
			return v
		}
	}
	return text
}

// outside is what a branch was told.
func (d *data) outside() (map[string]any, error) {
	if d.told == nil {
		if err := decode([]byte(d.s.Input()), &d.told); err != nil {
			return nil, fmt.Errorf("what the branch was told is no JSON object: %w", err)
		}
	}
	return d.told, nil
}

// step is what is known of a step.
func (d *data) step(id string) (any, error) {
	n := d.loop.nodes[id]
	if n == nil { // of a branch: it stands outside
		told, err := d.outside()
		if err != nil {
			return nil, err
		}
		steps, _ := told["steps"].(map[string]any)
		return steps[id], nil
	}
	known := map[string]any{"output": nil, "errors": nil, "rounds": nil}
	switch n.Step.(type) {
	case Parallel, ForEach:
		return d.many(n)
	case Switch, While:
		last, label := d.last(n)
		if last == nil {
			return known, nil
		}
		if _, loops := n.Step.(While); loops {
			_, rounds := split(label)
			if d := n.depth(); d < len(rounds) {
				known["rounds"] = json.Number(strconv.Itoa(rounds[d]))
			}
		}
		of, err := d.step(last.id)
		if m, ok := of.(map[string]any); ok {
			known["output"] = m["output"]
		}
		return known, err
	}
	st, _ := d.stands(id)
	if st.OK {
		var v any
		if err := decode(st.Value, &v); err != nil {
			return nil, fmt.Errorf("what came of step %s is no JSON: %w", id, err)
		}
		known["output"] = v
	}
	return known, nil
}

// many is what came of branches, or of items.
func (d *data) many(n *node) (any, error) {
	outputs, errs := []any{}, []any{}
	var round string
	for i := 0; ; i++ {
		st, ok := d.stands(member(n.id, i))
		_, at, _ := strings.Cut(st.Label, "@")
		if i == 0 {
			round = at
		}
		if !ok || !st.Done || at != round { // the last is of a round before
			break
		}
		var output, failure any
		if st.OK {
			if err := decode(st.Value, &output); err != nil {
				return nil, fmt.Errorf("what came of step %s is no JSON: %w", st.Label, err)
			}
		} else {
			failure = st.Error
		}
		outputs, errs = append(outputs, output), append(errs, failure)
	}
	switch empty, first := d.emptied(n.id), d.begunAt(member(n.id, 0)); {
	case empty.at() > first:
		outputs, errs = []any{}, []any{}
	case first == 0:
		return map[string]any{"output": nil}, nil // it was left out
	}
	return map[string]any{"output": outputs, "errors": errs}, nil
}

// stands is what a step came to last. One that is being taken again, because
// the model failed or its reply did not do, is told what it was told at first.
func (d *data) stands(name string) (pawl.StepState, bool) {
	st, ok := d.s.Step(name)
	if ok && !st.Done {
		if st.Before == nil {
			return pawl.StepState{}, false
		}
		return *st.Before, true
	}
	return st, ok
}

func (d *data) begunAt(name string) uint64 {
	st, _ := d.stands(name)
	return st.Seq
}

// vacant is the note that an each had no items. Nothing was begun then, so that
// no step tells where the run is: the note does, until one is begun.
type vacant struct {
	Step  string `json:"step"`            // the each's label
	After string `json:"after,omitempty"` // that of the step begun last before it
	Seq   uint64 `json:"seq"`             // of the entry it was found out at
}

// at is its place among the steps, zero if there is none.
func (v vacant) at() uint64 {
	if v.Step == "" {
		return 0
	}
	return v.Seq + 1
}

// emptied is how an each had no items when that was so last.
func (d *data) emptied(id string) (v vacant) {
	if note, ok := d.s.Note(by, id); ok && json.Unmarshal(note, &v) != nil {
		return vacant{} // no note of ours
	}
	return v
}

// idled is the each without items that was the last to be come to since a step
// was begun.
func (d *data) idled() (last vacant) {
	at := d.s.LastStep()
	for _, id := range d.loop.eaches {
		if v := d.emptied(id); v.After == at && v.at() > last.at() {
			last = v
		}
	}
	return last
}

// begun is where the latest step within n was begun; zero: none was.
func (d *data) begun(n *node) uint64 {
	switch n.Step.(type) {
	case Switch, While:
		last, _ := d.last(n)
		if last == nil {
			return 0
		}
		return d.begun(last)
	case Parallel:
		return d.begunAt(member(n.id, 0))
	case ForEach:
		return max(d.begunAt(member(n.id, 0)), d.emptied(n.id).at())
	}
	return d.begunAt(n.id)
}

// last is the step within n, one of its own, that was come to last, and its label.
func (d *data) last(n *node) (last *node, label string) {
	var latest uint64
	for _, b := range n.blocks() {
		if m := d.lastOf(b); m != nil && d.begun(m) > latest {
			last, latest = m, d.begun(m)
		}
	}
	if last == nil {
		return nil, ""
	}
	return last, d.leaf(last)
}

func (d *data) lastOf(b *block) (last *node) {
	var latest uint64
	for _, m := range b.nodes {
		if at := d.begun(m); at > latest {
			last, latest = m, at
		}
	}
	return last
}

// leaf is the label of the step that was begun last within n.
func (d *data) leaf(n *node) string {
	name := n.id
	switch n.Step.(type) {
	case Switch, While:
		_, label := d.last(n)
		return label
	case ForEach:
		if v := d.emptied(n.id); v.at() > d.begunAt(member(n.id, 0)) {
			return v.Step
		}
		name = member(n.id, 0)
	case Parallel:
		name = member(n.id, 0)
	}
	st, _ := d.stands(name)
	return st.Label
}

// find is what a reference refers to. What does not exist is an error, since a
// text with a hole in it would be sent for one without.
func (d *data) find(p *expr.Path) (any, error) {
	v, err := d.root(p)
	if err != nil {
		return nil, err
	}
	for i, k := range p.Keys {
		switch in := v.(type) {
		case map[string]any:
			sub, ok := in[k.Name]
			if ok = ok && !k.IsIndex; !ok {
				return nil, missing(p, i, "an object without it")
			}
			v = sub
		case []any:
			if !k.IsIndex || k.Index >= len(in) {
				return nil, missing(p, i, fmt.Sprintf("a list of %d", len(in)))
			}
			v = in[k.Index]
		case nil:
			if p.Root == "steps" && i == 2 { // it was left out, or is yet to come in this loop
				return nil, nil
			}
			return nil, missing(p, i, "null")
		case string:
			return nil, missing(p, i, "a text (as is a result that was cut at its max_output)")
		default:
			return nil, missing(p, i, "no object")
		}
	}
	return v, nil
}

func missing(p *expr.Path, i int, what string) error {
	head := &expr.Path{Root: p.Root, Keys: p.Keys[:i]}
	return fmt.Errorf("there is no %s: %s is %s", p, head, what)
}

// env is what an expression sees.
func (d *data) env(n expr.Node) (expr.Env, error) {
	values, steps := map[string]expr.Value{}, map[string]any{}
	for n := range expr.All(n) {
		p, ok := n.(*expr.Path)
		if !ok {
			continue
		}
		v, err := d.root(p)
		if err != nil {
			return expr.Env{}, err
		}
		if p.Root != "steps" {
			values[p.Root] = v
			continue
		}
		id := p.Keys[0].Name
		steps[id] = v.(map[string]any)[id]
		values["steps"] = steps
	}
	return expr.Env{Values: values}, nil
}

func (d *data) eval(n expr.Node) (any, error) {
	env, err := d.env(n)
	if err != nil {
		return nil, err
	}
	return expr.Eval(n, env)
}

func (d *data) holds(n expr.Node) (bool, error) {
	env, err := d.env(n)
	if err != nil {
		return false, err
	}
	return expr.Holds(n, env)
}

// tell is what a branch is told: what it refers to, and no more.
func (d *data) tell(f *subflow) (map[string]any, error) {
	told := map[string]any{}
	outer := map[string]any{"input": input(d.s.Input())}
	if d.loop.branch {
		var err error
		if outer, err = d.outside(); err != nil {
			return nil, err
		}
	}
	for _, root := range f.loop.roots {
		if v, ok := outer[root]; ok {
			told[root] = v
		}
	}
	steps := map[string]any{}
	for _, id := range f.tell {
		v, err := d.step(id)
		if err != nil {
			return nil, err
		}
		steps[id] = v
	}
	if len(steps) > 0 {
		told["steps"] = steps
	}
	return told, nil
}

// decode reads JSON and keeps its numbers as they are written.
func decode(raw []byte, v any) error {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	return d.Decode(v)
}
