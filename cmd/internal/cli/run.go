package cli

import (
	"cmp"
	"context"
	"errors"
	"io"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/engine"
	"github.com/pawl-run/pawl/internal/display"
	"github.com/pawl-run/pawl/internal/wire"
	"github.com/pawl-run/pawl/runs"
	"github.com/pawl-run/pawl/spec"
	"github.com/pawl-run/pawl/tool/agentsmd"
	"github.com/pawl-run/pawl/workflow"
)

func runCommand(a *app) *cobra.Command {
	d := &driving{}
	var o engine.StartOptions
	var c *cobra.Command
	queue, on, attach := false, "", []string(nil)
	c = a.command("run SPEC [INPUT] [flags]", "Run the agent in SPEC on INPUT (- for standard input)", cobra.RangeArgs(1, 2),
		func(ctx context.Context, args []string) (int, error) {
			if err := notSpec(args[0]); err != nil {
				return 0, err
			}
			if code, handed, err := handOver(ctx, a, on); handed || err != nil {
				return code, err
			}
			var err error
			local := attach
			if d.resources = nil; slices.ContainsFunc(attach, isResource) {
				local, d.resources = nil, attach // in their order, when the servers are connected
			}
			if o.Files, err = attached(local); err != nil {
				return 0, ofAttach(err)
			}
			switch {
			case a.server != "" && d.resources != nil:
				return 0, misuse("--attach: a resource is read where the MCP server is; leave out --server")
			case a.server != "":
				return runRemote(ctx, a, d, args[0], args[1:], &o, queue)
			}
			code, err := runSpec(ctx, a, d, args[0], args[1:], &o, c.Flags().Changed("thread"), queue || on != "", on)
			if len(attach) > 0 { // else the files are the spec's
				err = ofAttach(err)
			}
			return code, err
		})
	c.Flags().StringVar(&o.Thread, "thread", "", "continue this conversation: the messages of its last run come first (default: the spec's, else none)")
	c.Flags().StringArrayVar(&attach, "attach", nil, attachHelp+" (default: the spec's)")
	c.Flags().StringVar(&o.Key, "key", "", "idempotency key: reuse returns the existing run")
	c.Flags().BoolVar(&o.AllowChange, "allow-change", false, "accept tools of untrusted MCP servers whose definition has changed since the agent's last run")
	c.Flags().BoolVar(&queue, "queue", false, "queue the run for a worker or server, by the labels tenant and priority, and print its id")
	c.Flags().StringVar(&on, "on", "", "queue the run, have Temporal dispatch it (temporal://HOST:PORT/NAMESPACE), and print its id")
	d.flag(c, "model", "effort", "limit", "stop", "label", "events", "policy", "approvals", "tools", "workflows")
	c.MarkFlagsMutuallyExclusive("queue", "events")
	c.MarkFlagsMutuallyExclusive("queue", "approvals")
	c.MarkFlagsMutuallyExclusive("on", "events")
	c.MarkFlagsMutuallyExclusive("on", "approvals")
	return remotely(c, "policy", "tools", "workflows", "allow-change")
}

// runSpec runs a spec, or queues a run of it. named: the thread of o overrides the spec's.
func runSpec(ctx context.Context, a *app, d *driving, file string, rest []string, o *engine.StartOptions, named, queue bool, on string) (int, error) {
	set, err := d.settings()
	if err != nil {
		return 0, err
	}
	registry := a.registry()
	played := playing(registry, d.model)
	s, err := loadSpec(file, &spec.Options{Registry: registry, Model: d.model, Effort: d.effort, Stop: d.stop, Limits: set.limits, Tools: d.tools, Workflows: d.workflows})
	if err != nil {
		return 0, err
	}
	if err := ready(s, registry); err != nil && !queue { // the keys are the worker's
		return 0, err
	}
	agent, err := a.agentUnder(ctx, s, registry, set.policy)
	if err != nil {
		return 0, err
	}
	if d.resources != nil {
		if o.Files, err = a.attached(ctx, d.resources); err != nil {
			return 0, err
		}
	}
	input := s.Input.Text
	if len(o.Files) == 0 {
		if o.Files, err = attached(s.Input.Files); err != nil {
			return 0, err
		}
	}
	switch flow, ok := agent.Loop.(*workflow.Loop); {
	case len(rest) == 0 && len(o.Files) > 0: // whose files may be all there is to say
	case !ok || flow.Asked() || len(rest) > 0:
		if input, err = a.input(ctx, rest, s.Input.Text); err != nil {
			return 0, err
		}
	}
	if o.Labels = runs.Labels(agent.Labels, set.labels); !named {
		o.Thread = s.Thread
	}
	if queue {
		return queueRun(ctx, a, agent, input, o, on)
	}
	return a.with(ctx, func(j store) (int, error) {
		w := &work{agent: agent, drop: func() {}, conclude: func(ctx context.Context, r pawl.Result) (int, error) {
			a.unasked(played, r)
			return a.conclude(ctx, r)
		}}
		return driveNew(ctx, a, j, d, w, input, o)
	})
}

