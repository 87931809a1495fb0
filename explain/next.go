package explain

import (
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/pawl-run/pawl"
)

// next lists what can be done about a run, the likeliest first.
func next(s pawl.State, r *Report) []Action {
	run := shell(r.Run)
	resume := "pawl resume " + run
	fork := action(fmt.Sprintf("pawl fork %s --at %d INPUT", run, r.seq), "to ask for something further, in a new run that knows all of this")
	actions := []Action{}
	switch {
	case s.Redacted() && r.Status == pawl.Success:
		return actions
	case s.Redacted():
		return append(actions, action("pawl export "+run+" --raw", "where it was exported, for a file that can be imported and gone on with"))
	case s.Torn() && r.Status != pawl.Success:
		return append(actions, action(fmt.Sprintf("pawl fork %s --at %d", run, r.quiet), "to go on from where it is known to have stood; what its export lost may have happened"))
	case r.over():
		return append(actions, action("pawl explain "+shell(r.opt.Continued), "to see how its thread went on"), action(fork.Command, "to go another way from here"))
	}
	switch r.Status {
	case pawl.Success:
		if s.LastStep() == "" { // known steps have nothing further to answer
			actions = append(actions, fork)
		}
	case pawl.Exhausted:
		actions = exhausted(s, resume)
	case pawl.NoProgress:
		actions = append(actions,
			action(fork.Command, "to go on with a hint that leads out of the rut"),
			action(resume+" --spec SPEC --allow-change", "to go on with a prompt, model or tool that was mended"),
			action(resume, "to try again as it is; the counts of repetitions and failing turns start afresh"))
	case pawl.WaitingApproval, pawl.WaitingInput, pawl.WaitingClientTool, pawl.WaitingDoubt:
		some, all := r.heard()
		if some {
			actions = append(actions, action(resume, "to go on with what is answered, and not yet read"))
		}
		actions = append(actions, pending(r.Pending, run)...)
		for c := range s.Open() {
			if c.Phase == pawl.AwaitingChild && !all {
				actions = append(actions, action("pawl explain "+shell(c.Child), "to see what its child run waits for; what is given to that is this one's, too"))
			}
		}
	case pawl.Expired:
		actions = append(actions, action(resume, "to ask again"))
	case pawl.Denied:
		actions = append(actions,
			action(fork.Command, "to ask for something else from here on"),
			action(resume, "to go on once the agent or the decision is another"))
	case pawl.PlanFailed:
		actions = append(actions,
			action(resume+" --model PROVIDER/NAME --allow-change", "to go on with a model that follows the tools' schemas"),
			action(resume+" --spec SPEC --allow-change", "to go on with simpler tools or a clearer prompt"),
			action(resume, "to try again as it is"))
	case pawl.Failed:
		actions = failed(s, r, run, resume)
	case pawl.Cancelled:
		actions = append(actions, action(resume, "to go on where it was cancelled"))
	case pawl.Paused:
		why := phrase("to go on where it was parked")
		if !r.wakeAt.IsZero() {
			why = phrase("to go on, from " + stamp(r.wakeAt))
		}
		actions = append(actions, action(resume, why))
	case pawl.Interrupted:
		actions = append(actions, action(resume, "to go on; what was in flight is taken care of as said above"))
	default:
		actions = append(actions,
			action("pawl wait "+run, "to wait until it ends or waits for somebody"),
			action("pawl events "+run+" --follow", "to watch it"),
			action("pawl cancel "+run+" --reason TEXT", "to end it"))
	}
	if len(actions) == 0 { // it waits, and the log does not say for what
		actions = append(actions, action(resume, "to go on"))
	}
	if r.Status == pawl.Paused || r.Status == pawl.Cancelled || r.Status == pawl.Interrupted {
		actions = append(actions, pending(r.Pending, run)...)
	}
	if source := s.Declaration().Source; source != "" && !strings.Contains(source, `"kind":"spec"`) {
		// An agent made by a command has no spec to change, and may work on a
		// copy that is gone when the run is done.
		actions = slices.DeleteFunc(actions, func(a Action) bool {
			return strings.Contains(a.Command, "--spec ") || strings.HasPrefix(a.Command, "pawl fork ") && r.Status == pawl.Success
		})
	}
	return actions
}

