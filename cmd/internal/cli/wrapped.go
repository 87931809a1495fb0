package cli

import (
	"context"
	"path/filepath"
	"time"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/engine"
	"github.com/pawl-run/pawl/internal/process"
	"github.com/pawl-run/pawl/tool"
)

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
