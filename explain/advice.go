package explain

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/internal/usercode"
)

// An Action is a suggestion for what to do next. Command can be typed as it is,
// after replacing the words in capitals.
type Action struct {
	Command string `json:"command"`
	Why     Phrase `json:"why"`
}

// advised is a row of the advice about runs: a run of this status that lacks this
// can be helped by this command. Braces hold what differs from run to run.
type advised struct {
	status       pawl.Status // zero: any
	lacks        string
	command, why string
}

const (
	another  = " --model PROVIDER/NAME --allow-change"
	reformed = " --spec SPEC --allow-change"
)

// advice is all advice, for a status and a lack the most likely row first.
var advice = []advised{
	{pawl.StatusSuccess, "", "pawl fork {run} INPUT", "to ask for something further, in a new run that knows all of this"},

	{pawl.StatusExhausted, "a limit", "pawl resume {run}{raised}", "to go on with a higher limit"},
	{pawl.StatusExhausted, "another stop", "pawl resume {run}{raised}", "to go on with another stop condition; the one that held would hold again"},
	{pawl.StatusExhausted, "a policy", "pawl resume {run}{raised} --policy {policy} --allow-change", "to go on once {policy} allows more"},
	{pawl.StatusExhausted, "a period", "pawl resume {run}", "to go on; the next period of its budget has begun"},
	{pawl.StatusExhausted, "a budget", "pawl resume {run} --{file}", "to go on with a {what} that has a higher budget"},
	{pawl.StatusExhausted, "a budget", "pawl resume {run}", "to go on once its budget is higher or its next period has begun"},

	{pawl.StatusNoProgress, "", "pawl fork {run} INPUT", "to go on with a hint"},
	{pawl.StatusNoProgress, "", "pawl resume {run}" + reformed, "to go on with another prompt, model or tool"},
	{pawl.StatusNoProgress, "", "pawl resume {run}", "to try again as it is; repetitions and failing turns are counted from zero"},
	{pawl.StatusNoProgress, "a model", "pawl resume {run}" + another, "to go on with a model in place of the rules, which have no further edit to try"},

	{0, "approval", "pawl approve {of} {call}", "to let {what} run (--args JSON to run it with other arguments)"},
	{0, "approval", "pawl deny {of} {call} --reason TEXT", "to refuse it; the model reads why"},
	{0, "approvals", "pawl approve {run} --all", "to let all of them run"},
	{0, "input", "pawl answer {of} TEXT --id {call}", "to answer the question"},
	{0, "client_tool", "pawl submit {of} {call} JSON", "to hand in the result of {what}"},
	{0, "doubt", "pawl settle {of} {call} --happened JSON", "if {what} took place, with its result"},
	{0, "doubt", "pawl settle {of} {call} --did-not-happen", "if it did not; it is then run again"},
	{0, "reading", "pawl resume {run}", "to use what is recorded{rest}"},
	{0, "a child's end", "pawl resume {run}", "to go on; its child run waits for nothing any more"},
	{0, "a child", "pawl explain {child}", "to see what its child run waits for; what is given to that is this one's, too"},
	{0, "nothing", "pawl resume {run}", "to go on"},

	{pawl.StatusExpired, "", "pawl resume {run}", "to ask again"},
	{pawl.StatusDenied, "", "pawl fork {run} INPUT", "to ask for something else from here on"},
	{pawl.StatusDenied, "", "pawl resume {run}", "to go on once the agent or the decision is another"},
	{pawl.StatusPlanFailed, "", "pawl resume {run}" + another, "to go on with another model"},
	{pawl.StatusPlanFailed, "", "pawl resume {run}" + reformed, "to go on with a clearer prompt, simpler tools or other guards"},
	{pawl.StatusPlanFailed, "", "pawl resume {run}", "to try again as it is"},

	{pawl.StatusFailed, "", "pawl resume {run}", "to go on once the cause is fixed"},
	{pawl.StatusFailed, "a decision", "pawl resume {run}", "to continue once the doubt is settled"},
	{pawl.StatusFailed, "another stop", "pawl resume {run} --stop EXPR", "to go on with another stop condition; the one that held would hold again"},
	{pawl.StatusFailed, "another stop", "pawl fork {run} INPUT", "to ask for something else from here on"},
	{pawl.StatusFailed, "a key", "pawl resume {run}", "to go on once the provider's key is set (ANTHROPIC_API_KEY, OPENAI_API_KEY or GEMINI_API_KEY)"},
	{pawl.StatusFailed, "credit", "pawl resume {run}", "to go on once the account has credit again"},
	{pawl.StatusFailed, "another model", "pawl resume {run}" + another, "to go on with another model"},
	{pawl.StatusFailed, "another model", "pawl resume {run}", "to go on once the cause is fixed"},
	{pawl.StatusFailed, "a larger model", "pawl resume {run}" + another, "to go on with a model that reads more"},
	{pawl.StatusFailed, "a larger model", "pawl resume {run}", "to go on once the cause is fixed"},
	{pawl.StatusFailed, "other words", "pawl fork {run} INPUT", "to put it to the model in other words"},
	{pawl.StatusFailed, "other words", "pawl resume {run}", "to try again as it is"},
	{pawl.StatusFailed, "luck", "pawl resume {run}", "to try again; the attempts are counted from zero"},
	{pawl.StatusFailed, "evidence", "pawl resume {run}" + another, "to go on with a model that keeps to what the tools said"},
	{pawl.StatusFailed, "evidence", "pawl resume {run}", "to have the model answer again, with as many tries as before"},
	{pawl.StatusFailed, "code", "pawl resume {run}", "to go on once the code that panicked is fixed"},
	{pawl.StatusFailed, "agreement", "pawl resume {run}" + reformed, "to go on with policies that agree"},
	{pawl.StatusFailed, "agreement", "pawl resume {run}", "to go on once the cause is fixed"},
	{pawl.StatusFailed, "a call", "pawl resume {run}", "to try the step again once what it calls works"},
	{pawl.StatusFailed, "a call", "pawl resume {run} --allow-change", "to go on at the step once the spec fits the data"},
	{pawl.StatusFailed, "a call", "pawl run {spec} INPUT", "to begin again with an input that fits the spec"},
	{pawl.StatusFailed, "input", "pawl run {spec} INPUT", "to begin again with an input that fits the spec"},
	{pawl.StatusFailed, "input", "pawl resume {run} --allow-change", "to go on at the step once the spec fits the data"},
	{pawl.StatusFailed, "a spec", "pawl resume {run} --allow-change", "to go on at the step once the spec fits the data"},
	{pawl.StatusFailed, "a spec", "pawl run {spec} INPUT", "to begin again with an input that fits the spec"},

	{pawl.StatusCancelled, "", "pawl resume {run}", "to go on where it was cancelled"},
	{pawl.StatusPaused, "", "pawl resume {run}", "to go on where it was paused"},
	{pawl.StatusPaused, "time", "pawl resume {run}", "to go on, from {wake}"},
	{pawl.StatusInterrupted, "", "pawl resume {run}", "to go on; its process ended"},
	{pawl.StatusQueued, "", "pawl wait {run}", "to wait until a worker of its agent has driven it"},
	{pawl.StatusQueued, "", "pawl resume {run}", "to drive it here, now"},
	{pawl.StatusQueued, "", "pawl cancel {run} --reason TEXT", "to end it"},
	{pawl.StatusRunning, "", "pawl wait {run}", "to wait until it ends or waits for somebody"},
	{pawl.StatusRunning, "", "pawl events {run} --follow", "to watch it"},
	{pawl.StatusRunning, "", "pawl cancel {run} --reason TEXT", "to end it"},

	{0, "secrets", "pawl export {run} --raw", "where it was exported, for a file that can be imported and resumed"},
	{0, "its end", "pawl fork {run}", "to go on from where it is known to have stood; what its export lost may have happened"},
	{0, "its thread", "pawl explain {next}", "to see how its thread went on"},
	{0, "its thread", "pawl fork {run} INPUT", "to go another way from here"},
	{0, "the conversation", "pawl wait {next}", "for the answer of the agent that has the conversation now"},
	{0, "the conversation", "pawl explain {next}", "to see how that agent goes on"},
	{0, "sight", "pawl explain {run}", "to see where it stands{missed}"},
}