// pending is how to answer what a run waits for.
func pending(all []pawl.Pending, run string) (actions []Action) {
	approvals := 0
	for _, p := range all {
		if p.AnsweredAt != nil {
			continue
		}
		call := shell(p.Call)
		what := phrase(name(p.Call + " " + p.Tool))
		switch p.Kind {
		case "approval":
			approvals++
			actions = append(actions,
				action("pawl approve "+run+" "+call, "to let "+what+" run (--args JSON to run it with other arguments)"),
				action("pawl deny "+run+" "+call+" --reason TEXT", "to refuse it; the model is told why"))
		case "input":
			actions = append(actions, action("pawl answer "+run+" TEXT --id "+call, "to answer the question"))
		case "client_tool":
			actions = append(actions, action("pawl submit "+run+" "+call+" JSON", "to hand in the result of "+what))
		case "doubt":
			actions = append(actions,
				action("pawl settle "+run+" "+call+" --happened JSON", "if "+what+" took place, with its result"),
				action("pawl settle "+run+" "+call+" --did-not-happen", "if it did not; it is then driven again"))
		}
	}
	if approvals > 1 {
		actions = append(actions, action("pawl approve "+run+" --all", "to let all of them run"))
	}
	return actions
}

// leafSource is a leaf of a stop condition that compares a count with a bound.
var leafSource = regexp.MustCompile(`^(iterations|tokens|cost|elapsed|tool_calls) (>=|>|==) ([0-9.a-z]+)$`)

// exhausted raises what was met: the ceiling, the stop condition, or both.
// A stop condition that goes on to hold would end the run again at once.
func exhausted(s pawl.State, resume string) []Action {
	kind, stopToo := refusal(s)
	command, why := resume, phrase("to go on with a higher limit")
	if kind != "" {
		command += " --limit " + raise(s, kind)
	}
	if kind == "" || stopToo {
		source := raiseStop(s)
		command += " --stop " + source
		why = "to go on with another stop condition; the one that held would hold again"
	}
	return []Action{action(command, why)}
}

// raise is enough of a ceiling for a few more turns.
func raise(s pawl.State, kind string) string {
	l := s.Limits()
	spent, _ := s.Cost()
	turns := max(1, s.Iteration())
	needed, priced := refusedRequest(s.Verdict().Detail)
	switch kind {
	case "iterations":
		return fmt.Sprintf("iterations=+%d", max(5, l.Iterations/4))
	case "tokens":
		each := max(s.Tokens()/turns, needed)
		return fmt.Sprintf("tokens=+%d", round(max(l.Tokens/2, 5*each, s.Tokens()-l.Tokens+5*each)))
	case "cost":
		each := max(spent/float64(turns), priced)
		return fmt.Sprintf("cost=+%.2f", math.Ceil(100*max(l.Cost/2, 5*each))/100)
	case "elapsed":
		return "time=+" + durationSource(max(l.Time/2, time.Minute))
	}
	return kind + "=+5"
}

// What is said of the request that a ceiling in tokens or dollars refused.
var (
	neededTokens  = regexp.MustCompile(`the next request needs about ([0-9,]+) and ([0-9]+) for a reply$`)
	neededDollars = regexp.MustCompile(`the next request costs about \$([0-9.]+) before its reply$`)
)

// refusedRequest is what the request that was not sent would have taken; zero where
// the log does not say. Before the first reply there is nothing else to go by.
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

// round raises n to two figures, as people write limits.
func round(n int) int {
	unit := 1
	for n/unit >= 100 {
		unit *= 10
	}
	return (n + unit - 1) / unit * unit
}

