package explain

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/internal/display"
	"github.com/pawl-run/pawl/internal/usercode"
)

// A Place is where commands about a run are typed, and what they can do there.
// The zero Place is a shell on the machine with pawl's default database.
type Place struct {
	// Flags are appended to every command, such as --server and an address.
	Flags []string
	// Server reports that a server drives the runs. It accepts limits, and
	// creates agents only from recorded specs.
	Server bool
	// NoDecide reports that commands there cannot approve, answer or settle, since
	// the token that they use lacks the scope decide.
	NoDecide bool
	// Changed are the parts of the run's agent that its files there have changed since
	// it was recorded, which a resumption must allow.
	Changed []string
	// Held returns the file of the policy that an agent's source records, and which of a run's
	// limits are the most that it allows, as leaves of a stop condition name them. Nil: there
	// are no policies.
	Held func(source string, l pawl.Limits) (file string, kinds []string)
}

// Command returns a command as typed at the place.
func (p Place) Command(words ...string) string {
	return p.typed(shells(words))
}

func (p Place) typed(command string) string {
	if len(p.Flags) == 0 {
		return command
	}
	return command + " " + shells(p.Flags)
}

// shells quotes words for a shell; words that begin with -- are flags.
func shells(words []string) string {
	quoted := make([]string, len(words))
	for i, w := range words {
		if quoted[i] = w; !strings.HasPrefix(w, "--") || !bare.MatchString(w) {
			quoted[i] = shell(w)
		}
	}
	return strings.Join(quoted, " ")
}

// An origin is the source of the run's agent, which determines who can create
// it again.
type origin int

const (
	byProgram origin = iota // a Go program, which only the program itself can create
	bySpec                  // a spec, which is in the log
	byFix                   // pawl fix, pawl repro or pawl refactor, with a working copy
	byReview                // pawl review, whose input is a change
)

func originOf(source string) origin {
	var of struct{ Kind string }
	_ = json.Unmarshal([]byte(source), &of) // the content is up to the program
	switch of.Kind {
	case "spec":
		return bySpec
	case "fix", "repro", "refactor":
		return byFix
	case "review":
		return byReview
	}
	return byProgram
}

// An adviser lists what can be done about a run, the most likely action first.
// Every command can be typed as it is, after replacing its words in capitals.
type adviser struct {
	r       *Report
	run     string // as typed
	origin  origin
	orphan  bool // an ancestor was deleted, so the inherited settings are unknown
	rules   bool // the model is rule-based and reads no text
	actions []Action
	missed  Phrase // why a useful command is not available at this place
}

// next lists what can be done about a run.
func next(s *pawl.State, r *Report) []Action {
	a := r.adviser()
	switch {
	case s.Redacted():
		if r.Status != pawl.StatusSuccess && !r.opt.Place.Server {
			a.add("pawl export "+a.run+" --raw", "where it was exported, for a file that can be imported and resumed")
		}
		return a.actions
	case s.Torn() && r.Status != pawl.StatusSuccess:
		a.fork("", "to go on from where it is known to have stood; what its export lost may have happened")
	case r.over():
		a.add("pawl explain "+shell(r.opt.Continued), "to see how its thread went on")
		a.fork("INPUT", "to go another way from here")
	case r.handed():
		a.add("pawl wait "+shell(r.opt.Continued), "for the answer of the agent that has the conversation now")
		a.add("pawl explain "+shell(r.opt.Continued), "to see how that agent goes on")
	default:
		a.stands(s)
	}
	if len(a.actions) == 0 && r.Status != pawl.StatusSuccess {
		a.add("pawl explain "+a.run, "to see where it stands"+a.missed)
	}
	return a.actions
}

// Recommend puts an action before all others: what is outside the log, such as a change that
// was not applied, calls for it.
func (r *Report) Recommend(command, why string) {
	r.Next, r.Action = slices.Insert(r.Next, 0, Action{command, Phrase(oneLine(why))}), command
}

func (r *Report) adviser() *adviser {
	return &adviser{r: r, run: shell(r.Run), origin: r.origin, orphan: r.opt.Orphan, rules: r.rules, actions: []Action{}}
}

