package spec

import (
	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/judge"
	"github.com/pawl-run/pawl/window"
)

// judges is the configuration of the policies that judge.
type judges struct {
	reflexion *judge.ReflexionOptions
	grounding *judge.GroundingOptions
	steer     *judge.SteerOptions
	policy    string // the text by which calls are judged
	causal    bool
	context   *window.Options
	models    map[any]seat // of the options above
}

// seat is the name and place of a judge's model in a spec.
type seat struct {
	name  string
	place place
}

// readJudge reads {reflexion: {every: 1, …}, grounding: {…}, causal: true}.
func (s *Spec) readJudge(f fields) {
	s.judges.models = map[any]seat{}
	n := f.n.get("judge")
	if n == nil {
		return
	}
	j := f.fields(judgeKeys, n)
	j.flag("causal", &s.judges.causal)
	if r, ok := j.part("reflexion", "{every: 1}", reflexionKeys); ok {
		o := &judge.ReflexionOptions{}
		r.countOr("every", &o.Every, "1") // none: judge only after errors and loops
		o.IgnoreErrors, o.IgnoreLoops = r.off("on_error"), r.off("on_loop")
		if o.Every < 0 && o.IgnoreErrors && o.IgnoreLoops {
			r.problem(r.n.place, "reflexion never judges (write every: 1, on_error: true or on_loop: true)")
		}
		s.judges.reflexion = o
		s.judgedBy(r, "model", o)
	}
	if g, ok := j.part("grounding", "{model: anthropic/claude-sonnet-5-5}", groundingKeys); ok {
		o := &judge.GroundingOptions{}
		g.countOr("replans", &o.Replans, "2")
		g.flag("strict", &o.Strict)
		s.judges.grounding = o
		s.judgedBy(g, "model", o)
	}
}

// part reads a key that holds a mapping, or true for an empty one.
func (f fields) part(key, example string, t *table) (fields, bool) {
	n := f.n.get(key)
	switch {
	case n == nil || n.kind == boolean && n.text == "false":
		return f, false
	case n.kind == boolean:
		return fields{f.document, &node{kind: mapping, place: n.place}, t}, true
	case n.kind != mapping && n.kind != 0:
		f.problem(n.place, "%s is %v (write %s, or true)", key, n.kind, example)
		return f, false
	}
	return f.fields(t, n), true
}

// judgedBy reads the model of a judge, whose options are o.
func (s *Spec) judgedBy(f fields, key string, o any) {
	var m seat
	if f.text(key, &m.name); m.name != "" {
		m.place = f.n.get(key).place
		s.judges.models[o] = m
	}
}

// readSteer reads {policy: …, model: …, writes_only: false, ask: true}.
func (s *Spec) readSteer(f fields) {
	o := &judge.SteerOptions{Ask: true}
	f.text("policy", &s.judges.policy)
	f.flag("writes_only", &o.WritesOnly)
	f.flag("ask", &o.Ask)
	s.judges.steer = o
	s.judgedBy(f, "model", o)
}

// judge adds the policies that judge, each with its model. A model shared by
// several is created once.
func (s *Spec) judge(d *document, r *Registry, a *pawl.Agent) {
	made := map[string]pawl.Model{}
	model := func(o any) pawl.Model {
		m, ok := s.judges.models[o]
		switch {
		case !ok:
			return nil
		case r == nil:
			return standIn{}
		case made[m.name] == nil:
			made[m.name] = s.make(d, r, m.name, s.base, m.place, &a.Limits)
		}
		return made[m.name]
	}
	if o := s.judges.steer; o != nil {
		steer := *o
		steer.Model = model(o)
		a.Policies = append(a.Policies, judge.Steer(s.judges.policy, &steer))
	}
	if o := s.judges.reflexion; o != nil {
		reflexion := *o
		reflexion.Model = model(o)
		a.Policies = append(a.Policies, judge.Reflexion(&reflexion))
	}
	if o := s.judges.grounding; o != nil {
		grounding := *o
		grounding.Model = model(o)
		a.Policies = append(a.Policies, judge.Grounding(&grounding))
	}
	if s.judges.causal {
		a.Policies = append(a.Policies, judge.Causal())
	}
	if o := s.judges.context; o != nil {
		compact := *o
		compact.Model = model(o)
		a.Policies = append(a.Policies, window.Compact(&compact))
	}
}
