package cli

import (
	"context"
	"path/filepath"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/engine"
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
