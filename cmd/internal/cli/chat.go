package cli

import (
	"context"
	"crypto/rand"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/cmd/internal/prompt"
	"github.com/pawl-run/pawl/cmd/internal/screen"
	"github.com/pawl-run/pawl/engine"
	"github.com/pawl-run/pawl/runs"
	"github.com/pawl-run/pawl/spec"
)

func chatCommand(a *app) *cobra.Command {
	d := &driving{}
	last := false
	c := a.command("chat [SPEC] [flags]", "Talk with an agent on a terminal", cobra.MaximumNArgs(1),
		func(ctx context.Context, args []string) (int, error) { return chat(ctx, a, d, args, last) })
	c.Long = `Talk with an agent on a terminal. Each message is a run, and the runs are one
conversation. The conversation is recorded, so it survives the end of this process.
pawl chat -c continues the last conversation.

Without SPEC, the agent reads files in the current directory, and asks before it
changes a file or runs a command.

Ctrl-C stops the answer. Ctrl-C twice at the prompt, or Ctrl-D, ends the chat. A
backslash at the end of a line continues the message on the next line. /help lists the
commands.`
	c.Example = `  pawl chat
  pawl chat support.yaml
  pawl chat -c`
	c.Flags().BoolVarP(&last, "continue", "c", false, "continue the last conversation")
	d.flag(c, "model", "effort", "limit", "policy", "approvals")
	return c
}

// chatAgent is the agent of a conversation without a spec.
var chatAgent = defaultAgent{
	Tools: append(readTools[:len(readTools):len(readTools)], "write_file", "edit_file", "run_command"),
	Gates: []string{"write_file", "edit_file", "run_command"},
	Notes: true,
}

// threadPrefix is what the thread of a conversation begins with.
const threadPrefix = "chat-"

func newThread() string {
	return threadPrefix + time.Now().UTC().Format("2006-01-02") + "-" + strings.ToLower(rand.Text()[:8])
}

func chat(ctx context.Context, a *app, d *driving, args []string, last bool) (int, error) {
	in, _ := a.in.(*os.File)
	if a.outTerminal() == nil || !a.attended() {
		return 0, misuse("pawl chat needs a terminal; pawl ask answers one question without one")
	}
	set, err := d.settings()
	if err != nil {
		return 0, err
	}
	a.quiet = false
	screen.Revive(in)
	open := a.with
	if last {
		open = a.withRuns
	}
	return open(ctx, func(j store) (int, error) {
		t := &talk{a: a, d: d, j: j, editor: prompt.New(in, a.terminal()), thread: newThread(), model: d.model, effort: d.effort, settings: set}
		of := ""
		if last {
			if of, err = t.find(ctx); err != nil {
				return 0, err
			}
		}
		if err := t.begin(ctx, args, of); err != nil {
			return 0, err
		}
		return t.loop(ctx)
	})
}

// terminal is the terminal that a command with one writes to.
func (con *console) terminal() *os.File {
	f, _ := con.err.Under().(*os.File)
	return f
}

// A talk is a conversation on a terminal.
type talk struct {
	a      *app
	d      *driving
	j      store
	editor *prompt.Editor

	thread string
	last   string // the run of the last exchange; empty: none
	branch string // the run that the first run of thread continues, after /undo

	source string // the agent, as runs record it
	agent  pawl.Agent
	most   pawl.Limits
	model  string      // replaces the agent's; empty: its own
	effort string      // replaces the agent's; empty: its own
	plan   bool        // the next message is to be planned first
	files  []pawl.File // attached to the next message
	// foreign says that a server that is not trusted wrote the next message.
	foreign bool
	built   string // what agent was made for
	settings

	view    *screen.Answer // of the run that is driven; guarded by a.mu
	result  pawl.Result    // of the last answer of this process
	before  float64        // dollars of exchanges that were undone
	running string         // the run that answers; guarded by a.mu
}

