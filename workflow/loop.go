package workflow

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/internal/display"
	"github.com/pawl-run/pawl/internal/jsonschema"
	"github.com/pawl-run/pawl/internal/wire"
)

// Loop runs the steps of a workflow. [New] creates it. It has no state of its
// own: its position is the label of the latest step in the log, and the log has
// the outputs of the steps before.
type Loop struct {
	root     *block
	graph    *graph // nil: a workflow
	self     string // the node of a graph that this branch is; its outputs so far come from outside
	nodes    map[string]*node
	names    []string // the names of the items of a branch
	eaches   []string // its nodes that may have no items
	refs     []string // the steps it refers to
	roots    []string // other references: input, and items
	branch   bool     // its input and its answer are data
	asks     bool     // a step asks the model
	suspends bool     // a step waits for a person
	output   *jsonschema.Schema
	source   json.RawMessage
	errs     []error
}

// by is the recorded author of the note that a list was empty.
const by = "workflow"

// mostMoves is the most consecutive steps without an effect: nested loops that
// do nothing are a mistake.
const mostMoves = 100_000

// Name returns "workflow" or "graph".
func (l *Loop) Name() string {
	if l.graph != nil {
		return "graph"
	}
	return "workflow"
}

// Steps returns the steps as JSON in the form of a spec. It is part of the
// run's declaration, so a run is not resumed with other steps by accident.
func (l *Loop) Steps() json.RawMessage { return l.source }

// Asked reports whether a step refers to the input. If none does, the input may be empty.
func (l *Loop) Asked() bool { return slices.Contains(l.roots, "input") }

// Files returns the files that the step with a label gets if it is a child run: whether those of the
// input, which it does if it refers to the input, and the calls whose files it gets, which are those of
// the steps that it refers to. In a branch, the files of outer steps are among those of the input.
// The engine calls it.
func (l *Loop) Files(s *pawl.State, label string) (attached bool, calls []string) {
	name, _ := split(label)
	id, i := memberOf(name)
	n := l.nodes[id]
	if n == nil {
		return false, nil
	}
	refs := n.refs
	if attached = n.attaches; n.arms != nil {
		f := n.arms[min(i, len(n.arms)-1)]
		attached, refs = f.loop.Asked(), f.tell
	}
	d := &data{loop: l, s: s}
	for _, ref := range refs {
		if of := l.nodes[ref]; of == nil || ref == l.self {
			attached = true
		} else {
			calls = append(calls, d.calls(of)...)
		}
	}
	return attached, calls
}

// Check returns the problems of the steps, each an [*Error].
func (l *Loop) Check(pawl.Agent) error { return errors.Join(l.errs...) }

// Next returns the machine step for the workflow's current position.
func (l *Loop) Next(s *pawl.State) pawl.Step {
	w := &walk{data: data{loop: l, s: s}}
	if l.graph != nil {
		return w.graph()
	}
	label, none := s.LastStep(), w.idled()
	if none.Step != "" {
		label = none.Step
	}
	if label == "" {
		return w.enter(l.root, 0, w.outerRounds())
	}
	name, rounds := split(label)
	id, i := memberOf(name)
	id, when, waits := strings.Cut(id, ":")
	n := l.nodes[id]
	if n == nil || n.depth() != len(rounds) {
		return failed(id, "the run is at a step that this workflow does not have")
	}
	w.here = n
	if none.Step != "" {
		return w.leave(n, rounds)
	}
	if waits {
		return w.held(n, Suspend(when), rounds)
	}
	return w.after(n, i, rounds)
}

// walk moves from one step to the next.
type walk struct {
	data
	moves int
}

// after returns what to do when the step n, or its i-th member, is over or must
// be repeated.
func (w *walk) after(n *node, i int, rounds []int) pawl.Step {
	switch n.does {
	case "parallel":
		return w.batch(n, 0, len(n.arms), rounds)
	case "for_each":
		return w.batch(n, i-i%n.Width, n.Width, rounds)
	}
	st, begun := w.s.Step(n.ID)
	switch {
	case !begun, !st.Done, st.Label != join(n.ID, rounds):
		if w.s.RejectedIterations() > 0 {
			return pawl.Finish{Verdict: pawl.Verdict{Holds: true, Status: pawl.StatusPlanFailed, Condition: leaf(n.ID), Leaf: leaf(n.ID),
				Detail: "the model gave no usable answer: " + w.s.LastRejection()}}
		}
		return w.begin(n, rounds)
	case !st.OK:
		return failed(n.ID, st.Error)
	}
	return w.leave(n, rounds)
}

