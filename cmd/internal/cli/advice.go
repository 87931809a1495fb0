package cli

import (
	"context"
	"net/url"
	"strings"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/engine/desk"
	"github.com/pawl-run/pawl/explain"
)

// place is where the user types the next command: here, about the same runs.
func (a *app) place() explain.Place {
	switch {
	case a.server != "":
		return explain.Place{Flags: []string{"--server", a.server}, Server: true}
	case a.database == "": // what the environment says, it says to the next command too
		return explain.Place{}
	}
	name := a.database
	if u, err := url.Parse(name); err == nil && u.User != nil {
		if _, secret := u.User.Password(); secret {
			name = "URL" // which a terminal is not to show
		}
	}
	return explain.Place{Flags: []string{"--database", name}}
}

// typed is a command about a run as the user types it.
func (a *app) typed(words ...string) string { return a.place().Command(words...) }

// advise says what can be done about a run as it stands, and recommends the first of
// it in its result.
func (a *app) advise(ctx context.Context, r *pawl.Result) []explain.Action {
	a.mu.Lock()
	j := a.journal
	a.mu.Unlock()
	if j == nil { // a second signal has closed it
		return nil
	}
	ctx = context.WithoutCancel(ctx) // which may have ended, to park the run
	h, err := desk.Head(ctx, j, r.Run)
	if err != nil {
		return nil
	}
	report, err := desk.Report(ctx, j, h, a.place())
	if err != nil || report.Status != r.Status && !report.Status.Waiting() {
		return nil // somebody has gone on with it
	}
	r.Action = report.Action
	return report.Next
}

// pasted is an action as a line that can be pasted into a shell.
func pasted(next explain.Action) string { return next.Command + " # " + next.Why }

// recorded says of a run that stays as it is that it has got its letter, and what
// has it go on.
func (a *app) recorded(r explain.Report, news bool) {
	switch {
	case a.quiet:
	case r.Status == pawl.Success, r.Status.Waiting() && !news:
		a.sayf("run %s has it already; it is %s", r.Run, r.Status.Words())
	case r.Status.Ended():
		a.sayf("run %s is %s; it is recorded, %s", r.Run, r.Status.Words(), onward(r))
	default:
		a.sayf("run %s has it; %s", r.Run, onward(r))
	}
}

// onward is how a run goes on, or where to look if that is not done by a command here.
func onward(r explain.Report) string {
	switch {
	case len(r.Next) == 0:
		return r.Action
	case strings.HasPrefix(r.Next[0].Command, "pawl explain "):
		return "next: " + pasted(r.Next[0])
	}
	return "go on with: " + pasted(r.Next[0])
}