// stands advises by the run's status.
func (a *adviser) stands(s *pawl.State) {
	r := a.r
	const retry = "to try again as it is"
	switch r.Status {
	case pawl.StatusSuccess:
		if s.LastStep() == "" { // a workflow has nothing more to answer
			a.fork("INPUT", "to ask for something further, in a new run that knows all of this")
		}
	case pawl.StatusExhausted:
		a.exhausted(s)
	case pawl.StatusNoProgress:
		if a.rules {
			a.resume("to go on with a model in place of the rules, which have no further edit to try", "--model PROVIDER/NAME", "--allow-change")
			return
		}
		a.fork("INPUT", "to go on with a hint")
		a.resume("to go on with another prompt, model or tool", "--spec SPEC", "--allow-change")
		a.resume(retry + "; repetitions and failing turns are counted from zero")
	case pawl.StatusWaitingApproval, pawl.StatusWaitingInput, pawl.StatusWaitingClientTool, pawl.StatusWaitingDoubt:
		a.waiting(s)
	case pawl.StatusExpired:
		a.resume("to ask again")
	case pawl.StatusDenied:
		a.fork("INPUT", "to ask for something else from here on")
		a.resume("to go on once the agent or the decision is another")
	case pawl.StatusPlanFailed:
		a.resume("to go on with another model", "--model PROVIDER/NAME", "--allow-change")
		a.resume("to go on with a clearer prompt, simpler tools or other guards", "--spec SPEC", "--allow-change")
		a.resume(retry)
	case pawl.StatusFailed:
		a.failed(s)
	case pawl.StatusCancelled:
		a.resume("to go on where it was cancelled")
	case pawl.StatusPaused:
		why := Phrase("to go on where it was paused")
		if !r.wakeAt.IsZero() {
			why = Phrase("to go on, from " + stamp(r.wakeAt))
		}
		a.resume(why)
	case pawl.StatusInterrupted:
		a.resume("to go on; its process ended")
	case pawl.StatusQueued:
		a.add("pawl wait "+a.run, "to wait until a worker of its agent has driven it")
		a.resume("to drive it here, now")
		a.add("pawl cancel "+a.run+" --reason TEXT", "to end it")
	default:
		a.add("pawl wait "+a.run, "to wait until it ends or waits for somebody")
		a.add("pawl events "+a.run+" --follow", "to watch it")
		a.add("pawl cancel "+a.run+" --reason TEXT", "to end it")
	}
	if r.Status == pawl.StatusPaused || r.Status == pawl.StatusCancelled || r.Status == pawl.StatusInterrupted {
		a.answer(r.Pending)
	}
}

// add adds a command, once.
func (a *adviser) add(command string, why Phrase) {
	command = a.r.opt.Place.typed(command)
	if !slices.ContainsFunc(a.actions, func(other Action) bool { return other.Command == command }) {
		a.actions = append(a.actions, Action{command, why})
	}
}

// resume adds the command that resumes the run; for a child, its root. A child
// that has ended has returned its result, so it can only be forked.
func (a *adviser) resume(why Phrase, flags ...string) {
	if a.r.opt.Root != "" && !a.orphan {
		if a.r.Status.Ended() {
			a.fork("", why+"; in a run of its own, for the run that called it has its result", flags...)
			return
		}
		flags = nil // flags of the child do not apply to its root
	}
	if flags, why, ok := a.may("resumes", flags, why); ok {
		a.add(strings.Join(append([]string{"pawl resume", shell(a.goesOn())}, flags...), " "), why)
	}
}

// goesOn returns the run that must be resumed to continue this one.
func (a *adviser) goesOn() string {
	if a.r.opt.Root != "" && !a.orphan {
		return a.r.opt.Root
	}
	return a.r.Run
}

// fork adds the command that continues in a new run, with an optional input.
func (a *adviser) fork(input string, why Phrase, flags ...string) {
	if a.origin == byFix && (a.rules && input != "" || a.r.Status == pawl.StatusSuccess) {
		return // rules read no input, and a finished fix has no working copy
	}
	if a.origin == byReview && input != "" {
		return // the input is not for people
	}
	flags = slices.DeleteFunc(slices.Clone(flags), func(f string) bool { return f == "--allow-change" }) // a fork may always change
	flags, why, ok := a.may("forks", flags, why)
	if !ok {
		return
	}
	flags = slices.DeleteFunc(flags, func(f string) bool { return f == "--allow-change" })
	words := append([]string{"pawl fork", a.run, fmt.Sprintf("--at %d", a.r.quiet)}, flags...)
	if input != "" {
		words = append(words, input)
	}
	a.add(strings.Join(words, " "), why)
}