// enter continues with the i-th step of a block, or with what follows the
// block.
func (w *walk) enter(b *block, i int, rounds []int) pawl.Step {
	for {
		if w.moves++; w.moves > mostMoves {
			return failed("", fmt.Sprintf("%d steps in a row had nothing to do; a loop is wrong", mostMoves))
		}
		if i < len(b.nodes) {
			n := b.nodes[i]
			w.here = n
			if n.when != nil {
				holds, err := w.holds(n.when)
				if err != nil {
					return failed(n.ID, "if: "+err.Error())
				}
				if !holds {
					i++
					continue
				}
			}
			if n.Suspend == Before {
				return w.hold(n, Before, rounds)
			}
			switch n.does {
			case "switch":
				next, err := w.choose(n)
				if err != nil {
					return failed(n.ID, err.Error())
				}
				b, i = next, 0
			case "while":
				b, i, rounds = n.blocks[0], len(n.Do), append(rounds[:len(rounds):len(rounds)], 0)
			default:
				return w.begin(n, rounds)
			}
			continue
		}
		n := b.of
		if n == nil {
			return w.finish()
		}
		w.here = n
		if n.does == "while" {
			last := len(rounds) - 1
			again := rounds[last] < n.Max
			if again {
				var err error
				if again, err = w.holds(n.on); err != nil {
					return failed(n.ID, "while: "+err.Error())
				}
			}
			if again {
				rounds = append(rounds[:last:last], rounds[last]+1)
				i = 0
				continue
			}
			rounds = rounds[:last]
		}
		if n.Suspend == After {
			return w.hold(n, After, rounds)
		}
		b, i = n.in, n.at+1
	}
}

// choose returns the case that a Switch selects.
func (w *walk) choose(n *node) (*block, error) {
	v, err := w.eval(n.on)
	if err != nil {
		return nil, fmt.Errorf("switch: %w", err)
	}
	text, err := asText(v)
	if err != nil {
		return nil, err
	}
	i, known := slices.BinarySearch(n.cases, text)
	if !known {
		i = len(n.cases) // the default
	}
	if i < len(n.blocks) {
		return n.blocks[i], nil
	}
	return nil, fmt.Errorf("%s is %q, for which there is no case (there are %s, and no default)", n.on, display.Clip(text, 80), strings.Join(n.cases, ", "))
}

// begin begins a step that has an effect.
func (w *walk) begin(n *node, rounds []int) pawl.Step {
	switch n.does {
	case "parallel":
		return w.batch(n, 0, len(n.arms), rounds)
	case "for_each":
		return w.batch(n, 0, n.Width, rounds)
	case "single":
		return w.ask(n, rounds)
	}
	c, err := w.call(n, join(n.ID, rounds))
	if err != nil {
		return failed(n.ID, err.Error())
	}
	return pawl.Act{Calls: []pawl.Classified{c}}
}

// ask asks the model.
func (w *walk) ask(n *node, rounds []int) pawl.Step {
	v, err := w.value(n, rounds)
	prompt, _ := v.(string)
	if err == nil && strings.TrimSpace(prompt) == "" {
		err = errors.New("nothing is asked: the prompt comes to nothing")
	}
	if err != nil {
		return failed(n.ID, "prompt: "+err.Error())
	}
	view := pawl.View{Prompt: prompt, Bare: true, Step: join(n.ID, rounds), Output: string(n.Single.Output)}
	return pawl.Think{Purpose: pawl.PurposeTurn, View: view}
}

// call returns the call of a step that is one.
func (w *walk) call(n *node, label string) (pawl.Classified, error) {
	_, rounds := split(label)
	v, err := w.value(n, rounds)
	if err != nil {
		return pawl.Classified{}, err
	}
	if n.does == "agent" {
		text, err := asText(v)
		if err != nil {
			return pawl.Classified{}, err
		}
		v = map[string]any{"input": text}
	}
	return call(n.Tool, v, label)
}

func call(tool string, args any, label string) (pawl.Classified, error) {
	raw, err := json.Marshal(args)
	return pawl.Classified{Call: pawl.Call{Tool: tool, Args: raw}, Step: label}, err
}

// batch begins at most count of n's branches or items from the i-th that have
// not begun, or continues after them.
func (w *walk) batch(n *node, i, count int, rounds []int) pawl.Step {
	var items []any
	end := len(n.arms)
	if n.does == "for_each" {
		v, err := w.eval(n.on)
		if err != nil {
			return failed(n.ID, "for_each: "+err.Error())
		}
		list, ok := v.([]any)
		if !ok {
			return failed(n.ID, fmt.Sprintf("for_each: %s is no list", n.on))
		}
		if items, end = list, len(list); end > MaxItems {
			return failed(n.ID, fmt.Sprintf("for_each: %s has %d items; the most is %d", n.on, end, MaxItems))
		}
		if end == 0 {
			return w.empty(n, rounds)
		}
	}
	for ; i < end; i += count {
		var calls []pawl.Classified
		for k := i; k < min(i+count, end); k++ {
			label := join(member(n.ID, k), rounds)
			st, begun := w.s.Step(member(n.ID, k))
			switch {
			case !begun, st.Label != label, !st.Done:
				c, err := w.branch(n, k, items, label)
				if err != nil {
					return failed(n.ID, err.Error())
				}
				calls = append(calls, c)
			case !st.OK && n.OnError != "continue":
				return failed(member(n.ID, k), st.Error)
			}
		}
		if calls != nil {
			return pawl.Act{Calls: calls}
		}
	}
	return w.leave(n, rounds)
}

