package explain

import (
	"encoding/json"
	"slices"
	"strings"
	"time"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/internal/meter"
)

// fold builds a report entry by entry. Entries of one step have the same At, as
// in replay; external entries are on their own.
type fold struct {
	opt       Options
	state     *pawl.State
	decl      pawl.Declaration // in force at the step being explained
	decisions []Decision
	cost      map[string]Part
	failures  []Failure
	graph     json.RawMessage // the latest graph of causes
	trying
	tracing
	money    spender
	step     []pawl.Entry
	decision Decision // of the step
	doing    doing

	// The causes of the next turn, since the previous one.
	answered []string
	causes   []Phrase
	rejected int  // the number of rejections since the last reply
	lost     bool // a model call was lost with the run's owner
	acted    []string
	back     bool // the run was resumed and has not observed since
	baseline *pawl.Measured
	measure  *pawl.Measured // the latest
	trend    meter.Trend    // of the latest turn
	turn     int            // the iteration of the latest measurement
	flight   *pawl.Entry    // the model call in flight
	fallback int            // the index of the model of the last call
	quiet    uint64         // the last entry at which nothing was in flight
	forked   pawl.RunForked
	editing  bool // what follows the latest run.forked is edited
}

func newFold(o *Options) *fold {
	f := &fold{
		state: new(pawl.State), trend: meter.Unknown, money: newSpender(),
		decisions: []Decision{}, cost: map[string]Part{}, failures: []Failure{},
	}
	if o != nil {
		f.opt = *o
	}
	return f
}

// add takes an entry in. What an entry says depends on the state before it.
func (f *fold) add(e pawl.Entry) {
	external := pawl.External(e.Event)
	if external || len(f.step) > 0 && f.step[0].At != e.At {
		f.close()
	}
	switch {
	case external:
		f.outside(e)
		f.declare(e.Event)
	case len(f.step) == 0:
		f.begin(e)
		fallthrough
	default:
		if f.step = append(f.step, e); f.decision.Step == "act" {
			f.do(e)
		}
	}
	was := spentBy(f.state)
	f.state.Fold(e)
	if !f.state.InFlight() {
		f.quiet = e.Seq
	}
	f.account(e, was)
	f.tracing.add(e, f.state)
}

// declare keeps the declaration, because the state returns a copy.
func (f *fold) declare(event pawl.Event) {
	switch e := event.(type) {
	case pawl.RunStarted:
		f.decl = e.Declaration
	case pawl.RunResumed:
		if e.Changed != nil {
			f.decl = *e.Changed
		}
	}
}

// begin begins the step whose first entry comes next, and says why it is made.
func (f *fold) begin(e pawl.Entry) {
	f.decision = Decision{Seq: e.Seq, Iteration: e.Iteration, Time: e.Time, Step: kind(e.Event, f.state)}
	switch f.decision.Step {
	case "think":
		f.think(&f.decision, e.Event)
	case "observe":
		f.observe(&f.decision)
	case "act":
		f.acted = nil
	}
}

// close explains the collected step.
func (f *fold) close() {
	if len(f.step) == 0 {
		return
	}
	d := f.decision
	d.last = f.step[len(f.step)-1].Seq
	switch d.Step {
	case "think":
		f.thought(&d)
	case "observe":
		f.observed(&d)
	case "act":
		f.act(&d)
	case "await":
		f.await(&d)
	case "finish":
		f.finish(&d)
	default:
		f.record(&d)
	}
	f.push(d)
	clear(f.step)
	f.step = f.step[:0]
}

// kind returns the name of the step that an entry began.
func kind(event pawl.Event, before *pawl.State) string {
	switch e := event.(type) {
	case pawl.ModelCalled, pawl.ModelReplied, pawl.ModelFailed:
		return "think"
	case pawl.Observed, pawl.Measured:
		return "observe"
	case pawl.RunPaused:
		return "await"
	case pawl.RunStopped:
		return "finish"
	case pawl.ToolStarted, pawl.ToolReused, pawl.ToolRefused, pawl.ApprovalRequested, pawl.ClientToolRequested,
		pawl.MemoryStored, pawl.ProgressLogged, pawl.ChildStarted, pawl.ChildStopped:
		return "act"
	case pawl.ToolFinished:
		if c, ok := before.Call(e.Call); ok && c.Phase == pawl.PhaseLost {
			return "record" // an unknown outcome reported to the model
		}
		return "act"
	case pawl.InputRequested:
		if _, ok := before.Call(e.Call); ok {
			return "act"
		}
	case pawl.Noted:
		if e.By == completeTool || e.By == toolsFound {
			return "act"
		}
	}
	return "record"
}