// may returns the flags with which the run can be resumed or forked at the
// place, and false if it cannot.
func (a *adviser) may(does Phrase, flags []string, why Phrase) ([]string, Phrase, bool) {
	named := func(names ...string) bool {
		return slices.ContainsFunc(flags, func(f string) bool {
			name, _, _ := strings.Cut(f, " ")
			return slices.Contains(names, name)
		})
	}
	far := a.r.opt.Place.Server
	switch {
	case a.origin == byProgram && far:
		a.missed = "; the program that started it " + does + " it"
		return nil, why, false
	case a.origin == byFix && far:
		a.missed = "; it goes on where its working copy is, with: " + typed("pawl resume "+a.run)
		return nil, why, false
	case (a.origin == byFix || a.origin == byReview) && named("--spec"):
		return nil, why, false // it has no stop condition to change
	case far && named("--spec", "--model", "--stop", "--policy"):
		a.missed = "; it goes on where its database is, with: " + typed("pawl resume "+a.run+" "+strings.Join(flags, " "))
		return nil, why, false
	case a.origin == byProgram || a.orphan:
		flags = slices.DeleteFunc(slices.Clone(flags), func(f string) bool {
			return f == "--model PROVIDER/NAME" || f == "--spec SPEC" || f == "--allow-change"
		})
		flags = append(flags, "--spec SPEC", "--allow-change")
		if a.origin == byProgram {
			return flags, why + "; from here that needs the spec, from the program that started the run it does not", true
		}
		return flags, why + "; the run that called it is gone, so its agent is not known otherwise", true
	case does == "resumes" && len(a.r.opt.Place.Changed) > 0 && !named("--allow-change"):
		flags = append(slices.Clone(flags), "--allow-change")
		return flags, why + Phrase("; its agent has changed: "+strings.Join(a.r.opt.Place.Changed, ", ")), true
	}
	return flags, why, true
}

// typed marks a command within a reason.
func typed(command string) Phrase { return Phrase(openName + oneLine(command) + closeName) }

// waiting lists how to answer what the run and its children wait for.
func (a *adviser) waiting(s *pawl.State) {
	some, all := a.r.answered()
	known := a.r.opt.Waits
	if known == nil {
		known = a.r.Pending
	}
	if some {
		why := Phrase("to use what is recorded")
		if i := slices.IndexFunc(known, func(p pawl.Pending) bool { return p.AnsweredAt == nil }); i >= 0 {
			why += Phrase("; " + name(known[i].Call) + " still waits")
		}
		a.resume(why)
	}
	a.answer(known)
	for c := range s.Open() {
		below := func(p pawl.Pending) bool { return p.Run == c.Child || strings.HasPrefix(p.Run, c.Child+".") }
		if c.Phase == pawl.PhaseAwaitingChild && !all && !slices.ContainsFunc(known, below) {
			if a.r.opt.Waits != nil {
				a.resume("to go on; its child run waits for nothing any more")
			}
			a.add("pawl explain "+shell(c.Child), "to see what its child run waits for; what is given to that is this one's, too")
		}
	}
	if len(a.actions) == 0 && a.missed == "" { // the log does not say what it waits for
		a.resume("to go on")
	}
}

