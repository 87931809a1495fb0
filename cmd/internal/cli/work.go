package cli

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/fix/testfix"
	"github.com/pawl-run/pawl/mcp/mcpserver"
	"github.com/pawl-run/pawl/spec"
)

// work is an agent with what is to be done about it when its run is over.
type work struct {
	agent pawl.Agent
	// policy is what the agent is held to besides; nil: nothing.
	policy *spec.Policy
	// begun is told the run's id when it has begun to go on; nil: nobody wants it.
	begun func(run string)
	// conclude prints what has come of the run and returns the exit code.
	conclude func(context.Context, pawl.Result) (int, error)
	// drop lets go of what the agent holds when nothing was run.
	drop func()
}

// remake says how the agent of a run is made again.
type remake struct {
	spec  string // a file to make it of instead; empty: where it came from
	model string // in place of the one it had; empty: that one
	// policy is what was given to hold the agent to; nil: what it was held to.
	// It must be no looser than that unless loosen says so.
	policy *spec.Policy
	loosen bool
	// asWas takes the spec as it was recorded, not as its file is now.
	asWas bool
	// declared is for an agent that is only asked what it would decide, or whose
	// children's are: those, from the run's own child on.
	declared bool
	children []pawl.Declaration
}

// workOf makes the agent of a run again, under the policy that holds.
func (a *app) workOf(ctx context.Context, j pawl.Journal, s *pawl.State, r remake) (*work, error) {
	policy, err := policyFor(s, r.policy, r.loosen)
	if err != nil {
		return nil, err
	}
	w, err := a.heirOf(ctx, j, s, r)
	orphan, alone := errors.AsType[*orphanError](err)
	if w == nil && (err == nil || alone) {
		w, err = a.reworkOf(ctx, s, r)
	}
	if err != nil {
		return w, err
	}
	if w.policy = policy; policy != nil {
		w.agent, err = under(policy, w.agent)
	}
	if err == nil && alone && bereft(s, w.agent) {
		err = refused(orphan)
	}
	if err != nil {
		w.drop()
		return nil, err
	}
	return w, nil
}

// reworkOf makes the agent of a run again.
func (a *app) reworkOf(ctx context.Context, s *pawl.State, r remake) (*work, error) {
	source := s.Declaration().Source
	switch from, isFix, err := testfix.ParseSource(source); {
	case err != nil:
		return nil, err
	case isFix && r.spec == "":
		return a.reopenFix(from, source, s, r)
	}
	registry := a.registry()
	if !spec.IsSource(source) {
		if r.spec == "" {
			return nil, misuse("run %s was not started from a spec, so its agent is not known here; resume it with the program that started it, or give --spec", s.Run())
		}
		made, err := loadSpec(r.spec, &spec.Options{Registry: registry, Model: r.model})
		if err != nil {
			return nil, err
		}
		return a.workFor(ctx, made, registry, s, r)
	}
	source, err := renew(source, r)
	if err != nil {
		return nil, err
	}
	made, err := spec.ParseSource(source, &spec.Options{Registry: registry})
	if problems, ok := errors.AsType[spec.Problems](err); ok && r.model != "" {
		return nil, flagged(problems, r.model)
	}
	if err != nil {
		return nil, err
	}
	return a.workFor(ctx, made, registry, s, r)
}

func (a *app) workFor(ctx context.Context, made *spec.Spec, registry *spec.Registry, s *pawl.State, r remake) (*work, error) {
	var agent pawl.Agent
	var err error
	if r.declared { // nobody is called
		agent, err = made.AgentAs(registry, s.Declaration(), r.children...)
	} else if err = ready(made, registry, r.model); err == nil {
		agent, err = a.agentOf(ctx, made, registry)
	}
	if err != nil {
		return nil, err
	}
	// A call that a client made over MCP is gone on with as that and nothing else.
	if tool, ok := mcpserver.CalledBy(s.Declaration().Source); ok && r.spec == "" {
		if agent, err = mcpserver.Calling(agent, tool); err != nil {
			return nil, err
		}
	}
	return &work{agent: agent, conclude: a.conclude, drop: func() {}}, nil
}

// refresh brings the text of another file of a spec's source up to date, if the
// file is still there.
func refresh(fields map[string]json.RawMessage, key string) {
	var file struct {
		Path     string `json:"path"`
		Dir      string `json:"dir"`
		Document string `json:"document"`
	}
	if json.Unmarshal(fields[key], &file) != nil || file.Path == "" {
		return
	}
	if text, err := os.ReadFile(filepath.Join(file.Dir, filepath.Base(file.Path))); err == nil {
		file.Document = string(text)
		fields[key], _ = json.Marshal(file) // strings always marshal
	}
}

// renew brings a spec's source up to date: the text of its file, if that is
// still there, and what was said on this command line. What was said on the
// one that started the run stays.
func renew(source string, r remake) (string, error) {
	fields := map[string]json.RawMessage{}
	if err := json.Unmarshal([]byte(source), &fields); err != nil {
		return "", err
	}
	set := func(key, value string) {
		fields[key], _ = json.Marshal(value) // a string always marshals
	}
	get := func(key string) (value string) {
		_ = json.Unmarshal(fields[key], &value) // what is no string is looked at by spec
		return value
	}
	switch {
	case r.spec != "":
		text, err := os.ReadFile(r.spec)
		if err != nil {
			return "", refused(err)
		}
		dir, err := filepath.Abs(filepath.Dir(r.spec))
		if err != nil {
			return "", err
		}
		set("path", r.spec)
		set("dir", dir)
		set("document", string(text))
		delete(fields, "files")
		fields["live"] = json.RawMessage("true")
	case !r.asWas && get("path") != inlineSpec:
		text, err := os.ReadFile(filepath.Join(get("dir"), filepath.Base(get("path"))))
		if err == nil { // else it is gone, and the recorded text stands for it
			set("document", string(text))
		}
		refresh(fields, "tools")
		files := map[string]string{}
		_ = json.Unmarshal(fields["files"], &files) // as above
		for path := range files {
			if text, err := os.ReadFile(path); err == nil {
				files[path] = string(text)
			}
		}
		if len(files) > 0 {
			fields["files"], _ = json.Marshal(files) // so do texts by name
		}
		fields["live"] = json.RawMessage("true") // it may have got further agents
	}
	if r.model != "" {
		set("model", r.model)
	}
	b, err := json.Marshal(fields)
	return string(b), err
}
