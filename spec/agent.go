package spec

import (
	"errors"
	"slices"
	"strings"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/approval"
	"github.com/pawl-run/pawl/guard"
	"github.com/pawl-run/pawl/stop"
	"github.com/pawl-run/pawl/team"
	"github.com/pawl-run/pawl/tool"
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
	if r == nil {
		r = &Registry{}
	}
	a, problems := s.assemble(r, nil)
	if err := problems.sorted().asError(); err != nil {
		return pawl.Agent{}, err
	}
	return a, nil
}

// assemble creates the agent and checks it. Without a registry the model is a
// placeholder; a sub-agent without a model has its caller's.
func (s *Spec) assemble(r *Registry, caller pawl.Model) (pawl.Agent, Problems) {
	return s.assembleIn(r, caller, &crew{first: s, agents: map[string]*pawl.Agent{s.family.trail[len(s.family.trail)-1]: new(pawl.Agent)}})
}

// assembleIn is assemble for an agent of a team.
func (s *Spec) assembleIn(r *Registry, caller pawl.Model, all *crew) (pawl.Agent, Problems) {
	d := &document{text: s.doc.text, src: s.doc.src}
	a := pawl.Agent{
		Name: s.Name, Version: s.Version, Description: s.Description, Prompt: s.prompt, Labels: s.Labels,
		Loop: s.loop, Limits: s.limits.Merge(s.opt.Limits), Output: s.output, Sampling: s.model.sampling,
		Serial: s.serial, MaxParallel: s.maxParallel, Builtins: s.builtin, Trace: s.trace, ResultKey: s.resultKey,
	}
	if s.json {
		a.Strategy = pawl.StrategyJSON
	}
	for _, t := range s.tools {
		a.Tools = append(a.Tools, t.tool())
	}
	for _, name := range s.own {
		a.Tools = append(a.Tools, s.ownTool(name))
	}
	for i := range s.hosted {
		a.Tools = append(a.Tools, tool.Hosted(s.hosted[i].name, &s.hosted[i].options))
	}
	if s.memory != nil {
		a.Tools = append(a.Tools, tool.Memory(s.memory)...)
	}
	a.Tools = append(a.Tools, s.remoteTools()...)
	s.labelled(&a)
	if len(s.skills) > 0 {
		a.Prompt = strings.TrimLeft(strings.TrimRight(a.Prompt, "\n")+"\n\n"+skill.Prompt(s.skills...), "\n")
		a.Tools = append(a.Tools, s.asDeclared(s.reads))
		if slices.ContainsFunc(s.skills, func(k skill.Skill) bool { return k.Allowed != nil }) {
			a.Policies = append(a.Policies, skill.Policy(s.skills...))
		}
	}
	a.Prompt += window.Pin(s.pins...)
	if s.stuck != nil {
		a.Policies = append(a.Policies, *s.stuck)
	}
	s.policies(&a)
	if s.plan {
		a.Tools = append(a.Tools, approval.PresentPlan())
		a.Policies = append(a.Policies, approval.Plan())
	}
	a.Policies = append(a.Policies, s.registered...)
	if s.guard != nil {
		a.Policies = append(a.Policies, s.guard)
	}
	if s.dataFlow {
		a.Policies = append(a.Policies, guard.DataFlow(&guard.DataFlowOptions{Hosts: s.fetch.Allow, Strict: s.strictFlow}))
	}
	if s.observe != nil {
		a.Observer = observer{s.command(s.observe)}.Observe
	}
	a.Model = s.makeModel(d, r, caller, &a.Limits)
	a.Fallback = s.makeFallback(d, r, &a.Limits)
	for i := range s.agents {
		t, problems := s.agents[i].tool(r, a.Model)
		if s.agents[i].spec.outside() {
			t = s.asDeclared(t)
		}
		a.Tools, d.problems = append(a.Tools, t), append(d.problems, problems...)
	}
	if s.board {
		a = team.Board(a)
	}
	for _, r := range s.remotes {
		a.Tools = append(a.Tools, r.tool())
	}
	a.Tools = append(a.Tools, s.handOvers(all)...)
	a.Core = s.coreOf(&a)
	if all.first == s {
		all.caller = a.Model
		s.assembleTeam(r, d, all)
	}
	s.judge(d, r, &a)
	s.runs(d, r, &a)
	a.Source = s.record(r)
	s.conditions(d, &a)
	s.contradictions(d, a)
	s.checkCage(d, a)
	s.unhosted(d, a)
	if all.first == s { // the others are checked with it, when the team is whole
		*all.agents[s.family.trail[len(s.family.trail)-1]] = a
		if len(s.doc.problems) == 0 && len(d.problems) == 0 {
			s.rest(d, a)
		}
	}
	return a, d.problems
}

