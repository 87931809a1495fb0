package engine

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/pawl-run/pawl"
)

// The tools of an untrusted server are pinned by the first run that declares them: its log
// is the record. If a tool describes itself differently in a later run of the agent, that
// run gets a replacement that refuses every call. The replacement is declared with the
// version that people have seen, until a run is started with AllowChange.

// mostPinned is how many runs of the agent are searched for the last one that declared a
// tool. All of them are searched only if the agent has a tool that none declared.
const mostPinned = 2000

// pinned returns the agent with changed tools disabled, and whether there are any.
func (e *Engine) pinned(ctx context.Context, agent pawl.Agent) (pawl.Agent, bool, error) {
	open := map[string]pawl.ToolInfo{}
	for _, t := range agent.Tools {
		if info, ok := foreign(&agent, t); ok {
			open[info.Name] = info
		}
	}
	changed := map[string]pawl.ToolInfo{}
	for head, err := range e.journal.List(ctx, pawl.Query{Agent: agent.Name, Max: mostPinned}) {
		if err != nil {
			return agent, false, fmt.Errorf("look for the tools that runs of %s had: %w", agent.Name, err)
		}
		start, err := firstOf(ctx, e.journal, head.Run)
		if err != nil {
			continue // a log of another version pins nothing
		}
		for _, was := range start.Declaration.Tools {
			now, ok := open[was.Name]
			if !ok {
				continue
			}
			delete(open, was.Name)
			if was.Version != now.Version && (was.Description != now.Description || !bytes.Equal(was.Input, now.Input)) {
				changed[was.Name] = was
			}
		}
		if len(open) == 0 {
			break
		}
	}
	return disabled(agent, changed), len(changed) > 0, nil
}

// stillDisabled returns the agent with the tools disabled that its run began without.
func stillDisabled(agent pawl.Agent, began pawl.Declaration) pawl.Agent {
	changed, names := map[string]pawl.ToolInfo{}, Disabled(began)
	for _, was := range began.Tools {
		if slices.Contains(names, was.Name) {
			changed[was.Name] = was
		}
	}
	return disabled(agent, changed)
}

// hasForeign reports whether a tool of the agent belongs to an untrusted server.
func hasForeign(agent *pawl.Agent) bool {
	return slices.ContainsFunc(agent.Tools, func(t pawl.Tool) bool {
		_, ok := foreign(agent, t)
		return ok
	})
}

// foreign returns the declaration of an untrusted server's tool, and whether the tool is one.
func foreign(agent *pawl.Agent, t pawl.Tool) (info pawl.ToolInfo, ok bool) {
	if t == nil { // the machine will refuse it
		return info, false
	}
	info = t.Info()
	return info, info.Foreign && agent.Trust[info.Name] != pawl.Trusted
}

func disabled(agent pawl.Agent, changed map[string]pawl.ToolInfo) pawl.Agent {
	if len(changed) == 0 {
		return agent
	}
	agent.Tools = slices.Clone(agent.Tools)
	for i, t := range agent.Tools {
		info, ok := foreign(&agent, t)
		was, differs := changed[info.Name]
		if !ok || !differs {
			continue
		}
		info.Description, info.Input, info.Version = disabledText, json.RawMessage(`{"type":"object","additionalProperties":true}`), was.Version
		agent.Tools[i] = disabledTool{info}
	}
	return agent
}

const disabledText = "Disabled: its definition has changed since an earlier run of this agent, and nobody has allowed that. Do not call it."

// disabledTool replaces a tool whose definition has changed.
type disabledTool struct{ info pawl.ToolInfo }

// Info declares the tool with the version that was seen before.
func (t disabledTool) Info() pawl.ToolInfo { return t.info }

// Refusal makes the machine refuse every call before a policy asks a person.
func (t disabledTool) Refusal() string {
	return fmt.Sprintf("the definition of %s has changed since an earlier run of this agent, so it is disabled until a person has looked at it and started a run with --allow-change; go on without it", t.info.Name)
}

// Run refuses.
func (t disabledTool) Run(context.Context, pawl.Invocation) (pawl.Output, error) {
	return pawl.Output{}, errors.New(t.Refusal())
}

// Disabled returns the names of the tools that a run began without, because their
// definitions had changed since an earlier run of the agent.
func Disabled(d pawl.Declaration) (names []string) {
	for _, t := range d.Tools {
		if t.Foreign && t.Description == disabledText {
			names = append(names, t.Name)
		}
	}
	return names
}
