package cli

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"iter"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/cmd/internal/screen"
	"github.com/pawl-run/pawl/engine"
	"github.com/pawl-run/pawl/explain"
	"github.com/pawl-run/pawl/fix/mechanic"
	"github.com/pawl-run/pawl/internal/display"
	"github.com/pawl-run/pawl/runs"
	"github.com/pawl-run/pawl/team"
	"github.com/pawl-run/pawl/workflow"
)

// sink is the destination of --events. A nil sink takes nothing.
type sink struct {
	io.WriteCloser
	sayf   func(format string, args ...any)
	broken bool
}

// openEvents opens the file for entries; nil: --events is not given.
func (con *console) openEvents(name string) (*sink, error) {
	switch name {
	case "":
		return nil, nil
	case "-":
		return &sink{WriteCloser: screen.NewPage(con.err), sayf: con.sayf}, nil
	}
	f, err := os.OpenFile(name, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, misuse("--events: %w", err)
	}
	return &sink{WriteCloser: f, sayf: con.sayf}, nil
}

// add writes an entry, until that has failed once.
func (s *sink) add(e pawl.Entry) {
	if s == nil || s.broken {
		return
	}
	line, err := e.AppendJSON(nil)
	if err == nil {
		err = printRow(s, line)
	}
	if err != nil {
		s.sayf("pawl: --events: %v; the run continues without it", err)
		s.broken = true
	}
}

// A ride is a run that is driven, in this process or by a server.
type ride interface {
	ID() string
	// Found reports whether the run existed before, under its key.
	Found() bool
	// Entries yields the run's entries from the first one, and then those of the legs after it,
	// until the run has no owner. Pieces of replies come in between, without a Seq.
	Entries(ctx context.Context) iter.Seq2[pawl.Entry, error]
	// Wait waits until the run has no owner, and returns its result.
	Wait(ctx context.Context) (pawl.Result, error)
}

// A trip is how a command begins or resumes a run, and what it says about the run.
type trip struct {
	// begin is called once the command line is known to be valid.
	begin func(ctx context.Context) (ride, error)
	// resume resumes the run after what it waited for was decided here. Entries up to after were
	// shown.
	resume func(ctx context.Context, run string, after uint64) (ride, error)
	// announce says which model is called, and the limits.
	announce func(ctx context.Context, run string)
	// view makes the view of the run.
	view func() screen.View
	// after is the last entry that is history, which is neither shown nor streamed.
	after uint64
	// source is the agent's source, for its webhooks; empty: others deliver them.
	source string
	silent bool // the command says itself which run it drives
}

// drive begins a run, announces its agent, and watches it until it has ended or waits for what
// nobody decides here.
func (a *app) drive(ctx context.Context, d *driving, t trip) (pawl.Result, error) {
	events, err := a.openEvents(d.events)
	if err != nil {
		return pawl.Result{}, err
	}
	if events != nil {
		defer events.Close() // each line was flushed when it was written
	}
	result, found, err := a.watchRun(ctx, t, events)
	for err == nil && !found && ctx.Err() == nil {
		after, answered, wrong := a.answerHere(ctx, d.approvals, result)
		if err = wrong; !answered {
			break
		}
		run := result.Run
		t.announce, t.silent, t.after = nil, true, after
		t.begin = func(ctx context.Context) (ride, error) { return t.resume(ctx, run, after) }
		result, _, err = a.watchRun(ctx, t, events)
	}
	if err == nil {
		a.tell(ctx, t.source, result)
	}
	return result, err
}

// watchRun begins or resumes a run, and watches it until it ends or waits. found: the run existed
// before.
func (a *app) watchRun(ctx context.Context, t trip, events *sink) (result pawl.Result, found bool, err error) {
	h, err := t.begin(ctx)
	if err != nil {
		return pawl.Result{}, false, err
	}
	if a.far == nil {
		a.drives(h.ID())
	}
	if t.announce != nil { // a refused run calls nothing
		t.announce(ctx, h.ID())
	}
	if h.Found() { // the first invocation has shown what it did before
		if was, err := runs.Head(ctx, a.current(), h.ID()); err == nil {
			t.after = was.Seq
		}
		a.sayf("run %s already exists under this key", h.ID())
	} else if !a.quiet && !t.silent {
		a.sayf("run %s", h.ID())
	}
	said := make(chan struct{})
	unhook := context.AfterFunc(ctx, func() {
		defer close(said)
		if !a.quiet && a.far == nil {
			a.sayf("pausing run %s after the current write (another signal exits at once)", h.ID())
		}
	})
	watching := context.WithoutCancel(ctx)
	if !a.quiet || events != nil || a.answers != nil {
		view := t.view()
		if a.answers != nil {
			a.answers.View = view
			view = a.answers
		}
		a.watch(watching, h, t.after, events, view)
		view.End()
	}
	result, err = h.Wait(watching)
	a.drives("")
	if !unhook() {
		<-said
	}
	return result, h.Found(), err
}