// conditions parses the stop condition and the goal's, and checks them against
// the completed agent.
func (s *Spec) conditions(d *document, a *pawl.Agent) {
	stopText, from := s.stop, d
	if s.opt.Stop != "" {
		from = &document{src: newSource("stop", "")} // has no lines: problems have the parser's column
		stopText = &node{kind: text, text: s.opt.Stop}
	}
	if s.goal != nil {
		a.Goal = &pawl.Goal{Metric: metric{s.command(s.goal.metric)}.Measure}
		if n := s.goal.success; n != nil {
			a.Goal.Success = d.condition("success", n, s.opt.Registry)
		}
	}
	if stopText != nil {
		a.Stop = from.condition("stop", stopText, s.opt.Registry)
	}
	if a.Goal != nil {
		d.check("success", s.goal.success, a.Goal.Success, *a)
	}
	from.check("stop", stopText, a.Stop, *a)
	s.checkGates(d, *a)
	if from != d {
		for _, p := range from.problems {
			d.about(true, "stop", place{}, "%s", strings.TrimPrefix(p.Message, "stop: "))
		}
	}
}

func (d *document) condition(what string, n *node, r *Registry) pawl.Condition {
	c, err := stop.Parse(n.text, r.conditions())
	if err != nil {
		d.expression(what, n, err)
		return nil
	}
	return c
}

func (d *document) check(what string, n *node, c pawl.Condition, a pawl.Agent) {
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
	chooses := !single && s.flow == nil
	const drop = "loop single offers no tools (drop them, or write loop: react)"
	for _, c := range []struct {
		wrong     bool
		key, says string
	}{
		{single && len(s.root.all("tools.*")) > 0, "tools", "there are tools, but " + drop},
		{single && s.builtin, "builtins", "builtins are tools, but " + drop},
		{single && len(s.handoffs) > 0, "handoffs", "handoffs are tools, but " + drop},
		{single && s.json, "strategy", "strategy json is a way to call tools, but loop single offers none (write strategy: native)"},
		{!chooses && s.plan, "plan", "plan is for an agent that chooses its calls (leave it out, or write loop: react)"},
		{!chooses && s.core != nil, "tool_search", "tool_search is for an agent that chooses its calls (leave it out, or write loop: react)"},
	} {
		if c.wrong {
			d.problem(s.find(c.key), "%s", c.says)
		}
	}
	if s.serial && s.maxParallel > 1 {
		d.problem(s.find("max_parallel"), "max_parallel is %d, but with parallel: false one call runs at a time (leave one of them out)", s.maxParallel)
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
		keys := map[string][]string{
			"agent": {"name"}, "model": {"model"}, "limits": {"limits"}, "tool": {"tools"}, "tools": {"tools"}, "loop": {"loop"},
			"goal": {"goal"}, "output": {"output"}, "sampling": {"model"}, "policies": {"no_progress"}, "core": {"tool_search", "core"},
		}[key]
		if strings.HasPrefix(message, `tool "handoff_to_`) {
			keys = []string{"handoffs"}
		}
		if what, board := strings.CutPrefix(message, `tool "board_add": `); board {
			key, keys, message = "board", []string{"board"}, what
		}
		outside := key == "limits" && s.opt.Limits != (pawl.Limits{}) || key == "model" && s.opt.Model != ""
		if outside {
			message = strings.TrimPrefix(message, key+": ")
		}
		d.about(outside, key, s.find(keys...), "%s", message)
	}
}