// completeTool is the built-in tool for the final answer, which it notes first.
const completeTool = "__complete__"

// searchTool is the tool that finds deferred tools, and toolsFound who notes them.
const searchTool, toolsFound = "tool_search", "__tools__"

func (f *fold) push(d Decision) {
	if d.Outcome == nil {
		d.Outcome = []Phrase{}
	}
	f.decisions = append(f.decisions, d)
}

// because records a cause of the next turn, without duplicates.
func (f *fold) because(p Phrase) {
	if !slices.Contains(f.causes, p) {
		f.causes = append(f.causes, p)
	}
}

// report finishes the report.
func (f *fold) report() Report {
	f.close()
	s := f.state
	r := Report{
		Result: Result{Result: s.Result()}, Decisions: f.decisions, Cost: f.cost, Failures: f.failures, Ceilings: ceilings(s),
		opt: f.opt, created: s.Created(), updated: s.Time(), seq: s.Seq(), quiet: f.quiet, fork: f.forked, now: f.opt.Now, wakeAt: s.WakeAt(),
	}
	start, _ := s.Start()
	r.Context = answers(s, r.Result.Result, start.Declaration.ResultKey)
	if f.on {
		r.Trace = f.thoughts(s)
	}
	if r.now.IsZero() {
		r.now = s.Time()
	}
	f.attempt("no measurement followed")
	r.Attempts, r.Flaky, r.Causes = f.attempts, f.flaky, f.graph
	r.Goal = f.goal()
	r.begun, _ = s.Start()
	r.planned = planned(s, &r.begun.Declaration)
	if reply, ok := s.Replied(pawl.PurposeFinal); ok && !s.Done() && r.Answer != "" {
		handedIn := start.Declaration.Strategy == pawl.StrategyJSON && s.RepliedAt(pawl.PurposeFinal) > s.RepliedAt(pawl.PurposeTurn)
		r.Landing = handedIn || r.Answer == reply.Text()
	}
	_, known := s.Cost()
	for part, p := range r.Cost {
		if known {
			p.CostUSD = decimal(p.dollars)
		}
		r.Cost[part] = p
	}
	r.Spending = f.money.close(known)
	r.hear()
	r.stands(s)
	if r.over() {
		r.Resumable = false
	}
	r.flight = f.inFlight()
	r.source = s.Declaration().Source
	r.origin, r.rules = originOf(r.source), byRules(s.Declaration())
	r.Next = next(s, &r)
	if (r.Status != pawl.StatusSuccess || r.handed()) && len(r.Next) > 0 {
		r.Action = r.Next[0].Command
	}
	return r
}

// over reports whether the conversation continued in another run without
// resolving what this run left open.
func (r *Report) over() bool {
	return r.opt.Continued != "" && r.Status.Ended() && r.Status != pawl.StatusSuccess
}

// handed reports whether another run has the conversation because the agent handed it over.
func (r *Report) handed() bool {
	return r.opt.Continued != "" && r.Status == pawl.StatusSuccess && strings.HasPrefix(r.Reason.Leaf, "handoff(")
}

// hear marks what has been answered.
func (r *Report) hear() {
	for i := range r.Pending {
		p := &r.Pending[i]
		for _, known := range r.opt.Waits {
			if known.Run == p.Run && known.Call == p.Call && known.Kind == p.Kind {
				p.AnsweredAt, p.AnsweredBy = known.AnsweredAt, known.AnsweredBy
			}
		}
	}
}

// answered reports whether some, and whether all, of what the run and its children
// wait for has been answered.
func (r *Report) answered() (some, all bool) {
	if !r.Status.Waiting() {
		return false, false
	}
	all = len(r.opt.Waits) > 0
	for _, p := range r.opt.Waits {
		some, all = some || p.AnsweredAt != nil, all && p.AnsweredAt != nil
	}
	return some, all
}

// stands corrects the status with facts that are not in the log.
func (r *Report) stands(s *pawl.State) {
	status := r.opt.Status
	if status == 0 && s.Status().Waiting() && expired(r.Pending, r.now) {
		status = pawl.StatusExpired
	}
	if status == 0 || status == r.Status {
		return
	}
	r.Status, r.Verdict.Status = status, status
	r.Resumable = status.Resumable() && !s.Redacted() && !s.Torn()
}

// expired reports whether every pending request has expired.
func expired(pending []pawl.Pending, now time.Time) bool {
	for _, p := range pending {
		if p.ExpiresAt == nil || now.Before(*p.ExpiresAt) || p.AnsweredAt != nil { // only answers in time are recorded
			return false
		}
	}
	return len(pending) > 0
}
