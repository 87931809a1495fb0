package workflow

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/pawl-run/pawl"
)

// The steps that make one answer of several: Vote, Rank, Merge and Refine.

const (
	usualAnswers = 3
	usualRefines = 3
)

// The parts of a Refine.
func draftOf(id string) string { return id + "-draft" }
func judgeOf(id string) string { return id + "-judge" }

// judgement is the schema of what the judge of a Refine replies.
const judgement = `{"type":"object","properties":{"accepted":{"type":"boolean"},"feedback":{"type":"string"}},"required":["accepted"]}`

func (c *compiler) vote(n *node, s Vote) {
	n.width, n.more = cmp.Or(s.Answers, usualAnswers), true
	c.within(n.id, "answers", n.width, MaxWidth)
	before := len(c.loop.errs)
	n.arms = []*subflow{c.subflow(n.id, n.id, []Step{Single{ID: "answer", Prompt: s.Prompt, Output: s.Output}}, nil, "")}
	for _, err := range c.loop.errs[before:] {
		err.(*Error).Step = n.id // its question is the step's
	}
}

// list compiles a question about the items of a list.
func (c *compiler) list(n *node, in, prompt string, output json.RawMessage) {
	n.on = c.expression(n.id, "in", in)
	c.question(n, "prompt", prompt, output)
}

func (c *compiler) refine(n *node, s Refine) {
	n.max = cmp.Or(s.Max, usualRefines)
	c.within(n.id, "max", n.max, MaxRounds)
	n.do = &block{of: n}
	c.seen[n.id] = true // what it asks may refer to its own rounds
	for i, q := range []struct {
		id, key, prompt string
		output          json.RawMessage
	}{{draftOf(n.id), "prompt", s.Prompt, s.Output}, {judgeOf(n.id), "judge", s.Judge, json.RawMessage(judgement)}} {
		part := &node{Step: Single{ID: q.id}, id: n.id, in: n.do, at: i}
		c.question(part, q.key, q.prompt, q.output)
		part.id = q.id
		c.seen[q.id], c.loop.nodes[q.id] = true, part
		n.do.nodes = append(n.do.nodes, part)
	}
}

// members returns how many branches or answers a step has.
func (n *node) members() int {
	if _, votes := n.Step.(Vote); votes {
		return n.width
	}
	return len(n.arms)
}

// compose adds to a prompt what it is about.
func (w *walk) compose(n *node, prompt string, rounds []int) (string, error) {
	switch n.Step.(type) {
	case Rank, Merge:
		items, err := w.items(n)
		if err != nil {
			return "", err
		}
		for i, item := range items {
			text, err := asText(item)
			if err != nil {
				return "", err
			}
			prompt += fmt.Sprintf("\n\n%d. %s", i+1, text)
		}
		return prompt, nil
	}
	of := n.in.of
	if of == nil {
		return prompt, nil
	}
	if _, refines := of.Step.(Refine); !refines || n.at == 0 && rounds[len(rounds)-1] < 2 {
		return prompt, nil
	}
	draft, err := w.outputOf(draftOf(of.id))
	if err != nil {
		return "", err
	}
	text, err := asText(draft)
	if err != nil || n.at == 1 {
		return prompt + "\n\n" + text, err
	}
	_, feedback := w.judged(of)
	return prompt + "\n\nYour last answer was:\n\n" + text + "\n\nIt was not accepted:\n\n" + feedback, nil
}

// items returns the list that a step is about.
func (d *data) items(n *node) ([]any, error) {
	v, err := d.eval(n.on)
	if err != nil {
		return nil, err
	}
	list, ok := v.([]any)
	switch {
	case !ok:
		return nil, fmt.Errorf("in: %s is no list", n.on)
	case len(list) == 0:
		return nil, fmt.Errorf("in: %s is empty", n.on)
	}
	return list, nil
}

// again reports whether a loop goes on after a round.
func (w *walk) again(n *node, round int) (bool, error) {
	if _, refines := n.Step.(Refine); refines {
		return round == 0 || !w.accepted(n), nil
	}
	holds, err := w.holds(n.on)
	if err != nil {
		err = fmt.Errorf("while: %w", err)
	}
	return holds, err
}

// accepted reports whether the latest answer of a Refine was accepted.
func (d *data) accepted(n *node) bool {
	accepted, _ := d.judged(n)
	return accepted
}

func (d *data) judged(n *node) (accepted bool, feedback string) {
	v, err := d.outputOf(judgeOf(n.id))
	m, _ := v.(map[string]any)
	if err != nil || m == nil {
		return false, ""
	}
	accepted, _ = m["accepted"].(bool)
	feedback, _ = m["feedback"].(string)
	return accepted, feedback
}

