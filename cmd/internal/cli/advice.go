package cli

import (
	"context"
	"net/url"
	"slices"
	"strings"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/engine"
	"github.com/pawl-run/pawl/explain"
	"github.com/pawl-run/pawl/runs"
	"github.com/pawl-run/pawl/spec"
)

// place is where the user types the next command: on this machine, for the same runs.
func (env *environment) place() explain.Place {
	switch {
	case env.server != "":
		return explain.Place{Flags: []string{"--server", env.server}, Server: true, Held: heldBy}
	case env.database == "": // the next command reads the same environment
		return explain.Place{Held: heldBy}
	}
	name := env.database
	if u, err := url.Parse(name); err == nil && u.User != nil {
		if _, secret := u.User.Password(); secret {
			name = "URL" // the URL may hold a password
		}
	}
	return explain.Place{Flags: []string{"--database", name}, Held: heldBy}
}

// typed is a command about a run as the user types it.
func (env *environment) typed(words ...string) string { return env.place().Command(words...) }

// advise lists what the user can do about a run in its current state, recommends the first
// of it in the result, and says what the run used.
func (a *app) advise(ctx context.Context, r *pawl.Result) (next []explain.Action, used string) {
	j := a.current()
	if j == nil { // a second signal has closed it
		return nil, ""
	}
	ctx = context.WithoutCancel(ctx) // ctx may have ended, which suspended the run
	h, err := runs.Head(ctx, j, r.Run)
	if err != nil {
		return nil, ""
	}
	report, err := runs.Report(ctx, j, h, a.place())
	if err != nil || report.Status != r.Status && !report.Status.Waiting() {
		return nil, "" // another process has resumed it
	}
	r.Action = report.Action
	return report.Next, report.Used()
}

// explained explains a run, and advises to allow a change of its agent's files where a
// resumption is refused without it.
func (a *app) explained(ctx context.Context, j pawl.Journal, h pawl.Head) (explain.Report, error) {
	place := a.place()
	r, err := runs.Report(ctx, j, h, place)
	if err != nil || !slices.ContainsFunc(r.Next, func(n explain.Action) bool { return strings.HasPrefix(n.Command, "pawl resume ") }) {
		return r, err
	}
	if place.Changed = a.changed(ctx, j, h); len(place.Changed) == 0 {
		return r, nil
	}
	return runs.Report(ctx, j, h, place)
}

// changed lists what resuming a run as its files are now would change and its agent's rule
// refuses. It connects to nothing; an agent that cannot be made has no changes.
func (a *app) changed(ctx context.Context, j pawl.Journal, h pawl.Head) []string {
	if a.far != nil { // whose files are elsewhere
		return nil
	}
	root, err := runs.Root(ctx, j, h)
	if err != nil {
		return nil
	}
	s, err := engine.Load(ctx, j, root.Run)
	if err != nil || !spec.IsSource(s.Declaration().Source) {
		return nil
	}
	w, err := a.workOf(ctx, j, s, remake{declared: true})
	if err != nil {
		return nil
	}
	defer w.drop()
	p, err := engine.New(j, nil).PlanUpgrade(ctx, w.agent, root.Run, w.upgrade)
	if err != nil || p.Refused == "" {
		return nil
	}
	return p.Changed
}

// pasted formats an action as a line to paste into a shell.
func pasted(next explain.Action) string { return next.Command + " # " + next.Why.String() }

// recorded says that a signal is recorded for a run that this command does not
// resume, and what resumes it.
func (con *console) recorded(r explain.Report, news bool) {
	switch {
	case con.quiet:
	case r.Status == pawl.StatusSuccess, r.Status.Waiting() && !news:
		con.sayf("run %s has it already; it is %s", r.Run, r.Status.String())
	case r.Status.Ended():
		con.sayf("run %s is %s; the signal is recorded, %s", r.Run, r.Status.String(), onward(r))
	default:
		con.sayf("recorded for run %s; %s", r.Run, onward(r))
	}
}

// onward says how a run resumes, or where to look if no command here resumes it.
func onward(r explain.Report) string {
	switch {
	case len(r.Next) == 0:
		return r.Action
	case strings.HasPrefix(r.Next[0].Command, "pawl explain "):
		return "next: " + pasted(r.Next[0])
	}
	return "go on with: " + pasted(r.Next[0])
}