// empty notes that a for-each has no items, so that the run continues after it.
func (w *walk) empty(n *node, rounds []int) pawl.Step {
	raw, err := json.Marshal(vacant{Step: join(n.ID, rounds), After: w.s.LastStep(), Seq: w.s.Seq()})
	if err != nil {
		return failed(n.ID, err.Error())
	}
	return pawl.Record{Events: []pawl.Event{pawl.Noted{By: by, Name: n.ID, Value: raw}}}
}

// branch returns the call for the k-th branch or item.
func (w *walk) branch(n *node, k int, items []any, label string) (pawl.Classified, error) {
	f := n.arms[min(k, len(n.arms)-1)]
	told, err := w.tell(f)
	if err != nil {
		return pawl.Classified{}, err
	}
	if items != nil {
		told[n.As] = items[k]
	}
	return call(f.tool, told, label)
}

// finish ends the run with the output of its last step.
func (w *walk) finish() pawl.Step {
	var value any
	if n := w.last(w.loop.root); n != nil {
		v, err := w.own(n)
		if err != nil {
			return failed(n.ID, err.Error())
		}
		value = outputIn(v)
	}
	return w.end(value, "every step of the workflow is done")
}

// end ends the run with a value.
func (w *walk) end(value any, detail string) pawl.Step {
	answer, err := asText(value)
	if w.loop.branch {
		answer, err = encode(value)
	}
	if err != nil {
		return failed("", err.Error())
	}
	if o := w.loop.output; o != nil {
		var given json.RawMessage
		if text, is := value.(string); is {
			given = wire.Quote(text)
		}
		settled, problems := o.Settle(answer, given)
		if len(problems) > 0 {
			return failed("", "what the last step came to is not the declared output: "+strings.TrimSpace(problems[0].Path+" "+problems[0].Message))
		}
		if read, _ := o.Settle(answer, nil); !bytes.Equal(read, settled) {
			answer = string(settled) // the text of a string reads as another value
		}
	}
	return pawl.Finish{Answer: answer, Verdict: pawl.Verdict{Holds: true, Status: pawl.StatusSuccess, Condition: "done", Leaf: "done", Detail: detail}}
}

func leaf(id string) string { return "step(" + strconv.Quote(id) + ")" }

func failed(id, detail string) pawl.Step {
	name, what := "workflow", detail
	if id != "" {
		name, what = leaf(id), "step "+id+": "+detail
	}
	return pawl.Finish{Verdict: pawl.Verdict{Holds: true, Status: pawl.StatusFailed, Condition: name, Leaf: name, Detail: what}}
}

// within reports whether a step is the other or in it.
func (n *node) within(other *node) bool {
	for ; n != nil; n = n.in.of {
		if n == other {
			return true
		}
	}
	return false
}

// depth returns the number of loops around a step.
func (n *node) depth() int {
	depth, b := 0, n.in
	for ; b.of != nil; b = b.of.in {
		if b.of.does == "while" {
			depth++
		}
	}
	return depth + b.loops
}

// A label is a step's id, with the number of the branch or item in brackets,
// and after an @ the rounds of the loops around it, outermost first: fetch,
// fetch[3], review@2, score[3]@2.1.
func join(name string, rounds []int) string {
	for i, r := range rounds {
		sep := "."
		if i == 0 {
			sep = "@"
		}
		name += sep + strconv.Itoa(r)
	}
	return name
}

func split(label string) (name string, rounds []int) {
	name, at, found := strings.Cut(label, "@")
	if !found {
		return name, nil
	}
	for r := range strings.SplitSeq(at, ".") {
		n, err := strconv.Atoi(r)
		if err != nil {
			return label, nil // not a label of this package
		}
		rounds = append(rounds, n)
	}
	return name, rounds
}

func member(id string, i int) string { return id + "[" + strconv.Itoa(i+1) + "]" }

// memberOf undoes member.
func memberOf(name string) (id string, i int) {
	id, rest, found := strings.Cut(name, "[")
	if !found {
		return name, 0
	}
	n, err := strconv.Atoi(strings.TrimSuffix(rest, "]"))
	if err != nil || n < 1 {
		return name, 0
	}
	return id, n - 1
}
