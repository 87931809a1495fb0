package spec

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/approval"
	"github.com/pawl-run/pawl/internal/display"
	"github.com/pawl-run/pawl/internal/redact"
	"github.com/pawl-run/pawl/stop"
	"github.com/pawl-run/pawl/team"
)

// An Effective is the agent of a run in the form of a spec. It is immutable.
type Effective struct {
	root  *node
	notes []string // parts that a spec cannot express
}

// Of returns the agent of a run as a spec: the declaration in the log, with the
// model, the stop condition, the limits and the labels in force. For a run of a
// spec it adds what only the spec contains, such as the programs of tools.
// Paths are absolute, so the result can be kept anywhere. Apparent secrets are
// removed. An agent without a model of its own has that of its callers, the runs that
// lead to this one, outermost first.
func Of(s *pawl.State, callers ...*pawl.State) Effective {
	d := s.Declaration()
	e := Effective{root: &node{kind: mapping}}
	origin, model := madeFrom(d)
	for _, caller := range slices.Backward(callers) {
		if model == "" {
			_, model = madeFrom(caller.Declaration())
		}
	}
	if origin != nil {
		e.root = origin.effective()
	} else {
		e.declared(d)
	}
	e.set("model", e.model(d, origin, model))
	if rec, ok := recordOf(d.Source); ok && rec.Prompt != "" {
		e.set("prompt", textNode(rec.Prompt))
	}
	e.root.drop("stop")
	if source := s.StopSource(); source != "" {
		if _, err := stop.Parse(source, nil); err != nil {
			e.note("stop: %s", source)
		} else {
			e.set("stop", textNode(source))
		}
	}
	e.set("limits", limitsNode(s.Limits()))
	e.root.drop("labels")
	if start, _ := s.Start(); len(start.Labels) > 0 {
		labels := &node{kind: mapping}
		for _, name := range slices.Sorted(maps.Keys(start.Labels)) {
			labels.put(name, textNode(start.Labels[name]))
		}
		e.set("labels", labels)
	}
	if d.ResultKey != "" {
		e.note("the answer is @%s in the result's context", d.ResultKey)
	}
	for _, p := range d.Policies {
		e.note("policy: %s", p)
	}
	for range d.PoliciesOf("plan") {
		e.set("plan", yes())
	}
	for range d.PoliciesOf("board") {
		e.set("board", yes())
	}
	slices.SortStableFunc(e.root.pairs, func(a, b pair) int {
		names := specKeys.names()
		return slices.Index(names, a.key) - slices.Index(names, b.key)
	})
	e.root = e.root.mapTexts(redact.Text)
	return e
}

// String returns the spec as YAML. Parts that a spec cannot express, such as Go
// functions and policies, are comments.
func (e Effective) String() string {
	var b strings.Builder
	for _, note := range e.notes {
		fmt.Fprintf(&b, "# %s\n", strings.ReplaceAll(redact.Text(note), "\n", "\n#   "))
	}
	e.root.yaml(&b, "")
	return b.String()
}

// MarshalJSON returns the spec without the comments.
func (e Effective) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	e.root.json(&b)
	return b.Bytes(), nil
}

func (e *Effective) note(format string, args ...any) {
	e.notes = append(e.notes, fmt.Sprintf(format, args...))
}

func (e *Effective) set(key string, value *node) {
	e.root.drop(key)
	if value != nil {
		e.root.put(key, value)
	}
}

// madeFrom returns the spec that a run's agent came from, and the model that it, or else the
// first agent of its team, names. A file in it is absolute.
func madeFrom(d pawl.Declaration) (origin *Spec, model string) {
	first := originOf(d.Source)
	if first == nil {
		return nil, ""
	}
	origin = first
	if first.Name != d.Agent { // the run is a leg of another agent
		for _, mate := range first.mates() {
			if mate.Name == d.Agent {
				origin = mate
			}
		}
	}
	return origin, cmp.Or(origin.ModelName(nil), first.ModelName(nil))
}

