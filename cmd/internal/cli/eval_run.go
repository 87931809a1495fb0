package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"text/tabwriter"
	"time"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/cmd/internal/eval"
	"github.com/pawl-run/pawl/cmd/internal/screen"
	"github.com/pawl-run/pawl/engine"
	"github.com/pawl-run/pawl/internal/display"
	"github.com/pawl-run/pawl/runs"
)

// evaluation is one invocation of eval.
type evaluation struct {
	app  *app
	file *eval.File
	id   string
	settings
	driving *driving
	agents  map[string]*prepared // by agent and script, and by judge
	purse   *purse

	mu     sync.Mutex
	report eval.Report
}

// A job is one run of a case, with its judges.
type job struct {
	of     eval.Agent
	c      eval.Case
	repeat int
}

// run runs every case. Its error is of the journal; runs that fail are part of the report.
func (e *evaluation) run(ctx context.Context, j store) (*eval.Report, error) {
	e.report = eval.Report{Name: e.file.Name, ID: e.id, Threshold: e.file.Threshold, Runs: []eval.Run{}}
	jobs := make(chan job)
	var group sync.WaitGroup
	var broken error
	for range e.file.Parallel {
		group.Go(func() {
			for one := range jobs {
				done, err := e.one(ctx, j, one)
				e.mu.Lock()
				switch {
				case err != nil && broken == nil && ctx.Err() == nil:
					broken = err
				case done == nil:
					e.report.Skipped++
				default:
					e.report.Runs = append(e.report.Runs, *done)
					e.tell(done)
				}
				e.mu.Unlock()
			}
		})
	}
	for _, c := range e.file.Cases {
		for _, of := range e.file.Agents {
			for n := range e.file.Repeat {
				jobs <- job{of, c, n + 1}
			}
		}
	}
	close(jobs)
	group.Wait()
	e.report.Sum()
	return &e.report, broken
}

// tell says how a run went.
func (e *evaluation) tell(r *eval.Run) {
	if e.app.quiet {
		return
	}
	var scores []string
	for _, s := range r.Scores {
		scores = append(scores, fmt.Sprintf("%s %.2g", s.Scorer, s.Score))
	}
	e.app.sayf("%s, case %s: %s; %s, run %s", r.Agent, r.Case, strings.Join(scores, ", "), r.Status, r.Run)
}

// one runs a case and scores it; nil: it did not take place, or was paused.
func (e *evaluation) one(ctx context.Context, j store, one job) (*eval.Run, error) {
	p := e.agents[one.of.Name+"\x00"+one.c.Script]
	reserve := p.reserve
	talk := &conversation{job: one, eval: e, j: j, user: e.file.User}
	thread := ""
	if u := talk.user; u != nil {
		reserve += float64(u.Messages) * (p.reserve + e.agents[userKey(u, one.c)].reserve)
		thread = talk.thread("")
	}
	for _, s := range one.c.Scorers {
		if s.Kind == eval.Judge {
			reserve += e.agents[judgeKey(s.Judge)].reserve
		}
	}
	if e.broke(ctx) || !e.purse.reserve(reserve) {
		return nil, nil
	}
	spent := 0.0
	defer func() { e.purse.settle(reserve, spent) }()
	r, found, err := e.drive(ctx, j, p, one, "", one.c.Input, thread)
	if err == nil && talk.user != nil {
		r, err = talk.hold(ctx, p, r)
	} else {
		talk.all = []pawl.Result{r}
	}
	if err != nil || r.Status == pawl.StatusPaused {
		return nil, err
	}
	run := &eval.Run{
		Agent: one.of.Name, Case: one.c.ID, Repeat: one.repeat, Run: r.Run, Status: r.Status.String(),
		Messages: len(talk.told), Scores: append([]eval.Score{}, talk.failed...),
	}
	for _, r := range talk.all {
		run.Add(r)
	}
	for i, s := range one.c.Scorers {
		if s.Kind != eval.Judge {
			run.Scores = append(run.Scores, s.Of(one.c, r))
			continue
		}
		judged, err := e.judge(ctx, j, talk, i, r)
		if err != nil || judged.Status == pawl.StatusPaused {
			return nil, err
		}
		run.Scores = append(run.Scores, s.Judged(judged))
		run.CostUSD = eval.Plus(run.CostUSD, (*float64)(judged.CostUSD))
	}
	if p.played != nil && one.repeat == 1 && !found {
		if places := p.played.Unasked(); len(places) > 0 {
			run.Scores = append(run.Scores, eval.Score{Scorer: "script", Detail: "the run did not ask for " + strings.Join(places, ", ")})
		}
	}
	if run.CostUSD != nil {
		spent = *run.CostUSD
	}
	return run, nil
}

// broke reports whether nothing more may start.
func (e *evaluation) broke(ctx context.Context) bool {
	return ctx.Err() != nil || e.app.current() == nil
}

