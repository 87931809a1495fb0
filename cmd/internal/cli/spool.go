package cli

import (
	"context"
	"path/filepath"
	"time"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/engine"
	"github.com/pawl-run/pawl/internal/process"
	"github.com/pawl-run/pawl/internal/spool"
	"github.com/pawl-run/pawl/tool"
)

// spool has commands recorded beside a database file, under the name that it has
// by whatever way it is reached, so that whoever has the one has the other. Of
// a server's runs only this host's part can be recorded here.
func (a *app) spool(o *engine.Options) {
	url, err := a.databaseURL()
	if err != nil || onServer(url) {
		tool.Spool("", o.Secrets)
		return
	}
	if file, err := filepath.EvalSymlinks(url); err == nil { // else it is new
		url = file
	}
	tool.Spool(url+".spool", o.Secrets)
}

// stillRuns says of the commands that outlived the process of a run, or of a child
// of it, that the run waits for them, and how to leave.
func (a *app) stillRuns(ctx context.Context, j pawl.Journal, s *pawl.State) {
	if a.quiet {
		return
	}
	for c := range s.Open() {
		if c.Child != "" {
			if child, err := engine.Load(ctx, j, c.Child); err == nil {
				a.stillRuns(ctx, j, child)
			}
			continue
		}
		p, ok := spool.ParsePromise(c.Supervised)
		dir := spool.At(p.Path)
		if !ok || p.Path == "" || !p.About(dir, process.Boot()) {
			continue
		}
		fate, err := dir.Read(spool.Attempt{Run: s.Run(), Call: c.ID, Key: c.Key, Number: c.Attempt})
		if err != nil || fate.Begin == nil || fate.Exit != nil {
			continue
		}
		if id, err := process.ParseIdentity(fate.Begin.Supervisor); err != nil || !id.Alive() {
			continue
		}
		left := max(0, time.Until(fate.Begin.At.Add(fate.Begin.Timeout)))
		a.sayf("%s %s still runs under its supervisor, for %v at most; waiting for its result (Ctrl-C leaves: the command goes on, and pawl resume %s waits for it again)",
			c.ID, c.Tool, left.Round(time.Second), s.Run())
	}
}

// unspool removes what was recorded of commands that a run knows to have ended.
// What cannot be removed now is removed after a week.
func (a *app) unspool(ctx context.Context, r pawl.Result) {
	a.mu.Lock()
	j := a.journal
	a.mu.Unlock()
	if j == nil || r.ToolCalls == 0 { // a second signal has closed it
		return
	}
	forget(ctx, j, r.Run)
}

// forget removes what was recorded of the commands of a run and its children that
// have ended.
func forget(ctx context.Context, j pawl.Journal, run string) {
	s, err := engine.Load(ctx, j, run)
	if err != nil {
		return
	}
	_ = tool.Forget(s)
	for c := range s.Calls() {
		if c.Child != "" {
			forget(ctx, j, c.Child)
		}
	}
}
