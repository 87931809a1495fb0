package cli

import (
	"cmp"
	"encoding/json"
	"sync"
	"time"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/fix/testfix"
)

// fixView shows a fix while it runs: a line for each test that flips, for what the
// model says and for each change, and on a terminal a status line below them.
type fixView struct {
	a      *app
	limits pawl.Limits
	live   func() int // columns of the terminal; nil: not a terminal
	colour bool
	talks  bool // show a line for each message of the model
	now    func() time.Time

	mu       sync.Mutex
	state    pawl.State
	since    time.Time       // when the state was folded last
	attempts int             // edits so far
	edited   bool            // since the latest run of the tests
	first    map[string]bool // what was open at first; nil: not measured yet
	open     []string
	doing    string
	stop     func() // stops the clock
}

// watchFix makes the view of a fix; nil: the agent is not a fix.
func watchFix(a *app, agent pawl.Agent, limits pawl.Limits) *fixView {
	if _, isFix, err := testfix.ParseSource(agent.Source); !isFix || err != nil || a.quiet {
		return nil
	}
	return &fixView{a: a, limits: limits, now: time.Now, talks: describes(agent.Model).Endpoint != "", live: a.width(), colour: a.coloured()}
}

// begin redraws the elapsed time until end.
func (v *fixView) begin() {
	if v.live == nil {
		return
	}
	v.stop = ticking(time.Second, func() {
		v.mu.Lock()
		defer v.mu.Unlock()
		v.draw()
	})
}

func (v *fixView) end() {
	if v.live == nil {
		return
	}
	v.stop()
	v.mu.Lock()
	defer v.mu.Unlock()
	v.live = nil
	v.a.err.setStatus("")
}

// add handles an entry. History is not shown.
func (v *fixView) add(e pawl.Entry, history bool) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if e.Seq > 0 {
		v.state.Fold(e)
		v.since = v.now()
	}
	flips := v.take(e.Event)
	if history {
		return
	}
	if text := v.says(e.Event); text != "" && v.live == nil {
		v.a.sayf("[%d] %s", e.Iteration, text)
	} else if text != "" {
		v.a.sayf("%s", text)
	}
	for _, f := range flips {
		v.flip(f, e.Iteration)
	}
	v.draw()
}

// take updates the counts and returns what flipped.
func (v *fixView) take(event pawl.Event) (flips []flip) {
	switch e := event.(type) {
	case pawl.ToolStarted:
		v.doing = cmp.Or(v.doing, e.Tool)
	case pawl.ToolFinished:
		v.doing = ""
		switch {
		case e.Status != pawl.ToolOK:
		case e.Tool == "edit_file" || e.Tool == "write_file":
			v.edited = true
		case e.Tool == "try_edits":
			v.attempts += trials(e.Result)
		}
	case pawl.ModelCalled:
		v.doing = "waiting for the model"
		if !v.talks {
			v.doing = "searching"
		}
	case pawl.ModelReplied:
		v.doing = ""
	case pawl.Observed:
		v.doing = ""
	case pawl.Measured:
		if v.edited {
			v.attempts++
			v.edited = false
		}
		flips = v.compare(e.Open)
		v.open = e.Open
	}
	return flips
}

// trials counts the edits that the tool tried without making them.
func trials(result json.RawMessage) int {
	var r struct {
		Fixes   []any `json:"fixes"`
		Fails   []any `json:"still_fail"`
		Endless []any `json:"do_not_end"`
		Unbuilt []any `json:"do_not_compile"`
	}
	if json.Unmarshal(result, &r) != nil {
		return 0
	}
	return len(r.Fixes) + len(r.Fails) + len(r.Endless) + len(r.Unbuilt)
}

// says returns the line for an event; empty: it gets none. What the model reads, and
// the output of tests, is left to explain.
func (v *fixView) says(event pawl.Event) string {
	switch e := event.(type) {
	case pawl.ModelReplied:
		if v.talks || v.live == nil {
			return gist(e.Reply.Text())
		}
		v.doing = gist(e.Reply.Text())
		return ""
	case pawl.ToolFinished:
		switch {
		case e.Status != pawl.ToolOK:
			return callText(event)
		case e.Tool == "try_edits":
			var tried struct{ Summary string }
			if json.Unmarshal(e.Result, &tried) == nil {
				return gist(tried.Summary)
			}
		case (v.talks || v.live == nil) && (e.Tool == "edit_file" || e.Tool == "write_file"):
			return gistJSON(e.Result)
		}
		return ""
	case pawl.Observed:
		if e.Failed { // the tests did not run
			return progressText(event)
		}
		return ""
	case pawl.ToolStarted, pawl.ToolReused, pawl.Measured:
		return ""
	}
	return progressText(event)
}