// loadSpec reads a spec; its error is Problems. Problems with values from the command
// line name the flag.
func loadSpec(file string, o *spec.Options) (*spec.Spec, error) {
	s, err := spec.Load(file, o)
	if err == nil {
		return s, nil
	}
	problems, ok := errors.AsType[spec.Problems](err)
	if !ok {
		return nil, unreadable(file, err)
	}
	return nil, flagged(problems)
}

// unreadable is the problem of a file that cannot be read. It has no position.
func unreadable(file string, err error) spec.Problems {
	if at, ok := errors.AsType[*fs.PathError](err); ok {
		file = at.Path // of a directory its agent.yaml
	}
	return spec.Problems{{File: file, Message: display.WithoutPath(err).Error()}}
}

// modelSetting is what names a model that a spec does not.
const modelSetting = "--model or PAWL_MODEL"

// flagged names the flags that caused problems.
func flagged(problems spec.Problems) spec.Problems {
	flags := map[string]string{"model": modelSetting, "effort": "--effort", "stop": "--stop", "limits": "--limit", "tools": "--tools", "workflows": "--workflows"}
	problems = slices.Clone(problems)
	for i, p := range problems {
		if p.Line == 0 {
			problems[i].File = cmp.Or(flags[p.File], p.File)
		}
	}
	return problems
}

// ceilings are an agent's limits, defaults included. An invalid agent is a usage error.
func ceilings(agent pawl.Agent) (pawl.Limits, error) {
	m, err := pawl.NewMachine(agent)
	if err != nil {
		return pawl.Limits{}, refused(err)
	}
	return m.Declaration().Limits, nil
}

// warn prints the spec's warnings.
func (con *console) warn(s *spec.Spec, r *spec.Registry) {
	for _, p := range flagged(s.Warnings(r)) {
		con.sayf("pawl: warning: %v", p)
	}
	con.sayNotes(s.Notes())
}

// sayNotes says that an AGENTS.md is read, and whether it is trusted.
func (con *console) sayNotes(n *agentsmd.Notes) {
	if n != nil && !con.quiet {
		con.sayf("%v", n)
	}
}

// trusted are the directories whose AGENTS.md is trusted.
func (env *environment) trusted() []string { return filepath.SplitList(env.getenv("PAWL_TRUST")) }

// notes reads the AGENTS.md of a project.
func (a *app) notes(dir string) (*agentsmd.Notes, error) {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	n, err := agentsmd.Read(abs)
	if err != nil {
		return nil, refused(err)
	}
	a.sayNotes(n.Trust(a.trusted()))
	return n, nil
}

// input is the run's input: an argument, standard input, or else the spec's.
func (con *console) input(ctx context.Context, args []string, otherwise string) (string, error) {
	text := otherwise
	if len(args) > 0 {
		text = args[0]
		if text == "-" {
			var err error
			if text, err = con.stdin(ctx); err != nil {
				return "", err
			}
		}
	}
	if strings.TrimSpace(text) == "" {
		return "", misuse("no input; give it as an argument, as - for standard input, or as input in the spec")
	}
	return text, nil
}

const attachHelp = "attach `FILE` to the input: a picture, a PDF, a sound, or text, or SERVER:URI of an MCP server; may be repeated"

// ofAttach names the flag of a file that cannot be attached.
func ofAttach(err error) error {
	if f, ok := errors.AsType[*engine.FileError](err); ok && f.File != "" {
		return misuse("--attach %s: %w", f.File, f.Err)
	}
	return err
}

// attached reads files to attach.
func attached(names []string) (files []pawl.File, err error) {
	for _, name := range names {
		f, err := engine.ReadFile(name)
		if err != nil {
			return nil, err
		}
		files = append(files, f)
	}
	return files, nil
}

// mostInput bounds what is read from standard input.
const mostInput = 16 << 20

// stdin reads standard input without its last line end. A signal ends the wait.
func (con *console) stdin(ctx context.Context) (string, error) {
	type read struct {
		data []byte
		err  error
	}
	done := make(chan read, 1)
	go func() {
		data, err := io.ReadAll(io.LimitReader(con.in, mostInput+1))
		done <- read{data, err}
	}()
	select {
	case r := <-done:
		if len(r.data) > mostInput {
			return "", misuse("standard input has more than %d MiB", mostInput>>20)
		}
		return strings.TrimSuffix(strings.TrimSuffix(string(wire.Unmarked(r.data)), "\n"), "\r"), r.err
	case <-ctx.Done():
		return "", context.Cause(ctx)
	}
}
