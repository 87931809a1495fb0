package workflow

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/internal/display"
)

// A mark says where a node stands in a run.
type mark struct {
	round   int    // how often it has begun
	begun   uint64 // the entry that began it last; zero: none did
	at      uint64 // the entry that it was decided on last: that one, or the one after which it was left out
	running bool
	done    bool // it ran, and went well
	out     bool // it was left out: no edge into it can be taken
	err     string
}

// What an edge is to the node that it leads to.
const (
	open  = iota // not known yet
	stale        // it was taken before the node last ran
	taken
	dead // it cannot be taken any more
)

// plan is what a graph has come to.
type plan struct {
	*walk
	g     *graph
	marks map[*vertex]*mark
	holds map[*arc]bool // whether conditions hold
	news  []pawl.Event  // notes of those that were evaluated now
	err   error         // the first that could not be
	where string        // the node it leads to
}

// decided is the note of whether an edge with a condition was taken when the node that
// it comes from was over. Later, the values in the condition may be others.
type decided struct {
	Round int  `json:"round"` // of that node; zero: the beginning
	Taken bool `json:"taken"`
}

// survey reads where the nodes stand, and leaves out those that no edge can lead to.
func (w *walk) survey() *plan {
	p := &plan{walk: w, g: w.loop.graph, marks: map[*vertex]*mark{}, holds: map[*arc]bool{}}
	for _, v := range p.g.nodes {
		m := &mark{}
		p.marks[v] = m
		st, ok := w.s.Step(v.ID)
		if !ok {
			continue
		}
		m.begun, m.at, m.round = st.Seq, st.Seq, roundOf(st.Label)
		switch {
		case !st.Done:
			m.running = true
		case st.OK:
			m.done = true
		default:
			m.err = cmp.Or(st.Error, "it has no result")
		}
	}
	for again := true; again; {
		again = false
		for _, v := range p.g.nodes {
			m, at := p.marks[v], uint64(0)
			for _, a := range v.in {
				if a.from != nil {
					at = max(at, p.marks[a.from].at)
				}
			}
			if p.missed(v) && (at > m.at || m.begun == 0 && !m.out) {
				m.out, m.done, m.err, m.at = true, false, "", at
				again = true
			}
		}
	}
	return p
}

// edge returns what an edge is to the node that it leads to.
func (p *plan) edge(a *arc) int {
	to := p.marks[a.to]
	if a.from == nil {
		if to.begun > 0 {
			return stale
		}
		return p.condition(a)
	}
	from := p.marks[a.from]
	switch {
	case from.running || !from.done && !from.out && from.err == "":
		return open
	case from.at < to.begun:
		return stale
	case slices.ContainsFunc(a.to.races, func(j *vertex) bool { return from.at < p.marks[j].begun }):
		return stale // the race is over
	case !from.done || p.unfit(a):
		return dead
	}
	return p.condition(a)
}

// unfit reports whether an edge leads from a node that was skipped into one that others can lead
// to as well: what did not run wins no race.
func (p *plan) unfit(a *arc) bool {
	if !a.to.join.race() || int(a.to.join) == len(a.to.in) {
		return false
	}
	if of := a.from; of.arms == nil || of.arms[0].loop.root.nodes[0].when == nil {
		return false // it has no condition, so its null is an output
	}
	out, err := p.outputOf(a.from.ID)
	return out == nil && err == nil
}

// condition returns taken or dead. It is decided once in a round of the node that the
// edge comes from.
func (p *plan) condition(a *arc) int {
	holds, known := p.holds[a]
	if !known {
		holds = p.decide(a)
		p.holds[a] = holds
	}
	if holds {
		return taken
	}
	return dead
}

func (p *plan) decide(a *arc) bool {
	if a.when == nil {
		return true
	}
	now := decided{}
	name := " -> " + a.to.ID
	if a.from != nil {
		name, now.Round = a.from.ID+name, p.marks[a.from].round
	}
	if note, ok := p.s.Note(by, name); ok {
		var was decided
		if json.Unmarshal(note, &was) == nil && was.Round == now.Round {
			return was.Taken
		}
	}
	var err error
	if now.Taken, err = p.walk.holds(a.when); err != nil && p.err == nil {
		p.err, p.where = fmt.Errorf("the condition of the edge %s: %w", name, err), a.to.ID
	}
	value, err := json.Marshal(now)
	if err == nil {
		p.news = append(p.news, pawl.Noted{By: by, Name: name, Value: value})
	}
	return now.Taken
}

// count counts the edges into a node.
func (p *plan) count(v *vertex) (n [4]int) {
	for _, a := range v.in {
		n[p.edge(a)]++
	}
	return n
}

// ready reports whether a node is to run.
func (p *plan) ready(v *vertex) bool {
	m := p.marks[v]
	if m.running {
		return false
	}
	if len(v.in) == 0 {
		return m.begun == 0
	}
	n := p.count(v)
	if v.join == JoinAll {
		return n[taken] > 0 && n[open]+n[stale] == 0
	}
	return n[taken] >= max(1, int(v.join))
}

// beaten reports whether a node only leads to one that needs it no longer.
func (p *plan) beaten(v *vertex) bool {
	return slices.ContainsFunc(v.races, p.ready)
}

// missed reports whether too few edges into a node can be taken for it to run.
func (p *plan) missed(v *vertex) bool {
	n := p.count(v)
	return !p.marks[v].running && len(v.in) > 0 && n[open]+n[stale] == 0 && n[taken] < max(1, int(v.join))
}