// ranking is the note of what a Rank orders: later, the list may be another.
type ranking struct {
	Step  string `json:"step"` // its label
	Items []any  `json:"items"`
}

// candidates notes what a Rank orders; nil: it has.
func (w *walk) candidates(n *node, rounds []int) pawl.Step {
	label := join(n.id, rounds)
	if w.ranked(n, label) != nil {
		return nil
	}
	items, err := w.items(n)
	if err != nil {
		return failed(n.id, err.Error())
	}
	raw, err := json.Marshal(ranking{label, items})
	if err != nil {
		return failed(n.id, err.Error())
	}
	return pawl.Record{Events: []pawl.Event{pawl.Noted{By: by, Name: n.id, Value: raw}}}
}

// ranked returns what the Rank with a label orders; nil: it has not begun.
func (d *data) ranked(n *node, label string) []any {
	var r ranking
	note, _ := d.s.Note(by, n.id)
	if decode(note, &r) != nil || r.Step != label {
		return nil
	}
	return r.Items
}

// orderOf is the schema of an order of so many items.
func orderOf(items int) string {
	return fmt.Sprintf(`{"type":"array","description":"The numbers of the items, best first.","items":{"type":"integer","minimum":1,"maximum":%d},"minItems":%d,"maxItems":%d,"uniqueItems":true}`, items, items, items)
}

// ordered returns the items of a Rank in the order that the model gave.
func (d *data) ordered(n *node, label string, order any) any {
	items := d.ranked(n, label)
	list := []any{}
	numbers, _ := order.([]any)
	for _, v := range numbers {
		number, _ := v.(json.Number)
		if i, err := number.Int64(); err == nil && i >= 1 && i <= int64(len(items)) {
			list = append(list, items[i-1])
		}
	}
	return list
}

// tally returns the answer that most have given, and how many.
func tally(many map[string]any) (winner, votes any) {
	outputs, _ := many["output"].([]any)
	errs, _ := many["errors"].([]any)
	counts, most := map[string]int{}, 0
	for i, v := range outputs {
		if text, err := encode(v); err == nil && errs[i] == nil {
			counts[text]++
			most = max(most, counts[text])
		}
	}
	for i, v := range outputs {
		if text, err := encode(v); err == nil && errs[i] == nil && counts[text] == most {
			return v, json.Number(fmt.Sprint(most))
		}
	}
	return nil, nil
}

// undecided says why a Vote has no outcome.
func (w *walk) undecided(n *node) string {
	if _, votes := n.Step.(Vote); !votes {
		return ""
	}
	many, err := w.many(n)
	if err != nil {
		return err.Error()
	}
	if _, votes := tally(many); votes != nil {
		return ""
	}
	var why []string
	errs, _ := many["errors"].([]any)
	for _, e := range errs {
		if text, ok := e.(string); ok && !slices.Contains(why, text) {
			why = append(why, text)
		}
	}
	return "there is no answer: " + strings.Join(why, "; ")
}

// settled returns the open answers of a Vote that cannot change its outcome any more.
func (l *Loop) settled(s *pawl.State) (calls []string) {
	var n *node
	counts, pending := map[string]int{}, 0
	for c := range s.Open() {
		name, _ := split(c.Step)
		id, _ := memberOf(name)
		if n = l.nodes[id]; n == nil {
			return nil
		}
		if _, votes := n.Step.(Vote); !votes {
			return nil
		}
		switch {
		case c.Phase != pawl.PhaseAnswered:
			pending++
			calls = append(calls, c.ID)
		case c.OK():
			counts[string(c.Result)]++
		}
	}
	first, second := 0, 0
	for _, votes := range counts {
		if votes > first {
			first, second = votes, first
		} else if votes > second {
			second = votes
		}
	}
	if first-second <= pending {
		return nil
	}
	return calls
}

// Voting returns the agent with a vote as its loop: the model is asked the input several times
// at once, without tools, and the most frequent answer is the run's answer; see [Vote]. Zero
// answers mean 3.
func Voting(agent pawl.Agent, answers int) pawl.Agent {
	own := len(agent.Tools)
	agent = New(agent, Vote{ID: "vote", Prompt: "{{input}}", Output: agent.Output, Answers: answers})
	if loop := agent.Loop.(*Loop); own > 0 || agent.Builtins {
		loop.errs = append(loop.errs, errors.New("loop vote: a vote calls no tools (leave them out, or use a workflow whose step before it calls them)"))
	}
	return agent
}