// judge asks a judge about a result.
func (e *evaluation) judge(ctx context.Context, j store, talk *conversation, n int, r pawl.Result) (pawl.Result, error) {
	one := talk.job
	s := one.c.Scorers[n]
	asked := map[string]any{"input": one.c.Input, "answer": r.Answer}
	if r.Output != nil {
		asked["answer"] = r.Output
	}
	if one.c.Expected != nil {
		asked["expected"] = one.c.Expected
	}
	if talk.told != nil {
		asked["conversation"] = talk.told
	}
	input, err := json.Marshal(asked)
	if err != nil {
		return pawl.Result{}, err
	}
	judged, _, err := e.drive(ctx, j, e.agents[judgeKey(s.Judge)], one, fmt.Sprintf("/judge-%d", n), string(input), "")
	return judged, err
}

// drive runs an agent to its end, or finds the run of an earlier invocation.
func (e *evaluation) drive(ctx context.Context, j store, p *prepared, one job, part, input, thread string) (r pawl.Result, found bool, err error) {
	labels := runs.Labels(p.agent.Labels, e.labels, map[string]string{"eval": e.file.Name, "eval_id": e.id, "case": one.c.ID})
	eng := e.app.engine(j, e.driving, p.agent)
	h, err := eng.Start(ctx, p.agent, input, &engine.StartOptions{
		Thread: thread, Labels: labels, Key: fmt.Sprintf("eval/%s/%s/%s/%d%s", e.id, one.of.Name, one.c.ID, one.repeat, part),
	})
	if changed, ok := errors.AsType[*engine.KeyError](err); ok {
		return r, false, misuse("case %s: evaluation %s has run %s, and since then %s changed; leave out --id to begin another", one.c.ID, e.id, changed.Run, strings.Join(changed.Parts, ", "))
	}
	if err != nil {
		return r, false, err
	}
	found = h.Found()
	r, err = h.Wait(context.WithoutCancel(ctx))
	if err == nil && found && r.Status == pawl.StatusPaused {
		if h, err = eng.Resume(ctx, p.agent, h.ID(), nil); err == nil {
			r, err = h.Wait(context.WithoutCancel(ctx))
		}
	}
	return r, found, err
}

// A purse is the money of an evaluation. Runs reserve what they may cost before they
// start, and pay what they did cost.
type purse struct {
	mu       sync.Mutex
	settled  *sync.Cond
	most     float64 // zero: no limit
	spent    float64
	reserved float64
}

func newPurse(most float64) *purse {
	p := &purse{most: most}
	p.settled = sync.NewCond(&p.mu)
	return p
}

// reserve waits for running runs to settle while that may help.
func (p *purse) reserve(amount float64) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	for p.most > 0 && p.spent+p.reserved+amount > p.most+1e-9 {
		if p.reserved == 0 {
			return false
		}
		p.settled.Wait()
	}
	p.reserved += amount
	return true
}

func (p *purse) settle(reserved, spent float64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.reserved -= reserved; p.reserved < 1e-9 {
		p.reserved = 0
	}
	p.spent += spent
	p.settled.Broadcast()
}

// printEval prints a report as tables.
func (con *console) printEval(r *eval.Report) error {
	w := tabwriter.NewWriter(con.out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "AGENT\tSCORER\tPASSED\tMEAN\tCOST\tP50\tP95\tTOKENS")
	for _, a := range r.Agents {
		for i, m := range a.Scorers {
			fmt.Fprintf(w, "%s\t%s\t%d/%d\t%.2f", screen.OneLine(a.Agent), m.Scorer, m.Passed, m.Of, m.Mean)
			if i == 0 {
				fmt.Fprintf(w, "\t%s\t%s\t%s\t%s", usd((*pawl.Decimal)(a.CostUSD)), lasting(a.P50), lasting(a.P95), display.Group(a.Tokens))
			}
			fmt.Fprintln(w)
		}
	}
	head := "\nFAILED\tCASE\tSCORER\tRUN\tWHY\n"
	for _, run := range r.Runs {
		for _, s := range run.Scores {
			if !s.Pass {
				fmt.Fprintf(w, "%s%s\t%s\t%s\t%s\t%s\n", head, screen.OneLine(run.Agent), screen.OneLine(run.Case), s.Scorer, run.Run, gist(s.Detail))
				head = ""
			}
		}
	}
	if err := w.Flush(); err != nil {
		return err
	}
	if r.Skipped > 0 {
		con.sayf("%s did not take place: the evaluation was interrupted, or its limit of cost would not hold; continue it with --id %s", display.Count(r.Skipped, "run"), r.ID)
	}
	if t := r.Threshold; t != nil && !r.Met {
		con.sayf("the threshold of %v is not met", *t)
	}
	return nil
}

func lasting(ms int64) string { return display.Lasting(time.Duration(ms) * time.Millisecond) }
