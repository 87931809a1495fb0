package judge

import (
	"cmp"
	"encoding/json"
	"reflect"
	"slices"
	"strings"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/internal/wire"
)

// A Graph shows which calls led to which, judged by the values that passed
// between them. Its nodes are calls, by id, and the answer; a call connected to
// nothing is left out. The order of calls alone makes no edge.
type Graph struct {
	Nodes          []Node          `json:"nodes"`
	Edges          []Edge          `json:"edges"`
	Cycles         []Cycle         `json:"cycles,omitempty"`
	Contradictions []Contradiction `json:"contradictions,omitempty"`
}

// Answer is the id of the node that is the run's answer.
const Answer = "answer"

// A Node is a call or the answer.
type Node struct {
	ID        string `json:"id"`
	Tool      string `json:"tool,omitempty"`
	Iteration int    `json:"iteration,omitempty"`
}

// An Edge connects the call that first brought some values into the run with a
// call that used them in its arguments, or with the answer.
type Edge struct {
	From   string   `json:"from"`
	To     string   `json:"to"`
	Values []string `json:"values"` // at most five, each truncated
}

// A Cycle is a path by which a run returned to an earlier call: each call used
// a value from the result of the one before, and the last equals the first in
// tool and arguments.
type Cycle struct {
	Calls []string `json:"calls"`
}

// A Contradiction is a read-only tool that returned two values for the same
// arguments, with no call in between that could have changed what it reads.
type Contradiction struct {
	Tool  string `json:"tool"`
	First string `json:"first"`
	Then  string `json:"then"`
	Was   string `json:"was"` // truncated
	Is    string `json:"is"`
}

// Limits on the evidence that is kept.
const (
	mostValues = 5
	mostValue  = 80
	mostLength = 200 // bytes; a longer value is not followed as a whole
)

// Causes finds what led to what in a run. It is pure and costs O(calls and the
// size of their results).
//
// A value is a string of at least four characters, a number of at least three
// digits, or a word within a text that contains a digit or one of @ / _ : .
// Shorter and more common values would connect everything with everything. A
// value that the task, a person, the prompt, a tool's schema or the model
// itself named first makes no edge, because it came from no result.
func Causes(s *pawl.State) Graph {
	t := newTrace(s)
	for _, batch := range t.batches {
		for _, c := range batch { // decided together, before any of their results
			t.uses(c)
		}
		for _, c := range batch {
			t.brings(c)
		}
	}
	t.answers(s.Answer())
	t.contradictions()
	return t.graph()
}

// A trace follows values through a run.
type trace struct {
	batches [][]*step
	origin  map[string]string // by value: the call that brought it first; empty: no call did
	latest  map[string]*step  // by value: the latest call whose result has it without having it as an argument
	edges   map[[2]string][]string
	same    map[string]*step // by tool and arguments: the latest such call
	cycles  []Cycle
	seen    map[string]bool // cycles, by the calls they pass through
	contra  []Contradiction
}

// A step is a call in the trace.
type step struct {
	pawl.CallState
	key    string   // tool and canonical arguments
	used   []string // values in its arguments
	feeds  []*step  // the latest calls whose results have one of those values
	reader bool
}

func newTrace(s *pawl.State) *trace {
	t := &trace{origin: map[string]string{}, latest: map[string]*step{}, edges: map[[2]string][]string{},
		same: map[string]*step{}, seen: map[string]bool{}}
	d := s.Declaration()
	known := func(v string) { t.origin[v] = "" }
	for text := range s.UserTexts() {
		values(text, known)
	}
	values(d.Prompt, known)
	readers, exempt := map[string]bool{}, map[string]bool{}
	for _, tool := range d.Tools {
		valuesJSON(tool.Input, known)
		readers[tool.Name], exempt[tool.Name] = tool.Effect == pawl.Read && !tool.Client, tool.Exempt
	}
	var all []*step
	for c := range s.Recent() {
		args, err := wire.Canonical(ran(c))
		if err != nil {
			args = ran(c)
		}
		all = append(all, &step{CallState: c, key: c.Tool + "\x00" + string(args), reader: readers[c.Tool] && !exempt[c.Tool]})
	}
	slices.Reverse(all)
	for i, c := range all {
		if i == 0 || all[i-1].Iteration != c.Iteration {
			t.batches = append(t.batches, nil)
		}
		last := len(t.batches) - 1
		t.batches[last] = append(t.batches[last], c)
	}
	return t
}

// uses finds the calls that the values in a call's arguments come from.
func (t *trace) uses(c *step) {
	valuesJSON(ran(c.CallState), func(v string) {
		if slices.Contains(c.used, v) {
			return
		}
		c.used = append(c.used, v)
		t.edge(v, c.ID)
		if from := t.latest[v]; from != nil && !slices.Contains(c.feeds, from) {
			c.feeds = append(c.feeds, from)
		}
	})
	for _, v := range c.used {
		if _, known := t.origin[v]; !known {
			t.origin[v] = ""
		}
	}
	t.cycle(c)
	t.same[c.key] = c
}

