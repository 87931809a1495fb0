package spec

import (
	"cmp"
	"errors"
	"maps"
	"slices"
	"strings"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/approval"
	"github.com/pawl-run/pawl/stop"
	"github.com/pawl-run/pawl/team"
	"github.com/pawl-run/pawl/tool"
	"github.com/pawl-run/pawl/tool/agentsmd"
	"github.com/pawl-run/pawl/tool/skill"
	"github.com/pawl-run/pawl/window"
)

// Agent creates the agent with a model from the registry. The error is
// [Problems]: the model is unknown or has no price, or it conflicts with the
// rest of the spec.
//
// Agent connects to no server. If the spec names MCP servers, the agent can be
// inspected but not run; use [Spec.Open].
func (s *Spec) Agent(r *Registry) (pawl.Agent, error) {
	r = cmp.Or(r, &Registry{})
	a, problems := s.assemble(r, nil, nil)
	if err := problems.err(); err != nil {
		return pawl.Agent{}, err
	}
	return a, nil
}

// assemble creates the agent and checks it. Without a registry the model is a
// placeholder; a sub-agent without a model has its caller's. An agent is assembled in a team, of
// which it is the first without one.
func (s *Spec) assemble(r *Registry, caller pawl.Model, all crew) (pawl.Agent, Problems) {
	first := all == nil
	if first {
		all = newCrew(s)
	}
	d := &document{}
	a := pawl.Agent{
		Name: s.Name, Version: s.Version, Description: s.Description, Prompt: s.Prompt, Labels: s.Labels,
		Loop: s.loop, Limits: s.Limits.Merge(s.opt.Limits), Output: s.Output, Sampling: s.Model.Sampling,
		Serial: s.Serial, MaxParallel: s.MaxParallel, Builtins: s.Builtins, Notices: s.Notices, Trace: s.Trace, ResultKey: s.resultKey,
		Approvals: s.Approvals.Approvals, Strategy: s.Strategy,
	}
	a.Tools = s.made(ofCommand, ofProgram, ofProvider)
	if m := s.Memory; m != nil {
		a.Tools = append(a.Tools, tool.Memory(m)...)
	}
	a.Tools = append(a.Tools, s.remoteTools(r)...)
	a.Trust = s.labelled(a.Tools)
	if len(s.skills) > 0 {
		a.Prompt = strings.TrimLeft(strings.TrimRight(a.Prompt, "\n")+"\n\n"+skill.Prompt(s.skills...), "\n")
		a.Tools = append(a.Tools, s.asDeclared(r, s.reads))
	}
	if s.Context != nil {
		a.Prompt += window.Pin(s.Context.Pins...)
	}
	a = s.notes.On(a)
	s.policies(&a)
	if s.Observe != nil {
		a.Observer = s.command(s.Observe.Command).observe
	}
	if s.Instruct != nil {
		a.Instruct = s.command(s.Instruct.Command).instruct
	}
	a.Model = s.makeModel(d, r, caller, &a.Limits)
	if r != nil {
		for _, n := range s.fallbacks() {
			a.Fallback = append(a.Fallback, s.make(d, r, n, s.base, &a.Limits))
		}
	}
	for _, e := range s.entries {
		if e.agent == nil {
			continue
		}
		t, problems := e.agent.tool(r, a.Model)
		if e.agent.spec.outside() {
			t = s.asDeclared(r, t)
		}
		a.Tools, d.problems = append(a.Tools, t), append(d.problems, problems...)
	}
	if s.Board {
		a = team.Board(a)
	}
	a.Tools = slices.Concat(a.Tools, s.made(ofServer), s.handOvers(all))
	if s.ToolSearch != nil {
		a.Core = s.core(a.Tools)
	}
	if first {
		for _, path := range slices.Sorted(maps.Keys(s.team)) { // those without a model use the first's
			mate, problems := s.team[path].assemble(r, a.Model, all)
			*all[path], d.problems = mate, append(d.problems, problems...)
		}
	}
	s.judge(d, r, &a)
	s.runs(d, r, &a)
	a.Source = s.record(r)
	s.conditions(d, &a)
	s.contradictions(d, a)
	s.checkCage(d, a)
	s.unhosted(d, a)
	if first { // the others are checked with it, when the team is whole
		*all[s.family.path()] = a
		if len(s.doc.problems) == 0 && len(d.problems) == 0 {
			s.rest(d, a)
		}
	}
	return a, d.problems
}