// answer lists how to answer what runs wait for.
func (a *adviser) answer(all []pawl.Pending) {
	if a.r.opt.Place.NoDecide {
		if slices.ContainsFunc(all, func(p pawl.Pending) bool { return p.AnsweredAt == nil }) {
			a.missed = "; somebody whose token has the scope decide can answer it"
		}
		return
	}
	approvals := 0
	for _, p := range all {
		if p.AnsweredAt != nil {
			continue
		}
		run, call := shell(p.Run), shell(p.Call)
		what := Phrase(name(p.Call + " " + p.Tool))
		switch p.Kind {
		case "approval":
			approvals++
			a.add("pawl approve "+run+" "+call, "to let "+what+" run (--args JSON to run it with other arguments)")
			a.add("pawl deny "+run+" "+call+" --reason TEXT", "to refuse it; the model is told why")
		case "input":
			a.add("pawl answer "+run+" TEXT --id "+call, "to answer the question")
		case "client_tool":
			a.add("pawl submit "+run+" "+call+" JSON", "to hand in the result of "+what)
		case "doubt":
			a.add("pawl settle "+run+" "+call+" --happened JSON", "if "+what+" took place, with its result")
			a.add("pawl settle "+run+" "+call+" --did-not-happen", "if it did not; it is then run again")
		}
	}
	if approvals > 1 {
		a.add("pawl approve "+a.run+" --all", "to let all of them run")
	}
}

// leafSource matches a leaf of a stop condition that compares a count with a
// limit.
var leafSource = regexp.MustCompile(`^(iterations|tokens|cost|elapsed|tool_calls) (>=|>|==) ([0-9.a-z]+)$`)

// leaves matches the leaves of a condition that [leafSource] matches.
var leaves = regexp.MustCompile(`\b(iterations|tokens|cost|elapsed|tool_calls) (>=|>|==) [0-9.a-z]+`)

// exhausted suggests raising what was reached: the limit, the stop condition,
// or both. A condition that still holds would end the run again at once.
func (a *adviser) exhausted(s *pawl.State) {
	if strings.HasPrefix(s.Verdict().Leaf, "budget ") {
		_, at, _ := strings.Cut(s.Verdict().Detail, "the next period begins at ")
		next, err := time.Parse(time.RFC3339, at)
		begun := err == nil && !a.r.now.Before(next)
		if begun {
			a.resume("since the next period has begun")
		}
		if a.r.opt.Place.Server || a.origin == byFix || a.origin == byReview {
			a.resume("to go on once the budget is higher")
		} else {
			inSpec, inPolicy := budgeted(s.Declaration().Source)
			if inPolicy {
				a.resume("to go on with a policy file that has a higher budget", "--policy POLICY")
			}
			if inSpec || !inPolicy {
				a.resume("to go on with a spec that has a higher budget", "--spec SPEC")
			}
		}
		if err == nil && !begun {
			a.resume("to go on when the next period has begun")
		}
		return
	}
	kind := refusal(s)
	var flags []string
	why := Phrase("to go on with a higher limit")
	if limits := usedUp(s, kind); limits != nil {
		flags = append(flags, "--limit "+strings.Join(limits, ","))
	}
	if higher := raiseStop(s); higher != "" {
		flags = append(flags, "--stop "+higher)
		why = "to go on with another stop condition; the one that held would hold again"
	}
	if of := a.r.opt.Place.Held; of != nil && kind != "" {
		if file, kinds := of(s.Declaration().Source, s.Limits()); slices.Contains(kinds, kind) {
			flags = append(flags, "--policy "+shell(file), "--allow-change")
			why = Phrase("to go on once " + file + " allows more")
		}
	}
	a.resume(why, flags...)
}

// budgeted reports whether the spec and the policy file in an agent's source have budgets.
func budgeted(source string) (inSpec, inPolicy bool) {
	type file struct{ Document string }
	var of struct {
		file
		Policy file
	}
	_ = json.Unmarshal([]byte(source), &of) // the content is up to the program
	return strings.Contains(of.Document, "budgets"), strings.Contains(of.Policy.Document, "budgets")
}

// usedUp returns the limits to raise: the one that ended the run, and those that would
// end it next.
func usedUp(s *pawl.State, kind string) (raised []string) {
	l := s.Limits()
	for _, one := range []struct {
		kind string
		over bool
	}{
		{"elapsed", s.Elapsed() >= l.Time},
		{"iterations", s.Iteration() >= l.Iterations},
		{"tokens", s.Tokens() >= l.Tokens},
		{"cost", l.Cost > 0 && costs(s) >= l.Cost},
		{"rounds", false},
	} {
		if one.over || one.kind == kind {
			raised = append(raised, raise(s, one.kind))
		}
	}
	return raised
}