// adviser lists what can be done about a run, the most likely action first.
type adviser struct {
	r      *Report
	s      *pawl.State
	source string // of the run's agent
	list   []Action
	missed Phrase // why a useful command is not available at this place
}

// advise lists what can be done about a run: at most three things.
func (r *Report) advise() {
	a := &adviser{r: r, s: r.state, source: r.state.Declaration().Source, list: []Action{}}
	success, known := r.Status == pawl.StatusSuccess, r.opt.Waits
	if known == nil {
		known = r.Pending
	}
	switch {
	case a.s.Internals().Redacted():
		if !success && !r.opt.Place.Server {
			a.give(0, "secrets")
		}
		r.take(a.list)
		return
	case a.s.Internals().Torn() && !success:
		a.give(0, "its end")
	case r.over():
		a.give(0, "its thread")
	case r.handed():
		a.give(0, "the conversation")
	case r.Status.Waiting() && r.Status != pawl.StatusExpired:
		a.waiting(known)
	case r.Status == pawl.StatusExhausted:
		a.exhausted()
	case r.Status == pawl.StatusFailed:
		a.failed()
	case success && a.s.LastStep() != "": // a workflow has nothing more to answer
	case r.Status == pawl.StatusNoProgress && a.r.rules():
		a.give(r.Status, "a model")
	case r.Status == pawl.StatusPaused && !a.s.WakeAt().IsZero():
		a.give(r.Status, "time", "{wake}", stamp(a.s.WakeAt()))
	case slices.ContainsFunc(advice, func(row advised) bool { return row.status == r.Status }):
		a.give(r.Status, "")
	default:
		a.give(pawl.StatusRunning, "")
	}
	if r.Status == pawl.StatusPaused || r.Status == pawl.StatusCancelled || r.Status == pawl.StatusInterrupted {
		a.answers(known)
	}
	if len(a.list) == 0 && !success {
		a.give(0, "sight", "{missed}", string(a.missed))
	}
	r.take(a.list)
}