// find finds the last conversation, and returns a run of it that has its agent.
func (t *talk) find(ctx context.Context) (string, error) {
	found, err := heads(ctx, t.j, pawl.Query{}, 1, func(h pawl.Head) bool {
		return strings.HasPrefix(h.Thread, threadPrefix) && !runs.IsChild(h)
	})
	if err == nil && len(found) == 0 {
		err = misuse("there is no conversation to continue; pawl chat begins one")
	}
	if err != nil {
		return "", err
	}
	t.thread, t.last = found[0].Thread, found[0].Run
	for {
		run := t.last
		gone, err := t.isUndone(ctx)
		if err != nil || !gone {
			return run, err
		}
		s, err := engine.Load(ctx, t.j, run)
		if err != nil {
			return "", err
		}
		if t.back(s); t.last == "" {
			t.a.sayf("the messages of the last conversation are all undone; it begins again")
			return run, nil
		}
	}
}

// begin makes the agent: that of a spec, of a run of the conversation, or the default one.
func (t *talk) begin(ctx context.Context, args []string, of string) error {
	switch {
	case len(args) > 0:
		registry := t.a.registry()
		s, err := loadSpec(args[0], &spec.Options{Registry: registry, Model: t.model, Effort: t.effort, Limits: t.limits})
		if err != nil {
			return err
		}
		if err := ready(s, registry); err != nil {
			return err
		}
		agent, err := s.Agent(registry)
		if err != nil {
			return err
		}
		t.a.warn(s, registry)
		t.source = agent.Source
	case of != "":
		s, err := engine.Load(ctx, t.j, of)
		if err != nil {
			return err
		}
		if t.source = s.Declaration().Source; !spec.IsSource(t.source) {
			return misuse("run %s was not started from a spec, so its agent is not known here; give a SPEC", of)
		}
		if t.policy, err = policyFor(s, t.policy, false); err != nil {
			return err
		}
	default:
		agent, err := t.a.defaultAgent(ctx, "chat", t.d, t.settings, chatAgent)
		if err != nil {
			return err
		}
		t.source = agent.Source
	}
	return t.build(ctx)
}

// build makes the agent for the next message.
func (t *talk) build(ctx context.Context) error {
	what := t.model + " " + t.effort
	if t.plan {
		what += " plans"
	}
	if t.built == what && t.agent.Name != "" {
		return nil
	}
	source, err := remake{asWas: true, model: t.model, effort: t.effort, plan: &t.plan}.renew(t.source)
	if err != nil {
		return err
	}
	registry := t.a.registry()
	s, err := parseSource(source, registry)
	if err != nil {
		return err
	}
	if err := ready(s, registry); err != nil {
		return err
	}
	t.a.disconnect()
	agent, err := t.a.agentOf(ctx, s, registry)
	if err != nil {
		return err
	}
	agent.Limits = agent.Limits.Merge(t.limits)
	if agent, err = under(t.policy, agent); err != nil {
		return err
	}
	most, err := ceilings(agent)
	if err != nil {
		return err
	}
	t.agent, t.most, t.built = agent, most, what
	return nil
}

// newView makes the view of the next run: what the model says, as it says it, and a line for
// each call that has ended.
func (t *talk) newView() screen.View {
	v := &screen.Answer{View: t.a.liveView(t.progress), To: t.a.err, Whole: true}
	t.a.mu.Lock()
	defer t.a.mu.Unlock()
	t.view = v
	return v
}

// progress prints an entry that neither the status nor a question shows.
func (t *talk) progress(e pawl.Entry) {
	switch e.Event.(type) {
	case pawl.ModelReplied, pawl.ToolStarted, pawl.ApprovalRequested, pawl.InputRequested, pawl.ApprovalDecided, pawl.RunResumed:
		return
	}
	if text := t.a.progressText(e.Event); text != "" {
		t.a.shade("  %s", text)
	}
	for _, change := range t.a.changes(e.Event) {
		t.a.shade("  %s", change)
	}
}

// coloured reports whether a terminal gets colours.
func (env *environment) coloured() bool {
	return env.getenv("NO_COLOR") == "" && env.getenv("TERM") != "dumb"
}

// shade prints one line that is less important than others.
func (a *app) shade(format string, args ...any) {
	line := strings.TrimRight(fmt.Sprintf(format, args...), "\n")
	lead := line[:len(line)-len(strings.TrimLeft(line, " "))]
	line = lead + screen.OneLine(line)
	if a.coloured() {
		line = screen.Dim(line)
	}
	a.err.Paint(line + "\n")
}