// drives notes which run this process drives, for a second signal.
func (a *app) drives(run string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.driven = run
}

// watch shows a run's entries, and streams them, until it has no owner.
func (con *console) watch(ctx context.Context, h ride, after uint64, events *sink, view screen.View) {
	for e, err := range h.Entries(ctx) {
		if err != nil {
			con.sayf("pawl: watching the run failed: %v", err)
			return
		}
		seen := after
		if e.Run != h.ID() { // a later leg, all of which is new
			seen = 0
		}
		view.Add(e, e.Seq <= seen)
		if e.Seq > seen { // pieces of replies have no seq
			events.add(e)
		}
	}
}

// announceRun is announce for the agent of a run: of a team, the one that has the conversation.
func (a *app) announceRun(ctx context.Context, agent pawl.Agent, limits pawl.Limits, run string) {
	if len(team.Of(&agent)) > 1 {
		if s, err := engine.Load(ctx, a.current(), run); err == nil && s.Declaration().Agent != agent.Name {
			agent, limits = team.Member(agent, s.Declaration()), s.Limits()
		}
	}
	a.announce(agent, limits)
}

// announce prints the model, where it is called, the limits and the budgets.
func (con *console) announce(agent pawl.Agent, limits pawl.Limits) {
	if con.quiet {
		return
	}
	models := []string{place(agent.Model)}
	for _, m := range agent.Fallback {
		models = append(models, place(m))
	}
	text := strings.Join(models, ", then ")
	var judges []string
	for _, p := range agent.Policies {
		if auxiliary, ok := p.(pawl.Auxiliary); ok {
			for _, m := range auxiliary.AuxiliaryModels() {
				judges = append(judges, place(m))
			}
		}
	}
	if slices.Sort(judges); judges != nil {
		text += "; judged by " + strings.Join(slices.Compact(judges), " and ")
	}
	if text = "model " + text; describes(agent.Model).Name == workflow.NoModel {
		text = "no model"
	}
	con.sayf("%s: %s; at most %s", agent.Name, text, ceilingsOf(agent.Model, limits))
	if from, is, err := copyOf(agent.Source); is && err == nil {
		con.sayf("%s", copyPlaces(from, agent.Model))
	}
	if p, err := recordedPolicy(agent.Source); err == nil && p != nil {
		name, _ := p.Source()
		con.sayf("held to %s", name)
	}
	for _, b := range budgets(agent.Source) {
		con.sayf("held to %v", b)
	}
}

// ceilingsOf are the limits of a run as people say them. A program of rules uses no tokens, and
// its limit on them is out of reach.
func ceilingsOf(m pawl.Model, l pawl.Limits) string {
	if describes(m).Name != mechanic.Name {
		return limitsText(l)
	}
	text := display.Count(l.Iterations, "turn")
	if l.Time > 0 {
		text += " and " + display.Spoken(l.Time)
	}
	return text
}

// limitsText are limits as people say them: 30 minutes, not 30m0s.
func limitsText(l pawl.Limits) string {
	parts := []string{display.Count(l.Iterations, "iteration"), display.Count(l.Tokens, "token"), display.Spoken(l.Time)}
	if l.Cost > 0 {
		parts = append(parts, fmt.Sprint("$", pawl.Decimal(l.Cost)))
	}
	return strings.Join(parts, ", ")
}

// copyPlaces says where the tests run, and where the code is sent.
func copyPlaces(from inCopy, m pawl.Model) string {
	text := fmt.Sprintf("tests: %s, in a copy of %s; ", strings.Join(from.test, " "), from.dir)
	if len(from.env) > 0 {
		names := make([]string, len(from.env))
		for i, v := range from.env { // a value may be a secret
			names[i], _, _ = strings.Cut(v, "=")
		}
		text = fmt.Sprintf("tests: %s with %s, in a copy of %s; ", strings.Join(from.test, " "), strings.Join(names, ", "), from.dir)
	}
	if d, ok := m.(pawl.Describer); ok && d.Describe().Endpoint != "" {
		return text + "code and test output that the model reads are sent to " + d.Describe().Endpoint
	}
	return text + "nothing is sent anywhere"
}

// place says what a model is called and where it is.
func place(m pawl.Model) string {
	info := describes(m)
	if info.Endpoint == "" {
		return info.Name + ", in this process"
	}
	return info.Name + " at " + info.Endpoint
}

func describes(m pawl.Model) pawl.ModelInfo {
	if d, ok := m.(pawl.Describer); ok {
		return d.Describe()
	}
	return pawl.ModelInfo{Name: "func"}
}