// take makes the first three actions the advice.
func (r *Report) take(list []Action) {
	r.Next = list[:min(3, len(list))]
	if (r.Status != pawl.StatusSuccess || r.handed()) && len(r.Next) > 0 {
		r.Action = r.Next[0].Command
	}
}

// Recommend puts an action before all others: what is outside the log, such as a change that
// was not applied, calls for it.
func (r *Report) Recommend(command, why string) {
	r.take(slices.Insert(r.Next, 0, Action{command, Phrase(oneLine(why))}))
	r.Action = command
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

// give adds the rows for a status and a lack, with the words in place of braces.
func (a *adviser) give(status pawl.Status, lacks string, words ...string) {
	spec := "SPEC"
	if a.r.opt.Place.Server {
		spec = shell(a.r.Agent)
	}
	fill := strings.NewReplacer(append(words, "{run}", shell(a.r.Run), "{next}", shell(a.r.opt.Continued), "{spec}", spec)...)
	for _, row := range advice {
		if row.status == status && row.lacks == lacks {
			a.add(fill.Replace(row.command), Phrase(fill.Replace(row.why)))
		}
	}
}

// add adds a command, once, in the form in which it works at the place.
func (a *adviser) add(command string, why Phrase) {
	words := strings.SplitN(command, " ", 4) // pawl, the verb, the run and the rest
	verb := words[1]
	rest := strings.Join(words[3:], " ")
	if verb == "resume" || verb == "fork" {
		if verb, rest, why = a.fit(verb, rest, why); verb == "" {
			return
		}
		command = strings.TrimSpace("pawl " + verb + " " + shell(a.r.Run) + " " + rest)
		if verb == "resume" && a.child() {
			command = "pawl resume " + shell(a.r.opt.Root)
		}
	}
	if verb == "run" && a.kind() != "spec" {
		return
	}
	command = a.r.opt.Place.typed(command)
	if !slices.ContainsFunc(a.list, func(other Action) bool { return other.Command == command }) {
		a.list = append(a.list, Action{command, why})
	}
}

// child reports whether the run goes on by way of the run that called it.
func (a *adviser) child() bool { return a.r.opt.Root != "" && !a.r.opt.Orphan }

// kind is the kind of the run's agent: spec, whose spec is in the log; fix, repro
// or refactor, with a working copy; review, whose input is a change; or empty, a Go
// program, which only the program itself can make again.
func (a *adviser) kind() string {
	var of struct{ Kind string }
	_ = json.Unmarshal([]byte(a.source), &of) // the content is up to the program
	if of.Kind == "repro" || of.Kind == "refactor" {
		return "fix"
	}
	return of.Kind
}

// fit returns how a run resumes or forks at the place; an empty verb: it cannot.
func (a *adviser) fit(verb, flags string, why Phrase) (string, string, Phrase) {
	if a.child() && verb == "resume" {
		if !a.r.Status.Ended() {
			return verb, "", why // flags of the child do not apply to its root
		}
		verb, why = "fork", why+"; in a run of its own, for the run that called it has its result"
	}
	if a.useless(verb, flags) {
		return "", "", ""
	}
	place, kind := a.r.opt.Place, a.kind()
	program := !slices.Contains([]string{"spec", "fix", "review"}, kind)
	switch {
	case program || a.r.opt.Orphan:
		input := has(flags, "INPUT")
		flags = strings.NewReplacer(another[1:], "", reformed[1:], "", "--allow-change", "", "INPUT", "").Replace(flags) + reformed
		if input {
			flags += " INPUT"
		}
		flags = strings.Join(strings.Fields(flags), " ")
		if program {
			why += "; from here that needs the spec, from the program that started the run it does not"
		} else {
			why += "; the run that called it is gone, so its agent is not known otherwise"
		}
	case verb == "resume" && len(place.Changed) > 0 && !has(flags, "--allow-change"):
		flags, why = flags+" --allow-change", why+Phrase("; its agent has changed: "+strings.Join(place.Changed, ", "))
	}
	if place.Server && (kind == "fix" || has(flags, "--spec", "--model", "--stop", "--policy")) {
		command := strings.TrimSpace("pawl " + verb + " " + shell(a.r.Run) + " " + flags)
		a.missed = Phrase("; it goes on where its database is, with: " + openName + oneLine(command) + closeName)
		return "", "", ""
	}
	if verb == "fork" { // which may always change the agent
		flags = fmt.Sprintf("--at %d %s", a.r.quiet, strings.ReplaceAll(flags, " --allow-change", ""))
	}
	return verb, strings.TrimSpace(flags), why
}

// has reports whether a command has one of the words, or begins one so.
func has(flags string, words ...string) bool {
	return slices.ContainsFunc(words, func(w string) bool { return strings.Contains(" "+flags, " "+w) })
}

// useless reports whether no run of this kind goes on in this way: rules read no input, a finished fix has
// no working copy, the input of a review is not for people, and neither of the two has a spec.
func (a *adviser) useless(verb, flags string) bool {
	input := verb == "fork" && has(flags, "INPUT")
	switch a.kind() {
	case "fix":
		return has(flags, "--spec") || a.r.rules() && input || verb == "fork" && a.r.Status == pawl.StatusSuccess
	case "review":
		return has(flags, "--spec") || input
	}
	return false
}

// waiting lists how to answer what is known to be waited for by the run and its children.
func (a *adviser) waiting(known []pawl.Pending) {
	open := slices.DeleteFunc(slices.Clone(known), func(p pawl.Pending) bool { return p.AnsweredAt != nil })
	if len(open) < len(known) {
		rest := ""
		if len(open) > 0 {
			rest = "; " + name(open[0].Call) + " still waits"
		}
		a.give(0, "reading", "{rest}", rest)
	}
	a.answers(open)
	for c := range a.s.Open() {
		below := func(p pawl.Pending) bool { return p.Run == c.Child || strings.HasPrefix(p.Run, c.Child+".") }
		if c.Phase == pawl.PhaseAwaitingChild && !slices.ContainsFunc(known, below) {
			if a.r.opt.Waits != nil {
				a.give(0, "a child's end")
			}
			a.give(0, "a child", "{child}", shell(c.Child))
		}
	}
	if len(a.list) == 0 && a.missed == "" { // the log does not say what it waits for
		a.give(0, "nothing")
	}
}

// answers lists how to answer what runs wait for.
func (a *adviser) answers(all []pawl.Pending) {
	approvals := 0
	for _, p := range all {
		switch {
		case p.AnsweredAt != nil:
			continue
		case p.Kind == "approval":
			if approvals++; approvals > 1 {
				a.give(0, "approvals")
				continue
			}
		}
		a.give(0, p.Kind, "{of}", shell(p.Run), "{call}", shell(p.Call), "{what}", name(p.Call+" "+p.Tool))
	}
}

// exhausted advises on what was reached: a budget, or a limit or the stop condition
// or both. A condition that still holds would end the run again at once.
func (a *adviser) exhausted() {
	v := a.s.Verdict()
	if strings.HasPrefix(v.Leaf, "budget ") {
		_, at, _ := strings.Cut(v.Detail, "the next period begins at ")
		next, err := time.Parse(time.RFC3339, at)
		var of struct{ Policy struct{ Document string } }
		_ = json.Unmarshal([]byte(a.source), &of) // the content is up to the program
		switch {
		case err == nil && !a.r.now.Before(next):
			a.give(v.Status, "a period")
		case strings.Contains(of.Policy.Document, "budgets"):
			a.give(v.Status, "a budget", "{file}", "policy POLICY", "{what}", "policy file")
		default:
			a.give(v.Status, "a budget", "{file}", "spec SPEC", "{what}", "spec")
		}
		return
	}
	kind, lacks, flags, file := refusal(a.s), "a limit", "", ""
	if limits := raisedLimits(a.s, kind); len(limits) > 0 {
		flags = " --limit " + strings.Join(limits, ",")
	}
	if higher := raisedStop(a.s, kind); higher != "" {
		lacks, flags = "another stop", flags+" --stop "+higher
	}
	if held := a.r.opt.Place.Held; held != nil && kind != "" {
		if of, kinds := held(a.source, a.s.Limits()); slices.Contains(kinds, kind) {
			lacks, file = "a policy", shell(of)
		}
	}
	a.give(v.Status, lacks, "{raised}", flags, "{policy}", file)
}

// classes are what a run lacks whose model calls failed for good.
var classes = map[pawl.Class]string{
	pawl.ClassAuth: "a key", pawl.ClassQuota: "credit", pawl.ClassNotFound: "another model", pawl.ClassInvalid: "another model", pawl.ClassPanic: "another model",
	pawl.ClassRefused: "other words", pawl.ClassTooLong: "a larger model", pawl.ClassRateLimit: "luck", pawl.ClassOverloaded: "luck", pawl.ClassNetwork: "luck",
	pawl.ClassEmpty: "luck", pawl.ClassTruncated: "luck", pawl.ClassUnknown: "luck",
}

// failed advises on a failed run.
func (a *adviser) failed() {
	leaf := a.r.Reason.Leaf
	failure, broke := a.s.Failure()
	lacks := classes[failure.Class]
	if !broke {
		lacks = ""
	}
	switch {
	case leaf == "doubt":
		a.answers(a.r.Pending)
		lacks = "a decision"
	case a.r.stopFailed():
		lacks = "another stop"
	case !broke && strings.HasPrefix(leaf, "step(") && a.r.opt.Root == "":
		lacks = a.failedStep()
	default:
		lacks = cmp.Or(map[string]string{"refused": "other words", "grounding": "evidence", usercode.PanicLeaf: "code", "policy": "agreement"}[leaf], lacks)
	}
	a.give(pawl.StatusFailed, lacks)
}

// stopFailed reports whether the run's own stop condition ended it as failed.
func (r *Report) stopFailed() bool {
	return r.Status == pawl.StatusFailed && strings.Contains(r.Reason.Condition, "failed(")
}

// failedStep returns what a workflow lacks whose step failed: the success of what it
// called, or a spec and data that fit together. The input is the data only if the
// step names it: another step's output follows from the spec, too.
func (a *adviser) failedStep() string {
	id, _ := strconv.Unquote(strings.TrimSuffix(strings.TrimPrefix(a.r.Reason.Leaf, "step("), ")"))
	failed := map[string]bool{} // the last call of each part of the step
	for c := range a.s.Calls() {
		if name, _, _ := strings.Cut(c.Step, "@"); name == id || strings.HasPrefix(name, id+"[") {
			failed[c.Step] = c.Ran && !c.OK()
		}
	}
	for _, is := range failed {
		if is {
			return "a call"
		}
	}
	if strings.Contains(a.r.Reason.Detail, "input") {
		return "input"
	}
	return "a spec"
}
