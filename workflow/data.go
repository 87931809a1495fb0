package workflow

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/internal/expr"
	"github.com/pawl-run/pawl/internal/wire"
)

// fields are the names under which a step's results are available.
var fields = []string{"output", "errors", "rounds"}

// data is what the steps of a run can refer to. It is read from the state on
// demand.
type data struct {
	loop *Loop
	s    *pawl.State

	here   *node          // the step that refers to others; nil: one outside all loops
	joined any            // what the edges into the node of a graph brought
	told   map[string]any // the input of a branch; nil: not read yet
}

// root returns the value of the first name of a reference.
func (d *data) root(p *expr.Path) (any, error) {
	switch {
	case p.Root == "steps":
		id := p.Keys[0].Name
		v, err := d.step(id)
		return map[string]any{id: v}, err
	case d.loop.graph != nil && p.Root == joined:
		return d.joined, nil
	case d.loop.branch:
		told, err := d.outside()
		return told[p.Root], err
	}
	return input(d.s.Input()), nil
}

// input returns the input of a workflow: a JSON object or list if the text is
// one, else the text.
func input(text string) any {
	if t := strings.TrimSpace(text); strings.HasPrefix(t, "{") || strings.HasPrefix(t, "[") {
		var v any
		if wire.Unmarshal([]byte(t), &v) == nil {
			return v
		}
	}
	return text
}

// outside returns the data that a branch got from its parent.
func (d *data) outside() (map[string]any, error) {
	if d.told == nil {
		if err := wire.Unmarshal([]byte(d.s.Input()), &d.told); err != nil {
			return nil, fmt.Errorf("the branch's input is not a JSON object: %w", err)
		}
	}
	return d.told, nil
}

// step returns the results of a step.
func (d *data) step(id string) (any, error) {
	n := d.loop.nodes[id]
	if n == nil || id == d.loop.self { // an outer step of a branch
		told, err := d.outside()
		if err != nil {
			return nil, err
		}
		steps, _ := told["steps"].(map[string]any)
		return steps[id], nil
	}
	return d.own(n)
}

// outputOf returns the output of a step.
func (d *data) outputOf(id string) (any, error) {
	v, err := d.step(id)
	return outputIn(v), err
}

// outputIn returns the output among the results of a step.
func outputIn(results any) any {
	known, _ := results.(map[string]any)
	return known["output"]
}

// own returns the results of a step of this loop.
func (d *data) own(n *node) (any, error) {
	results, err := d.results(n)
	if err != nil || n.Suspend != After {
		return results, err
	}
	begun, _ := d.latest(n)
	if st, _ := d.stands(gateOf(n.ID, After)); st.OK && st.Seq > begun { // a person may have edited it
		results["output"], err = d.read(st)
	}
	return results, err
}

func (d *data) results(n *node) (map[string]any, error) {
	known := map[string]any{"output": nil, "errors": nil, "rounds": nil}
	switch n.does {
	case "parallel", "for_each":
		return d.many(n)
	case "switch", "while":
		last := d.last(n.blocks...)
		_, label := d.latest(n)
		switch _, rounds := split(label); {
		case n.does == "switch":
		case last == nil && !d.here.within(n):
			known["rounds"] = json.Number("0")
		case n.depth() < len(rounds):
			known["rounds"] = json.Number(strconv.Itoa(rounds[n.depth()]))
		}
		if last == nil {
			return known, nil
		}
		of, err := d.own(last)
		known["output"] = outputIn(of)
		return known, err
	}
	st, _ := d.stands(n.ID)
	if st.OK {
		v, err := d.read(st)
		if err != nil {
			return nil, fmt.Errorf("the output of step %s is not JSON: %w", n.ID, err)
		}
		known["output"] = v
		if d.loop.graph != nil {
			known["rounds"] = json.Number(strconv.Itoa(roundOf(st.Label)))
		}
	}
	return known, nil
}