func costs(s *pawl.State) float64 {
	dollars, _ := s.Cost()
	return dollars
}

// raise returns a limit that suffices for a few more turns.
func raise(s *pawl.State, kind string) string {
	l := s.Limits()
	spent, _ := s.Cost()
	turns := max(1, s.Iteration())
	needed, priced := refusedRequest(s.Verdict().Detail)
	switch kind {
	case "rounds":
		return "rounds=+2"
	case "iterations":
		return fmt.Sprintf("iterations=+%d", max(5, l.Iterations/4))
	case "tokens":
		each := max(s.Tokens()/turns, needed)
		return fmt.Sprintf("tokens=+%d", round(max(l.Tokens/2, 5*each, s.Tokens()-l.Tokens+5*each)))
	case "cost":
		each := max(spent/float64(turns), priced)
		return fmt.Sprintf("cost=+%.2f", math.Ceil(100*max(l.Cost/2, 5*each))/100)
	case "elapsed":
		return "time=+" + display.Duration((max(l.Time/2, s.Elapsed()-l.Time+time.Minute)).Round(time.Second))
	}
	return kind + "=+5"
}

// The text about a request that a token or dollar limit refused.
var (
	neededTokens  = regexp.MustCompile(`the next request needs about ([0-9,]+) and ([0-9]+) for a reply$`)
	neededDollars = regexp.MustCompile(`the next request costs about \$([0-9.]+) before its reply$`)
)

// refusedRequest returns the tokens and dollars of the refused request; zero if
// the log does not say. Before the first reply this is the only measure.
func refusedRequest(detail string) (tokens int, dollars float64) {
	if m := neededTokens.FindStringSubmatch(detail); m != nil {
		in, _ := strconv.Atoi(strings.ReplaceAll(m[1], ",", ""))
		out, _ := strconv.Atoi(m[2])
		tokens = in + out
	}
	if m := neededDollars.FindStringSubmatch(detail); m != nil {
		dollars, _ = strconv.ParseFloat(m[1], 64)
	}
	return tokens, dollars
}

// round rounds n up to two significant digits.
func round(n int) int {
	unit := 1
	for n/unit >= 100 {
		unit *= 10
	}
	return (n + unit - 1) / unit * unit
}

// raiseStop returns the stop condition with every count that it bounds and that is used up
// raised; EXPR if the leaf that decided is not such a count; empty: none is used up.
func raiseStop(s *pawl.State) string {
	source, decided := s.StopSource(), s.Verdict().Leaf
	kind := refusal(s)
	raised, known := leaves.ReplaceAllStringFunc(source, func(leaf string) string {
		higher, over := raiseLeaf(s, leaf)
		if leaf == decided || over && !strings.Contains(source, "&&") && !strings.Contains(source, "!") {
			return higher
		}
		return leaf
	}), leafSource.MatchString(decided) && strings.Contains(source, decided)
	switch {
	case kind == "" && !known:
		return "EXPR"
	case raised == source:
		return ""
	}
	return shell(raised)
}

// raiseLeaf returns a comparison with a higher bound, and whether the present one is used up.
func raiseLeaf(s *pawl.State, leaf string) (higher string, over bool) {
	m := leafSource.FindStringSubmatch(leaf)
	bound := m[3]
	if n, err := strconv.Atoi(bound); err == nil && m[1] != "elapsed" && m[1] != "cost" {
		used := map[string]int{"iterations": s.Iteration(), "tokens": s.Tokens(), "tool_calls": s.ToolCalls()}[m[1]]
		more := max(5, n/2)
		if m[1] == "tokens" {
			more = max(more, 5*used/max(1, s.Iteration()))
		}
		bound, over = strconv.Itoa(max(n, used)+more), used > n || used == n && m[2] != ">"
	} else if d, err := time.ParseDuration(bound); err == nil {
		bound, over = display.Duration((max(d, s.Elapsed()) + max(d/2, time.Minute)).Round(time.Second)), s.Elapsed() >= d
	} else if v, err := strconv.ParseFloat(bound, 64); err == nil {
		bound, over = strconv.FormatFloat(math.Ceil(150*max(v, costs(s)))/100, 'g', -1, 64), costs(s) >= v
	}
	return m[1] + " " + m[2] + " " + bound, over
}

