package spec

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

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
	for path, mate := range s.team { // the run is a leg
		if mate.Name == run.Agent {
			as := *s
			as.team = maps.Clone(s.team)
			as.team[path] = mate.as(run, children)
			return as.Agent(r)
		}
	}
	return s.as(run, children).Agent(r)
}

// as returns the spec with the tools a run declared, and likewise for the next
// of its children.
func (s *Spec) as(run pawl.Declaration, children []pawl.Declaration) *Spec {
	as := *s
	as.declared = append([]pawl.ToolInfo{}, run.Tools...)
	as.remote = map[string][]pawl.Tool{}
	for _, server := range s.servers {
		tools := []pawl.Tool{}
		for _, info := range run.Tools {
			if strings.HasPrefix(info.Name, server.Name+"__") {
				tools = append(tools, absent{info})
			}
		}
		as.remote[server.Name] = tools
	}
	as.agents = slices.Clone(s.agents)
	for i := range as.agents {
		if d := &as.agents[i]; len(children) > 0 && d.spec.made(children[0].Source) {
			d.spec = d.spec.as(children[0], children[1:])
		}
	}
	return &as
}

// made reports whether the source of an agent is this spec.
func (s *Spec) made(source string) bool {
	rec, ok := recordOf(source)
	return ok && rec.Dir == s.base && rec.Path == s.path && rec.Document == s.doc.text
}

// outside reports whether the agent's declaration depends on more than text.
func (s *Spec) outside() bool {
	return len(s.servers) > 0 || len(s.skills) > 0 || slices.ContainsFunc(s.agents, func(d delegate) bool { return d.spec.outside() })
}

// asDeclared returns a tool as a recorded run declared it.
func (s *Spec) asDeclared(t pawl.Tool) pawl.Tool {
	i := slices.IndexFunc(s.declared, func(info pawl.ToolInfo) bool { return info.Name == t.Info().Name })
	if i < 0 {
		return t
	}
	if d, ok := t.(pawl.Delegate); ok {
		return absentAgent{d, s.declared[i]}
	}
	return absent{s.declared[i]}
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