// conclude prints the result of a run, unless it was shown already, and returns its exit code.
func (a *app) conclude(ctx context.Context, r pawl.Result) (int, error) {
	if a.answers != nil { // a person reads the answer first
		var err error
		if !a.answers.Shown(r.Answer) {
			err = printResult(ctx, a, r)
		}
		ending(ctx, a, &r)
		return exitCode(r.Status), err
	}
	ending(ctx, a, &r)
	return exitCode(r.Status), printResult(ctx, a, r)
}

// printResult prints the answer, or the whole result as JSON with the context and
// trace that the agent asks for. The result has what only this process knows, such as tokens.
func printResult(ctx context.Context, a *app, r pawl.Result) error {
	if a.json {
		whole := explain.Result{Result: r}
		if j := a.current(); j != nil { // else a second signal has closed it
			all, err := explain.ResultOf(engine.Entries(context.WithoutCancel(ctx), j, r.Run, 1)) // the end of ctx may have suspended the run
			if err != nil {
				return err
			}
			whole.Context, whole.Trace = all.Context, all.Trace
		}
		return printJSON(a.out, whole)
	}
	answer := display.Clean(r.Answer)
	if strings.TrimSpace(answer) == "" {
		return nil
	}
	if !strings.HasSuffix(answer, "\n") {
		answer += "\n"
	}
	_, err := io.WriteString(a.out, answer)
	return err
}

// ending says in a few lines how a run ended and what the user can do; when quiet,
// in one line why it did not succeed. The result recommends the same.
func ending(ctx context.Context, a *app, r *pawl.Result) {
	why := r.Reason.Condition
	switch {
	case r.Reason.Detail != "" && why != "" && r.Status != pawl.StatusPlanFailed:
		why += " (" + r.Reason.Detail + ")"
	case r.Reason.Detail != "":
		why = r.Reason.Detail
	}
	endingSince(ctx, a, r, why)
}

// endingSince is ending with the reason given.
func endingSince(ctx context.Context, a *app, r *pawl.Result, why string) {
	line := r.Status.String()
	if why != "" {
		line += ": " + gist(why)
	}
	next, used := a.advise(ctx, r)
	if a.quiet {
		if r.Status != pawl.StatusSuccess {
			a.sayf("%s; run %s", line, r.Run)
		}
		return
	}
	a.cite(r.Citations)
	a.sayf("%s", line)
	a.sayf("%s", cmp.Or(used, figures(*r)))
	waits := "waits"
	if r.Status.Ended() { // it asks again when it is resumed
		waits = "left open"
	}
	for _, p := range r.Pending {
		a.sayf("  %s: %s", waits, pendingText(p))
	}
	if r.Status == pawl.StatusSuccess {
		return
	}
	for _, one := range next {
		a.sayf("next: %s", pasted(one))
	}
}

// figures is what a run used, in one line.
func figures(r pawl.Result) string {
	return (&explain.Report{Result: explain.Result{Result: r}}).Used()
}

// cite lists the sources that an answer cites, each once, on stderr: stdout has the answer alone.
func (a *app) cite(sources []pawl.Source) {
	seen := map[string]bool{}
	for _, s := range sources {
		if text := s.String(); !seen[text] {
			seen[text] = true
			a.sayf("source: %s", gist(text))
		}
	}
}

// pendingText is one pending request, in one line.
func pendingText(p pawl.Pending) string {
	text := fmt.Sprintf("%s %s", p.Kind, p.Call)
	if strings.Contains(p.Run, ".c_") {
		text += " of child run " + p.Run
	}
	if p.Tool != "" {
		args := pendingJSON(p.Args)
		text += fmt.Sprintf(": %s %s", p.Tool, args)
		if strings.Contains(args, display.Cropped) {
			text += " (whole: pawl show " + p.Run + " --json)"
		}
	}
	if p.Reason != "" {
		text += ": " + gist(p.Reason)
	}
	switch {
	case p.AnsweredAt != nil:
		text += " (answered by " + gist(p.AnsweredBy) + ", not yet read)"
	case p.ExpiresAt != nil && p.ExpiresAt.Before(time.Now()):
		text += " (expired " + when(*p.ExpiresAt) + ")"
	}
	return text
}

// liveView makes the view for the terminal that there is, if any; print prints an entry.
func (a *app) liveView(print func(pawl.Entry)) screen.View {
	f := a.terminal()
	switch {
	case a.quiet:
		return screen.Lines(func(pawl.Entry) {})
	case f == nil || a.getenv("TERM") == "dumb" || screen.Columns(f) == 0:
		return screen.Lines(print)
	}
	return screen.NewLive(a.err, f, a.coloured(), print)
}