// model returns the model with its parameters.
func (e *Effective) model(d pawl.Declaration, origin *Spec, said string) *node {
	m := &node{kind: mapping}
	name := d.Model.Name
	if origin != nil {
		name = cmp.Or(said, name)
	}
	if origin != nil && origin.asksNobody() && name == describe(standIn{}).Name {
		return nil // a workflow without a model
	}
	if file, ok := strings.CutPrefix(name, scriptProvider+"/"); ok && said == "" {
		e.note("model: %s, a script named %s that stood somewhere", name, file)
	} else if !strings.Contains(name, "/") && !strings.Contains(name, ":") && name != mechanic && origin == nil {
		e.note("model: %s, of the program", name)
	} else {
		m.put("name", textNode(name))
	}
	if t := d.Sampling.Temperature; t != 0 {
		m.put("temperature", numberNode(max(t, 0)))
	}
	m.count("max_tokens", d.Sampling.MaxTokens)
	if e := d.Sampling.Effort; e != "" {
		m.put("effort", textNode(e))
	}
	if c := d.Sampling.Cache; c != "" {
		m.put("cache", textNode(c))
	}
	if len(d.Sampling.Options) > 0 {
		e.note("model: with options of the provider's own: %s", strings.Join(slices.Sorted(maps.Keys(d.Sampling.Options)), ", "))
	}
	if len(d.Fallback) > 0 {
		m.put("fallback", e.fallback(d, origin))
	}
	switch {
	case len(m.pairs) == 0:
		return nil
	case len(m.pairs) == 1 && m.pairs[0].key == "name":
		return m.pairs[0].value
	}
	return m
}

func (e *Effective) fallback(d pawl.Declaration, origin *Spec) *node {
	all := &node{kind: list}
	for i, m := range d.Fallback {
		name := m.Name
		if origin != nil && i < len(origin.model.fallback) {
			name = scriptIn(origin.model.fallback[i].name, origin.base)
		}
		all.items = append(all.items, textNode(name))
	}
	return all
}

// declared adds what the log declares about an agent created by a Go program.
func (e *Effective) declared(d pawl.Declaration) {
	e.set("name", textNode(d.Agent))
	e.root.said("version", d.Version)
	e.root.said("description", d.Description)
	e.root.said("prompt", d.Prompt)
	switch {
	case d.Loop == "react" || d.Loop == "single":
		e.set("loop", textNode(d.Loop))
	case d.Loop == "graph" && d.Steps != nil:
		e.set("loop", textNode(d.Loop))
		e.graph(jsonNode(d.Steps))
	case d.Loop == "workflow" && d.Steps != nil:
		e.set("loop", textNode(d.Loop))
		e.set("steps", jsonNode(d.Steps))
	default:
		e.note("loop: %s, of the program", d.Loop)
	}
	if d.Strategy == pawl.StrategyJSON {
		e.set("strategy", textNode("json"))
	}
	if d.Output != nil {
		e.set("output", jsonNode(d.Output))
	}
	e.root.flag("parallel", d.Serial, no())
	e.root.count("max_parallel", d.MaxParallel)
	e.root.flag("trace", d.Trace, yes())
	if a := d.Approvals; a != (pawl.Approvals{}) {
		n := &node{kind: mapping}
		if a.TTL > 0 {
			n.put("ttl", textNode(display.Duration(a.TTL)))
		}
		n.flag("on_deny", a.StopOnDeny, textNode("stop"))
		n.flag("observation", a.IgnoreObservation, no())
		e.set("approvals", n)
	}
	e.tools(d.Tools)
	for _, parameters := range d.PoliciesOf("data_flow") {
		var p struct{ Strict bool }
		_ = json.Unmarshal(parameters, &p)
		flow := &node{kind: mapping}
		flow.flag("data_flow", !p.Strict, yes())
		flow.flag("data_flow", p.Strict, textNode("strict"))
		e.set("guard", flow)
	}
	switch {
	case d.Goal != "":
		e.note("goal: success %s, measured by the program", d.Goal)
	case d.Observes:
		e.note("observe: the program looks at the world")
	}
}

// graph adds the nodes and edges of a graph.
func (e *Effective) graph(declared *node) {
	nodes := &node{kind: mapping}
	for _, item := range declared.get("nodes").items {
		id := item.get("id").text
		item.drop("id")
		nodes.put(id, item)
	}
	e.set("nodes", nodes)
	e.set("edges", declared.get("edges"))
}