// raiseStop is the stop condition with the leaf that held raised.
func raiseStop(s pawl.State) string {
	leaf, source := s.Verdict().Leaf, s.StopSource()
	m := leafSource.FindStringSubmatch(leaf)
	if m == nil || !strings.Contains(source, leaf) {
		return "EXPR"
	}
	bound := m[3]
	if n, err := strconv.Atoi(bound); err == nil && m[1] != "elapsed" && m[1] != "cost" {
		used := map[string]int{"iterations": s.Iteration(), "tokens": s.Tokens(), "tool_calls": s.ToolCalls()}[m[1]]
		more := max(5, n/2)
		if m[1] == "tokens" {
			more = max(more, 5*used/max(1, s.Iteration()))
		}
		bound = strconv.Itoa(max(n, used) + more)
	} else if d, err := time.ParseDuration(bound); err == nil {
		bound = durationSource(max(d, s.Elapsed().Round(time.Second)) + max(d/2, time.Minute))
	} else if v, err := strconv.ParseFloat(bound, 64); err == nil {
		spent, _ := s.Cost()
		bound = strconv.FormatFloat(math.Ceil(150*max(v, spent))/100, 'g', -1, 64)
	}
	return shell(strings.Replace(source, leaf, m[1]+" "+m[2]+" "+bound, 1))
}

// failed says what would help against what failed.
func failed(s pawl.State, r *Report, run, resume string) []Action {
	if r.Reason.Leaf == "doubt" {
		return append(pending(r.Pending, run), action(resume, "to go on once the doubt is settled"))
	}
	why := phrase("to go on once what failed is mended")
	var before []Action
	if f, ok := s.Failure(); ok {
		switch f.Class {
		case pawl.ClassAuth:
			why = "to go on once the provider's key is set (ANTHROPIC_API_KEY, OPENAI_API_KEY or GEMINI_API_KEY)"
		case pawl.ClassQuota:
			why = "to go on once the account has credit again"
		case pawl.ClassNotFound, pawl.ClassInvalid, pawl.ClassPanic:
			before = append(before, action(resume+" --model PROVIDER/NAME --allow-change", "to go on with another model"))
		case pawl.ClassRefused:
			before = append(before, action(fmt.Sprintf("pawl fork %s --at %d INPUT", run, r.seq), "to put it to the model in other words"))
		case pawl.ClassTooLong:
			before = append(before, action(resume+" --model PROVIDER/NAME --allow-change", "to go on with a model that reads more"))
		case pawl.ClassRateLimit, pawl.ClassOverloaded, pawl.ClassNetwork, pawl.ClassEmpty, pawl.ClassTruncated, pawl.ClassUnknown:
			why = "to try again; the attempts are counted afresh"
		}
	}
	if r.Reason.Leaf == "refused" {
		before = append(before, action(fmt.Sprintf("pawl fork %s --at %d INPUT", run, r.seq), "to put it to the model in other words"))
	}
	if r.Reason.Leaf == "grounding" {
		why = "to have the model answer anew, with as many tries as before"
		before = append(before, action(resume+" --model PROVIDER/NAME --allow-change", "to go on with a model that keeps to what the tools said"))
	}
	if r.Reason.Leaf == "policy" {
		before = append(before, action(resume+" --spec SPEC --allow-change", "to go on with policies that agree"))
	}
	return slices.Concat(before, []Action{action(resume, why)})
}

// durationSource writes a duration as limits and conditions do: 30m, not 30m0s.
func durationSource(d time.Duration) string {
	s := d.Round(time.Second).String()
	for _, zero := range []string{"m0s", "h0m"} {
		if cut, ok := strings.CutSuffix(s, zero[1:]); ok && strings.HasSuffix(s, zero) {
			s = cut
		}
	}
	return s
}

// bare is a word no shell reads anything into.
var bare = regexp.MustCompile(`^[A-Za-z0-9_.:/@%+=,-]+$`)

// shell is a word as it is typed at a POSIX shell.
func shell(word string) string {
	word = oneLine(word)
	if bare.MatchString(word) && !strings.HasPrefix(word, "-") {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}