func (t *trace) edge(value, to string) {
	from := t.origin[value]
	if from == "" || from == to {
		return
	}
	at := [2]string{from, to}
	if list := t.edges[at]; len(list) < mostValues {
		t.edges[at] = append(list, short(value, mostValue))
	}
}

// brings records the values in a call's result.
func (t *trace) brings(c *step) {
	if !c.OK() || c.Of != "" { // a reused result brings nothing new
		return
	}
	valuesJSON(c.Result, func(v string) {
		if _, known := t.origin[v]; !known {
			t.origin[v] = c.ID
		}
		if !slices.Contains(c.used, v) { // the call already had an echoed value
			t.latest[v] = c
		}
	})
}

func (t *trace) answers(text string) {
	seen := map[string]bool{}
	values(text, func(v string) {
		if !seen[v] {
			seen[v] = true
			t.edge(v, Answer)
		}
	})
}

// cycle finds a way from an earlier equal call back to this one through
// results. It searches breadth first, backwards along the calls that fed it.
func (t *trace) cycle(c *step) {
	first := t.same[c.key]
	if first == nil {
		return
	}
	next := map[*step]*step{} // on the way to c
	queue := []*step{c}
	for len(queue) > 0 {
		at := queue[0]
		queue = queue[1:]
		for _, from := range at.feeds {
			if _, been := next[from]; been || from == c {
				continue
			}
			next[from] = at
			if from.key == c.key {
				t.close(from, c, next)
				return
			}
			queue = append(queue, from)
		}
	}
}

// close keeps a cycle unless one through the same calls is known.
func (t *trace) close(from, to *step, next map[*step]*step) {
	var ids, keys []string
	for at := from; ; at = next[at] {
		ids = append(ids, at.ID)
		if at == to {
			break
		}
		keys = append(keys, at.key)
	}
	if len(keys) < 2 { // a tool that feeds itself makes progress, such as paging
		return
	}
	slices.Sort(keys)
	name := strings.Join(keys, "\x01")
	if !t.seen[name] {
		t.seen[name] = true
		t.cycles = append(t.cycles, Cycle{ids})
	}
}

// contradictions compares each call of a read-only tool with the previous equal
// call.
func (t *trace) contradictions() {
	before := map[string]*step{}
	wrote := 0 // the latest turn in which something may have been changed
	for _, batch := range t.batches {
		writes := slices.ContainsFunc(batch, func(c *step) bool { return c.changes() })
		if writes {
			wrote = batch[0].Iteration
		}
		for _, c := range batch {
			if !c.reader || !c.OK() || !c.Ran {
				continue
			}
			// A write in either turn may have come between: when a call of a
			// batch waits for approval, the batch does not run in order.
			if was := before[c.key]; was != nil && wrote < was.Iteration && !equal(was.Result, c.Result) {
				t.contra = append(t.contra, Contradiction{Tool: c.Tool, First: was.ID, Then: c.ID,
					Was: short(wire.Plain(was.Result), mostValue), Is: short(wire.Plain(c.Result), mostValue)})
			}
			before[c.key] = c
		}
	}
}

// equal reports whether two results are equal as JSON.
func equal(a, b json.RawMessage) bool {
	if wire.Equal(a, b) {
		return true
	}
	var x, y any
	return json.Unmarshal(a, &x) == nil && json.Unmarshal(b, &y) == nil && reflect.DeepEqual(x, y)
}

// changes reports whether a call may have changed something: it may have run,
// and its tool is not declared read-only.
func (c *step) changes() bool {
	return c.Effect != pawl.Read && (c.Ran || c.Attempt > 0 || c.By != "")
}

func (t *trace) graph() Graph {
	g := Graph{Nodes: []Node{}, Edges: []Edge{}, Cycles: t.cycles, Contradictions: t.contra}
	part := map[string]bool{}
	for at, values := range t.edges {
		g.Edges = append(g.Edges, Edge{at[0], at[1], values})
		part[at[0]], part[at[1]] = true, true
	}
	for _, c := range t.cycles {
		for _, id := range c.Calls {
			part[id] = true
		}
	}
	for _, c := range t.contra {
		part[c.First], part[c.Then] = true, true
	}
	order := map[string]int{}
	for _, batch := range t.batches {
		for _, c := range batch {
			order[c.ID] = len(order)
			if part[c.ID] {
				g.Nodes = append(g.Nodes, Node{c.ID, c.Tool, c.Iteration})
			}
		}
	}
	if order[Answer] = len(order); part[Answer] {
		g.Nodes = append(g.Nodes, Node{ID: Answer})
	}
	slices.SortFunc(g.Edges, func(a, b Edge) int {
		return cmp.Or(cmp.Compare(order[a.From], order[b.From]), cmp.Compare(order[a.To], order[b.To]))
	})
	return g
}