// many returns the results of branches or items.
func (d *data) many(n *node) (map[string]any, error) {
	outputs, errs := []any{}, []any{}
	for _, st := range d.members(n) {
		var output, failure any
		if st.OK {
			var err error
			if output, err = d.read(st); err != nil {
				return nil, fmt.Errorf("the output of step %s is not JSON: %w", st.Label, err)
			}
		} else {
			failure = st.Error
		}
		outputs, errs = append(outputs, output), append(errs, failure)
	}
	first, _ := d.stands(member(n.ID, 0))
	switch begun, _ := d.latest(n); {
	case begun == 0:
		return map[string]any{"output": nil}, nil // the step was skipped
	case begun > first.Seq: // it has no items now
		outputs, errs = []any{}, []any{}
	}
	return map[string]any{"output": outputs, "errors": errs}, nil
}

// members returns the branches or items of a step in its latest round.
func (d *data) members(n *node) (all []pawl.StepState) {
	var round string
	for i := 0; ; i++ {
		st, ok := d.stands(member(n.ID, i))
		_, at, _ := strings.Cut(st.Label, "@")
		if i == 0 {
			round = at
		}
		if !ok || !st.Done || at != round { // the latest result is of an earlier round
			return all
		}
		all = append(all, st)
	}
}

// calls returns the calls whose results are the output of a step.
func (d *data) calls(n *node) (ids []string) {
	switch n.does {
	case "switch", "while":
		if last := d.last(n.blocks...); last != nil {
			return d.calls(last)
		}
		return nil
	case "parallel", "for_each":
		for _, st := range d.members(n) {
			ids = append(ids, st.Call)
		}
		return ids
	}
	st, _ := d.stands(n.ID)
	return []string{st.Call}
}

// read returns the value of a step that went well. The log leaves out null, which is the
// output of a branch whose steps are skipped.
func (d *data) read(st pawl.StepState) (v any, err error) {
	if len(st.Value) == 0 {
		return nil, nil
	}
	err = wire.Unmarshal(st.Value, &v)
	return v, err
}

// stands returns the latest state of a step. A step that is repeated because
// the model failed or its reply was unusable keeps its first input.
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

// vacant is the note that a for-each had no items. No step begins then, so the
// note marks the run's position until the next step begins.
type vacant struct {
	Step  string `json:"step"`            // the each's label
	After string `json:"after,omitempty"` // the label of the last step begun before it
	Seq   uint64 `json:"seq"`             // of the entry on which it was decided
}

// at returns the position of the note among the steps; zero: there is no note.
func (v vacant) at() uint64 {
	if v.Step == "" {
		return 0
	}
	return v.Seq + 1
}

// emptied returns the latest note that a for-each had no items.
func (d *data) emptied(id string) (v vacant) {
	if note, ok := d.s.Note(by, id); ok && json.Unmarshal(note, &v) != nil {
		return vacant{} // not a note of this package
	}
	return v
}

// idled returns the latest for-each without items since a step began.
func (d *data) idled() (last vacant) {
	at := d.s.LastStep()
	for _, id := range d.loop.eaches {
		if v := d.emptied(id); v.After == at && v.at() > last.at() {
			last = v
		}
	}
	return last
}

// latest returns the seq and the label of the latest step that began within n; zero: none did.
func (d *data) latest(n *node) (seq uint64, label string) {
	name := n.ID
	switch n.does {
	case "switch", "while":
		if last := d.last(n.blocks...); last != nil {
			return d.latest(last)
		}
		return 0, ""
	case "parallel", "for_each":
		name = member(n.ID, 0)
	}
	st, _ := d.stands(name)
	if empty := d.emptied(n.ID); n.does == "for_each" && empty.at() > st.Seq {
		return empty.at(), empty.Step
	}
	return st.Seq, st.Label
}

// last returns the step of some blocks themselves that was reached last; nil: none was.
func (d *data) last(blocks ...*block) (last *node) {
	var latest uint64
	for _, b := range blocks {
		for _, n := range b.nodes {
			if seq, _ := d.latest(n); seq > latest {
				last, latest = n, seq
			}
		}
	}
	return last
}

// find returns the value of a reference. A missing value is an error, because a
// prompt with a gap would be sent as if it were complete.
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
			if p.Root == "steps" && i == 2 { // it was skipped, or comes later in this loop
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

// env returns the names that an expression may use.
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

// tell returns the data for a branch: what its steps refer to, and no more.
func (d *data) tell(f *subflow) (map[string]any, error) {
	told := map[string]any{}
	outer := map[string]any{"input": input(d.s.Input()), joined: d.joined}
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
