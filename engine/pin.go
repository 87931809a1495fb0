package engine

import (
	"bytes"
	"context"
	"fmt"
	"slices"

	"github.com/pawl-run/pawl"
)

// The tools of an untrusted server are pinned by the first run that declares them: its log
// is the record. If a tool describes itself differently in a later run of the agent, that
// run declares the tools that people have seen and is suspended before its first step. It
// resumes as every run whose agent has changed: with AllowChange, which pins the new tools.

// mostPinned is how many runs of the agent are searched for the last one that declared a
// tool. All of them are searched only if the agent has a tool that none declared.
const mostPinned = 2000

// pinned returns the agent with its changed tools declared as people have seen them, and their names.
func (e *Engine) pinned(ctx context.Context, agent pawl.Agent) (seen pawl.Agent, changed []string, err error) {
	open := map[string]int{}
	for i, t := range agent.Tools {
		if foreign(&agent, t) {
			open[t.Info().Name] = i
		}
	}
	seen = agent
	for head, err := range e.journal.List(ctx, pawl.Query{Agent: agent.Name, Max: mostPinned}) {
		if err != nil {
			return agent, nil, fmt.Errorf("look for the tools that runs of %s had: %w", agent.Name, err)
		}
		declared, err := e.declared(ctx, head.Run, agent.Tools, open)
		if err != nil {
			continue // a log of another version pins nothing
		}
		for _, was := range declared {
			i, ok := open[was.Name]
			if !ok {
				continue
			}
			delete(open, was.Name)
			if differs(was, agent.Tools[i].Info()) {
				if changed == nil {
					seen.Tools = slices.Clone(agent.Tools)
				}
				seen.Tools[i] = seenTool{agent.Tools[i], was}
				changed = append(changed, was.Name)
			}
		}
		if len(open) == 0 {
			break
		}
	}
	return seen, changed, nil
}

// declared returns the tools that a run declares: at its start or, if one of the present
// tools that are open differs from it, where the run was resumed last.
func (e *Engine) declared(ctx context.Context, run string, present []pawl.Tool, open map[string]int) ([]pawl.ToolInfo, error) {
	start, err := firstOf(ctx, e.journal, run)
	if err != nil {
		return nil, err
	}
	tools := start.Declaration.Tools
	if !slices.ContainsFunc(tools, func(was pawl.ToolInfo) bool {
		i, ok := open[was.Name]
		return ok && differs(was, present[i].Info())
	}) {
		return tools, nil
	}
	s, err := Load(ctx, e.journal, run)
	if err != nil {
		return nil, err
	}
	return s.Declaration().Tools, nil
}

// differs reports whether the model reads two tools differently.
func differs(was, now pawl.ToolInfo) bool {
	return was.Version != now.Version && (was.Description != now.Description || !bytes.Equal(was.Input, now.Input))
}

// hasForeign reports whether a tool of the agent belongs to an untrusted server.
func hasForeign(agent *pawl.Agent) bool {
	return slices.ContainsFunc(agent.Tools, func(t pawl.Tool) bool { return foreign(agent, t) })
}

// foreign reports whether a tool of the agent belongs to an untrusted server.
func foreign(agent *pawl.Agent, t pawl.Tool) bool {
	if t == nil { // the machine will refuse it
		return false
	}
	info := t.Info()
	return info.Foreign && agent.Trust[info.Name] != pawl.Trusted
}

// seenTool declares a changed tool as people have seen it. No call reaches it.
type seenTool struct {
	pawl.Tool
	info pawl.ToolInfo
}

func (t seenTool) Info() pawl.ToolInfo { return t.info }