// tools adds the tools that a spec can express; the others are Go functions.
func (e *Effective) tools(declared []pawl.ToolInfo) {
	core, search := &node{kind: list}, &node{kind: mapping}
	search.put("core", core)
	all, own := &node{kind: list}, map[pawl.Trust]*node{0: {kind: list}, pawl.Trusted: {kind: list}, pawl.Untrusted: {kind: list}}
	for _, t := range declared {
		if !t.Deferred && !strings.HasPrefix(t.Name, "__") && t.Name != "tool_search" {
			core.items = append(core.items, textNode(t.Name))
		}
		switch {
		case t.Name == "tool_search":
			e.set("tool_search", search)
		case strings.HasPrefix(t.Name, "__"):
			if t.Name != "__complete__" {
				e.set("builtins", yes())
			}
		case memoryOf(t) != nil:
			e.set("memory", memoryOf(t))
		case t.Name == approval.PlanTool, team.IsBoardTool(t): // plan and board add them
		case t.Hosted != (pawl.Usage{}):
			all.items = append(all.items, hostedNode(t))
		case t.Client:
			all.items = append(all.items, clientNode(t))
		case isOwn(t):
			label := max(t.Trust, pawl.Trusted)
			if label == max(ownTools[t.Name](&Spec{dir: "."}).Info().Trust, pawl.Trusted) {
				label = 0 // the tool's own default
			}
			own[label].items = append(own[label].items, textNode(t.Name))
		default:
			e.note("tool: %s, of the program", t.Name)
		}
	}
	for label := range pawl.Untrusted + 1 {
		if len(own[label].items) == 0 {
			continue
		}
		n := &node{kind: mapping}
		if n.put("builtin", own[label]); label > 0 {
			n.put("trust", textNode(label.String()))
		}
		all.items = append(all.items, n)
	}
	if len(all.items) > 0 {
		e.set("tools", all)
	}
}

// isOwn reports whether a tool is built into Pawl.
func isOwn(t pawl.ToolInfo) bool {
	make, ok := ownTools[t.Name]
	if !ok {
		return false
	}
	info := make(&Spec{dir: "."}).Info()
	return info.Description == t.Description && bytes.Equal(info.Input, t.Input)
}

// clientNode is the entry of a tool that the client of a run executes.
func clientNode(t pawl.ToolInfo) *node {
	n := &node{kind: mapping}
	n.put("name", textNode(t.Name))
	n.put("description", textNode(t.Description))
	n.put("client", yes())
	if t.Input != nil {
		n.put("input", jsonNode(t.Input))
	}
	n.put("effect", textNode(t.Effect.String()))
	n.flag("stuck", t.Exempt, textNode("exempt"))
	n.flag("trust", t.Trust == pawl.Untrusted, textNode(t.Trust.String()))
	n.words("reaches", t.Reaches)
	n.words("content", t.Content)
	return n
}

func limitsNode(l pawl.Limits) *node {
	n := &node{kind: mapping}
	n.put("iterations", numberNode(l.Iterations))
	n.put("tokens", numberNode(l.Tokens))
	n.put("time", textNode(display.Duration(l.Time)))
	if l.Cost > 0 {
		n.put("cost", numberNode(l.Cost))
	}
	n.put("tool_errors", numberNode(l.ToolErrors))
	n.put("depth", numberNode(l.Depth))
	n.put("margin", numberNode(l.Margin))
	n.count("handoffs", l.Handoffs)
	n.count("rounds", l.Rounds)
	return n
}

func yes() *node { return &node{kind: boolean, text: "true"} }
func no() *node  { return &node{kind: boolean, text: "false"} }

func textNode(s string) *node { return &node{kind: text, text: s} }

func numberNode[T int | float64](v T) *node {
	return &node{kind: number, text: strconv.FormatFloat(float64(v), 'f', -1, 64)}
}

func jsonNode(raw json.RawMessage) *node {
	_, n := readDocument("value.json", string(raw))
	return n
}

func (n *node) put(key string, value *node) { n.pairs = append(n.pairs, pair{key: key, value: value}) }

// said, count and flag put what is not left out: a text, a number, and a value that a
// flag stands for.
func (n *node) said(key, s string)      { n.flag(key, s != "", textNode(s)) }
func (n *node) count(key string, v int) { n.flag(key, v != 0, numberNode(v)) }
func (n *node) flag(key string, on bool, value *node) {
	if on {
		n.put(key, value)
	}
}

// mapTexts returns a copy of the node with its texts changed.
func (n *node) mapTexts(change func(string) string) *node {
	if n == nil {
		return nil
	}
	c := &node{kind: n.kind, text: n.text}
	if n.kind == text {
		c.text = change(n.text)
	}
	for _, p := range n.pairs {
		c.put(p.key, p.value.mapTexts(change))
	}
	for _, item := range n.items {
		c.items = append(c.items, item.mapTexts(change))
	}
	return c
}

func (n *node) words(key string, words []string) {
	all := &node{kind: list}
	for _, word := range words {
		all.items = append(all.items, textNode(word))
	}
	n.flag(key, len(words) > 0, all)
}
