package cli

import (
	"cmp"
	"context"
	"log/slog"
	"path/filepath"
	"slices"
	"time"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/a2a"
	"github.com/pawl-run/pawl/budget"
	"github.com/pawl-run/pawl/engine"
	"github.com/pawl-run/pawl/hook"
	"github.com/pawl-run/pawl/internal/process"
	"github.com/pawl-run/pawl/spec"
	"github.com/pawl-run/pawl/telemetry/export"
	"github.com/pawl-run/pawl/tool"
)

// ownKeys are our own variables. Tools do not get them but may still find them, for
// example in the process list of their user.
var ownKeys = []string{"ANTHROPIC_API_KEY", "OPENAI_API_KEY", "GEMINI_API_KEY", "GOOGLE_API_KEY", "PAWL_TOKEN", "PAWL_LINK_KEY", "PAWL_MCP_KEY"}

// leastKey is the least length of a secret value. Users of local models set short
// words as keys, and such words occur in many texts.
const leastKey = 16

// options are the engine options for an agent's source: the secret values that no
// event may hold, and the hooks that specs name.
func (a *app) options(source string) *engine.Options {
	from := spec.ReadSource(source)
	secrets := from.Secrets()
	keep := func(name, value string) {
		if len(value) >= leastKey {
			secrets[name] = value
		}
	}
	names := ownKeys
	if own, is, err := copyOf(source); is && err == nil {
		names = slices.Concat(ownKeys, own.env) // one with a value is not found, and is in the log anyway
	}
	for _, name := range names {
		keep(name, a.getenv(name))
	}
	for name, value := range export.Secrets(a.getenv) {
		keep(name, value)
	}
	return &engine.Options{Children: true, Abandoned: a.abandoned, Secrets: secrets, Learned: a.learned, HooksOf: a.hooks, Rates: from.Rates(), Budgets: budgets(source), When: a.registry().When}
}

// abandoned cancels the task that a run has at another server, when the run was cancelled while
// nobody drove it.
func (a *app) abandoned(ctx context.Context, e *engine.Engine, s *pawl.State, source string) {
	if s.Declaration().Loop != "a2a" || !spec.IsSource(source) {
		return
	}
	registry := a.registry()
	made, err := spec.ParseSource(source, &spec.Options{Registry: registry})
	var agent pawl.Agent
	if err == nil {
		agent, err = made.Agent(registry)
	}
	if err == nil {
		agent, err = e.AgentOf(ctx, agent, s.Run())
	}
	if err == nil {
		err = a2a.Leave(ctx, agent, s)
	}
	if err != nil {
		a.sayf("pawl: run %s is cancelled, and what it does elsewhere may not be: %v", s.Run(), err)
	}
}

// budgets are those of an agent's spec, and of the policy that it is under.
func budgets(source string) []budget.Budget {
	all := spec.ReadSource(source).Budgets
	if p, err := recordedPolicy(source); err == nil && p != nil { // which is read again before the run, and reported
		all = append(all, p.Budgets()...)
	}
	return all
}

// hooks makes the hooks that the spec of an agent names. Hooks that print for people are left
// out when quiet.
func (a *app) hooks(d pawl.Declaration) (all []engine.Hook) {
	for _, h := range a.sources.read(d.Source).Hooks {
		switch {
		case h.Retry != nil:
			all = append(all, hook.Retry(cmp.Or(h.Retry.Attempts, 3), nil))
		case h.Log == nil:
		case h.Log.Format == "json":
			all = append(all, hook.Records(slog.New(slog.NewJSONHandler(a.err, nil)), nil))
		case !a.quiet:
			all = append(all, hook.Log(slog.New(slog.NewTextHandler(a.err, nil)), nil))
		}
	}
	return all
}

// recordCalls has commands recorded next to the database file, under its resolved name,
// so that every process that has the database finds the files. For runs of a server only
// commands of this host can be recorded.
func (a *app) recordCalls(o *engine.Options) {
	url, err := a.databaseURL()
	if err != nil || onServer(url) {
		tool.RecordIn("", o.Secrets)
		return
	}
	if file, err := filepath.EvalSymlinks(url); err == nil { // otherwise the file is new
		url = file
	}
	tool.RecordIn(url+".calls", o.Secrets)
}

// stillRuns names the commands that outlived the process of a run or of its child, and
// that the run now waits for, and says how to leave.
func (con *console) stillRuns(ctx context.Context, j pawl.Journal, s *pawl.State) {
	if con.quiet {
		return
	}
	for c := range s.Open() {
		if c.Child != "" {
			if child, err := engine.Load(ctx, j, c.Child); err == nil {
				con.stillRuns(ctx, j, child)
			}
			continue
		}
		dir, ok := process.ParseCallDir(c.Supervised)
		if !ok {
			continue
		}
		fate, err := dir.Look(process.Attempt{Run: s.Run(), Call: c.ID, Key: c.Key, Number: c.Attempt})
		if err != nil || !fate.Running {
			continue
		}
		left := max(0, time.Until(fate.Began.Add(fate.Timeout)))
		con.sayf("%s %s still runs in its wrapper, for %v at most; waiting for its result (Ctrl-C leaves it running; pawl resume %s waits for it again)",
			c.ID, c.Tool, left.Round(time.Second), s.Run())
	}
}