// stopFailed reports whether the run's own stop condition ended it as failed.
func (r *Report) stopFailed() bool {
	return r.Status == pawl.StatusFailed && strings.Contains(r.Reason.Condition, "failed(")
}

// failed advises on a failed run.
func (a *adviser) failed(s *pawl.State) {
	r := a.r
	if r.Reason.Leaf == "doubt" {
		a.answer(r.Pending)
		a.resume("to continue once the doubt is settled")
		return
	}
	anotherModel := func(why Phrase) { a.resume(why, "--model PROVIDER/NAME", "--allow-change") }
	if r.stopFailed() {
		a.resume("to go on with another stop condition; the one that held would hold again", "--stop EXPR")
		a.fork("INPUT", "to ask for something else from here on")
		return
	}
	otherWords := func() { a.fork("INPUT", "to put it to the model in other words") }
	why := Phrase("to go on once the cause is fixed")
	if f, ok := s.Failure(); ok {
		switch f.Class {
		case pawl.ClassAuth:
			why = "to go on once the provider's key is set (ANTHROPIC_API_KEY, OPENAI_API_KEY or GEMINI_API_KEY)"
		case pawl.ClassQuota:
			why = "to go on once the account has credit again"
		case pawl.ClassNotFound, pawl.ClassInvalid, pawl.ClassPanic:
			anotherModel("to go on with another model")
		case pawl.ClassRefused:
			otherWords()
		case pawl.ClassTooLong:
			anotherModel("to go on with a model that reads more")
		case pawl.ClassRateLimit, pawl.ClassOverloaded, pawl.ClassNetwork, pawl.ClassEmpty, pawl.ClassTruncated, pawl.ClassUnknown:
			why = "to try again; the attempts are counted from zero"
		}
	}
	switch r.Reason.Leaf {
	case "refused":
		otherWords()
	case "grounding":
		why = "to have the model answer again, with as many tries as before"
		anotherModel("to go on with a model that keeps to what the tools said")
	case usercode.PanicLeaf:
		why = "to go on once the code that panicked is fixed"
	case "policy":
		a.resume("to go on with policies that agree", "--spec SPEC", "--allow-change")
	}
	if _, ok := s.Failure(); !ok && strings.HasPrefix(r.Reason.Leaf, "step(") && r.opt.Root == "" {
		a.failedStep(s)
		return
	}
	a.resume(why)
}

// failedStep advises on a workflow whose step failed: by what it called, or else because the
// spec and the data do not fit together, and nothing changes that but one of them. The input
// comes first only if the step names it: another step's output follows from the spec, too.
func (a *adviser) failedStep(s *pawl.State) {
	id, _ := strconv.Unquote(strings.TrimSuffix(strings.TrimPrefix(a.r.Reason.Leaf, "step("), ")"))
	failed := map[string]bool{} // the last call of each part of the step
	for c := range s.Calls() {
		if name, _, _ := strings.Cut(c.Step, "@"); name == id || strings.HasPrefix(name, id+"[") {
			failed[c.Step] = c.Ran && !c.OK()
		}
	}
	called := slices.Contains(slices.Collect(maps.Values(failed)), true)
	reads := strings.Contains(a.r.Reason.Detail, "input")
	change := func() { a.resume("to go on at the step once the spec fits the data", "--allow-change") }
	if called {
		a.resume("to try the step again once what it calls works")
	}
	if called || !reads {
		change()
	}
	if a.origin == bySpec {
		spec := "SPEC"
		if a.r.opt.Place.Server {
			spec = shell(a.r.Agent)
		}
		a.add("pawl run "+spec+" INPUT", "to begin again with an input that fits the spec")
	}
	if !called && reads {
		change()
	}
}

// bare matches a word that needs no quoting in a shell.
var bare = regexp.MustCompile(`^[A-Za-z0-9_.:/@%+=,-]+$`)

// shell quotes a word for a POSIX shell.
func shell(word string) string {
	word = oneLine(word)
	if bare.MatchString(word) && !strings.HasPrefix(word, "-") {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}
