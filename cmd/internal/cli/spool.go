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

// spool records commands next to the database file, under its resolved name, so that
// every process that has the database finds the records. For runs of a server only
// commands of this host can be recorded.
func (a *app) spool(o *engine.Options) {
	url, err := a.databaseURL()
	if err != nil || onServer(url) {
		tool.Spool("", o.Secrets)
		return
	}
	if file, err := filepath.EvalSymlinks(url); err == nil { // otherwise the file is new
		url = file
	}
	tool.Spool(url+".spool", o.Secrets)
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
		con.sayf("%s %s still runs under its supervisor, for %v at most; waiting for its result (Ctrl-C leaves it running; pawl resume %s waits for it again)",
			c.ID, c.Tool, left.Round(time.Second), s.Run())
	}
}

// unspool removes the records of commands that ended, according to the run. What cannot
// be removed now is removed after a week.
func (a *app) unspool(ctx context.Context, r pawl.Result) {
	j := a.current()
	if j == nil || r.ToolCalls == 0 { // a second signal has closed it
		return
	}
	forget(ctx, j, r.Run)
}

// forget removes the records of ended commands of a run and its children.
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
