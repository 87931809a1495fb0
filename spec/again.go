package spec

import (
	"context"
	"fmt"
	"slices"

	"github.com/pawl-run/pawl"
)

// AgentAs returns the agent of a recorded run, for reading the run again. It
// connects to no server: whatever depends on more than the text of the spec and
// of its agents' specs is as the run declared it. This includes the tools of
// MCP servers, the content of skills, and agents that have these; none of them
// can be called.
//
// children are the declarations of child runs, from the run's own child down to
// the one to read, whose agent is then complete.
func (s *Spec) AgentAs(r *Registry, run pawl.Declaration, children ...pawl.Declaration) (pawl.Agent, error) {
	as, of := r.program(), s
	as.declared = map[*Spec][]pawl.ToolInfo{}
	for _, mate := range s.mates() {
		if mate.Name == run.Agent { // the run is a leg
			of = mate
		}
	}
	of.declare(&as, run, children)
	return s.Agent(&as)
}

// declare has the spec assembled with the tools a run declared, and likewise the next of its
// children.
func (s *Spec) declare(r *Registry, run pawl.Declaration, children []pawl.Declaration) {
	r.declared[s] = run.Tools
	for _, e := range s.entries {
		if len(children) > 0 && e.agent != nil && e.agent.spec.recordedIn(children[0].Source) {
			e.agent.spec.declare(r, children[0], children[1:])
		}
	}
}

// recordedIn reports whether the source of an agent is this spec.
func (s *Spec) recordedIn(source string) bool {
	rec, ok := recordOf(source)
	return ok && rec.Dir == s.base && rec.Path == s.path && rec.Document == s.doc.text
}

// outside reports whether the agent's declaration depends on more than text.
func (s *Spec) outside() bool {
	return len(s.servers) > 0 || len(s.skills) > 0 || slices.ContainsFunc(s.entries, func(e entry) bool { return e.agent != nil && e.agent.spec.outside() })
}

// asDeclared returns a tool as a recorded run declared it.
func (s *Spec) asDeclared(r *Registry, t pawl.Tool) pawl.Tool {
	for _, info := range r.program().declared[s] {
		if info.Name != t.Info().Name {
			continue
		}
		if d, ok := t.(pawl.Delegate); ok {
			return absentAgent{d, info}
		}
		return absent{info}
	}
	return t
}

// absent is a declared tool that cannot be called.
type absent struct{ info pawl.ToolInfo }

func (t absent) Info() pawl.ToolInfo { return t.info }

func (t absent) Run(context.Context, pawl.Invocation) (pawl.Output, error) {
	return pawl.Output{}, fmt.Errorf("the tool %s was loaded for inspection and cannot run", t.info.Name)
}

// absentAgent is a declared sub-agent that cannot be called.
type absentAgent struct {
	pawl.Delegate
	info pawl.ToolInfo
}

func (t absentAgent) Info() pawl.ToolInfo { return t.info }
