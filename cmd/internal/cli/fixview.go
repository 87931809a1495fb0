package cli

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/fix/testfix"
	"github.com/pawl-run/pawl/internal/meter"
)

// fixView shows a fix while it runs: a line for each test whose verdict changes, for what the
// model says and for each change.
type fixView struct {
	view // shows the rest

	a     *app
	first []string // what was open at first; nil: not measured yet
	open  []string
}

// watchFix makes the view of a fix; nil: the agent is not a fix.
func watchFix(a *app, agent pawl.Agent) view {
	if _, isFix, err := testfix.ParseSource(agent.Source); !isFix || err != nil || a.quiet {
		return nil
	}
	return &fixView{view: a.liveView(func(pawl.Entry) {}), a: a}
}

// add handles an entry.
func (v *fixView) add(e pawl.Entry, history bool) {
	v.view.add(e, history)
	lines := v.says(e.Event)
	if history || e.Seq == 0 {
		return
	}
	for _, line := range lines {
		v.a.sayf("[%d] %s", e.Iteration, line)
	}
}

// says returns the lines for an event. What the model reads, and the output of tests, is left to
// explain.
func (v *fixView) says(event pawl.Event) []string {
	text := ""
	switch e := event.(type) {
	case pawl.ToolStarted, pawl.ToolReused:
	case pawl.Measured:
		return v.compare(e.Open)
	case pawl.ProgressJudged:
		if text = progressText(event); e.Judgement == pawl.JudgedRefuted && len(v.open) > 0 {
			text = "it says it is done, but the tests fail"
		}
	case pawl.Observed:
		if e.Failed { // the tests did not run
			text = progressText(event)
		}
	case pawl.ToolFinished:
		switch {
		case e.Status != pawl.ToolOK:
			text = callText(event)
		case e.Tool == "repair":
			var repaired struct{ Summary string }
			if json.Unmarshal(e.Result, &repaired) == nil {
				text = gist(repaired.Summary)
			}
		case e.Tool == "edit_file" || e.Tool == "write_file":
			text = gistJSON(e.Result)
		}
	default:
		text = progressText(event)
	}
	if text == "" {
		return nil
	}
	return []string{text}
}

// mostFlips is how many tests of a kind are named at once.
const mostFlips = 12

// compare returns a line for each test whose verdict differs from the measure before.
func (v *fixView) compare(open []string) []string {
	open = slices.Clone(open)
	if i := slices.Index(open, "[exit code]"); i >= 0 {
		open[i] = "the test command"
	}
	var passes, fails []string
	_, _, shown := meter.Moved(v.open, open)
	for _, id := range v.open {
		if !slices.Contains(open, id) && !cutShort(id) {
			passes = append(passes, "passes now: "+id)
		}
	}
	for _, id := range open {
		switch {
		case cutShort(id):
			if !slices.Contains(v.open, id) {
				fails = append(fails, id+" kept the tests after it from running")
			}
		case v.first == nil:
			fails = append(fails, "fails: "+id)
		case slices.Contains(v.open, id):
		case slices.Contains(v.first, id):
			fails = append(fails, "fails again: "+id)
		case slices.Contains(shown, id):
			fails = append(fails, "ran for the first time, and fails: "+id)
		default:
			fails = append(fails, "newly fails: "+id)
		}
	}
	if v.open = open; v.first == nil {
		v.first = append([]string{}, open...)
	}
	return append(most(passes, "pass now"), most(fails, "fail")...)
}

// cutShort reports whether a name is not that of a test but of a package that ended in one.
func cutShort(id string) bool {
	_, why, _ := strings.Cut(id, " [")
	return strings.HasSuffix(why, "]") && strings.Contains(why, " in ")
}

func most(lines []string, verb string) []string {
	if len(lines) <= mostFlips {
		return lines
	}
	return append(lines[:mostFlips-1:mostFlips-1], counted(len(lines)-mostFlips+1, "more test")+" "+verb)
}