// core names the tools that the model is shown from the start: besides
// those of the spec, the tools that other keys than tools add.
func (s *Spec) core(tools []pawl.Tool) []string {
	core := append([]string{}, s.ToolSearch.Core...)
	for _, t := range tools {
		info := t.Info()
		if info.Name == approval.PlanTool || info.Name == agentsmd.ToolName || team.IsBoardTool(info) || strings.HasPrefix(info.Name, "handoff_to_") ||
			s.reads != nil && info.Name == s.reads.Info().Name {
			core = append(core, info.Name)
		}
	}
	return core
}

// conditions parses the stop condition and the goal's, and checks them against
// the completed agent.
func (s *Spec) conditions(d *document, a *pawl.Agent) {
	var success *node
	if s.Goal != nil {
		a.Goal = &pawl.Goal{Metric: s.command(s.Goal.Metric.Command).measure}
		success = s.Goal.n.get("success")
		a.Goal.Success = d.condition("success", success, s.opt.Registry)
	}
	a.Stop = d.condition("stop", s.stop, s.opt.Registry)
	if a.Goal != nil {
		d.hold("success", success, a.Goal.Success, *a)
	}
	d.hold("stop", s.stop, a.Stop, *a)
	s.checkGates(d, *a)
}

// condition parses a condition; nil: there is none, or it cannot be read.
func (d *document) condition(what string, n *node, r *Registry) pawl.Condition {
	if n == nil || n.kind != text {
		return nil
	}
	c, err := stop.Parse(n.text, &stop.Options{When: r.program().When})
	if err != nil {
		d.expression(what, n, err)
		return nil
	}
	return c
}

func (d *document) hold(what string, n *node, c pawl.Condition, a pawl.Agent) {
	if err := objection(c, a); err != nil {
		d.expression(what, n, err)
	}
}

// objection returns what a condition, a policy or a tool has against an agent.
func objection(of any, a pawl.Agent) error {
	if c, ok := of.(pawl.Checker); ok {
		return c.Check(a)
	}
	return nil
}

// contradictions reports what the machine would refuse, at its place in the
// file.
func (s *Spec) contradictions(d *document, a pawl.Agent) {
	_, single := a.Loop.(pawl.SingleCall)
	idle := func(says string, keys ...string) {
		for _, key := range keys {
			n := s.n.get(key)
			if n != nil && n.text != "false" && n.text != "native" && (n.kind != list || len(n.items) > 0) {
				d.problem(n, "%s %s, or write loop: react)", key, says)
			}
		}
	}
	if single {
		idle("is for calls of tools, and loop single makes none (leave it out", "tools", "builtins", "strategy")
	}
	if single || s.flow != nil {
		idle("is for an agent that chooses its calls (leave it out", "plan", "tool_search", "handoffs")
	}
	if s.Serial && s.MaxParallel > 1 {
		d.problem(s.at("max_parallel"), "max_parallel is %d, but with parallel: false one call runs at a time (leave one of them out)", s.MaxParallel)
	}
}

// rest reports the machine's other objections, at the key that the message
// names.
func (s *Spec) rest(d *document, a pawl.Agent) {
	_, err := pawl.NewMachine(a)
	if err == nil {
		return
	}
	for _, e := range parts(errors.Unwrap(err)) {
		message := e.Error()
		key, _, _ := strings.Cut(message, ":")
		key, _, _ = strings.Cut(key, " ")
		keys, known := map[string][]string{
			"agent": {"name"}, "tool": {"tools"}, "sampling": {"model"}, "policies": {"no_progress"}, "core": {"tool_search", "core"},
		}[key]
		if !known {
			keys = []string{key}
		}
		if strings.HasPrefix(message, `tool "handoff_to_`) {
			keys = []string{"handoffs"}
		}
		if what, board := strings.CutPrefix(message, `tool "board_add": `); board {
			key, keys, message = "board", []string{"board"}, what
		}
		if key == "limits" && s.opt.Limits != (pawl.Limits{}) || key == "model" && s.opt.Model != "" {
			message = strings.TrimPrefix(message, key+": ")
			d.problem(option(key, ""), "%s", message)
			continue
		}
		d.problem(s.at(keys...), "%s", message)
	}
}