// graph returns what to do next: run the nodes that are ready, or end.
func (w *walk) graph() pawl.Step {
	p := w.survey()
	var ready []*vertex
	var lost pawl.Step
	for _, v := range p.g.nodes {
		if err := p.marks[v].err; err != "" && len(v.races) == 0 && lost == nil { // nothing can do without it
			lost = failed(v.ID, err)
		}
		if p.ready(v) && !p.beaten(v) {
			ready = append(ready, v)
		}
	}
	if p.err != nil {
		return failed(p.where, p.err.Error())
	}
	if lost != nil {
		return lost
	}
	if p.news != nil {
		return pawl.Record{Events: p.news}
	}
	if ready == nil {
		return p.over()
	}
	act := pawl.Act{}
	for _, v := range ready {
		round := p.marks[v].round + 1
		if most := w.s.Limits().Rounds; most > 0 && round > most {
			return p.exhausted(v, most)
		}
		c, err := p.begin(v, round)
		if err != nil {
			return failed(v.ID, err.Error())
		}
		act.Calls = append(act.Calls, c)
	}
	return act
}

// begin returns the call that a node is.
func (p *plan) begin(v *vertex, round int) (pawl.Classified, error) {
	label := join(v.ID, []int{round})
	var err error
	if p.joined, err = p.outputsInto(v); err != nil {
		return pawl.Classified{}, err
	}
	if v.arms == nil {
		return p.call(v.node, label)
	}
	told, err := p.tell(v.arms[0])
	if err != nil {
		return pawl.Classified{}, err
	}
	told[roundKey] = round
	return call(v.arms[0].tool, told, label)
}

// over ends a run in which no node can run any more.
func (p *plan) over() pawl.Step {
	for _, v := range p.g.nodes {
		n := p.count(v)
		if p.missed(v) {
			if err := p.loser(v); err != "" {
				return failed(v.ID, fmt.Sprintf("join %v, and %d of the %d edges into it were taken; %s", v.join, n[taken], len(v.in), err))
			}
		} else if n[taken] > 0 && !p.beaten(v) {
			var waits []string
			for _, a := range v.in {
				if e := p.edge(a); a.from != nil && (e == open || e == stale) {
					waits = append(waits, a.from.ID)
				}
			}
			return failed(v.ID, fmt.Sprintf("join %v: it waits for %s, and nothing leads there any more", v.join, strings.Join(waits, ", ")))
		}
	}
	value, err := p.latest()
	if err != nil {
		return failed("", err.Error())
	}
	return p.end(value, "no node of the graph is left to run")
}

// loser returns the failure of a node that only leads to one that could have done
// without it.
func (p *plan) loser(v *vertex) string {
	for _, u := range p.g.nodes {
		if m := p.marks[u]; m.err != "" && slices.Contains(u.races, v) && m.at >= p.marks[v].begun {
			return u.ID + ": " + m.err
		}
	}
	return ""
}

// latest returns the output of the node that ran last.
func (p *plan) latest() (any, error) {
	var last *vertex
	for _, v := range p.g.nodes {
		if m := p.marks[v]; m.begun > 0 && (m.done || m.out) && (last == nil || m.begun >= p.marks[last].begun) {
			last = v
		}
	}
	if last == nil {
		return nil, nil
	}
	return p.outputOf(last.ID)
}

// exhausted ends a run whose node v would run too often, with what is known.
func (p *plan) exhausted(v *vertex, most int) pawl.Step {
	value, err := p.latest()
	if err != nil {
		return failed("", err.Error())
	}
	answer, err := asText(value)
	if err != nil {
		return failed("", err.Error())
	}
	leaf := fmt.Sprintf("rounds >= %d", most)
	return pawl.Finish{Answer: answer, Verdict: pawl.Verdict{Holds: true, Status: pawl.StatusExhausted, Condition: leaf, Leaf: leaf,
		Detail: fmt.Sprintf("node %s has run %s and would run again", v.ID, display.Count(most, "time"))}}
}

// Dropped returns the open calls that are no longer needed, because a join is
// decided. The machine refuses them, and the engine stops those that run.
func (l *Loop) Dropped(s *pawl.State) (calls []string) {
	if l.graph == nil || !slices.ContainsFunc(l.graph.nodes, func(v *vertex) bool { return len(v.races) > 0 }) {
		return nil
	}
	w := &walk{data: data{loop: l, s: s}}
	p := w.survey()
	for c := range s.Open() {
		name, _ := split(c.Step)
		if v := l.graph.byID[name]; v != nil && c.Phase != pawl.PhaseAnswered && p.beaten(v) {
			calls = append(calls, c.ID)
		}
	}
	return calls
}

// roundKey is where the child run that is a node of a graph finds its round.
const roundKey = "round"

// outerRounds returns the round of the node that this run is, if it is one.
func (w *walk) outerRounds() []int {
	if w.loop.root.loops == 0 {
		return nil
	}
	told, err := w.outside()
	if err != nil {
		return []int{1}
	}
	text, _ := told[roundKey].(json.Number)
	round, _ := strconv.Atoi(text.String())
	return []int{max(1, round)}
}

func roundOf(label string) int {
	if _, rounds := split(label); len(rounds) == 1 {
		return rounds[0]
	}
	return 0
}

// outputsInto returns the outputs of the nodes whose edges into v were taken.
func (p *plan) outputsInto(v *vertex) (any, error) {
	list := []any{}
	for _, a := range v.in {
		if a.from == nil || p.edge(a) != taken {
			continue
		}
		out, err := p.outputOf(a.from.ID)
		if err != nil {
			return nil, err
		}
		list = append(list, out)
	}
	return list, nil
}
