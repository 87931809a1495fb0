package engine

import (
	"cmp"
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"
	"sync"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/internal/process"
)

// fence keeps calls from starting late that the run's previous owner announced and another
// process was to start; see [pawl.ToolStarted.Supervised]. It runs before these calls are
// resolved or decided about. A call that has started is left to its tool, which can wait
// for it.
func fence(r *recorder) error {
	for c := range r.state.Open() {
		if !unsettled(c.Phase) {
			continue
		}
		r.callDirs.add(c.Supervised)
		if _, _, err := settle(r.lease.Run, &c); err != nil {
			return fmt.Errorf("run %s: call %s cannot be kept from starting late: %w", r.lease.Run, c.ID, err)
		}
	}
	return nil
}

// unsettled reports whether nobody knows yet what a call of this phase did.
func unsettled(p pawl.Phase) bool {
	return p == pawl.PhaseStarted || p == pawl.PhaseLost || p == pawl.PhaseInDoubt
}

// settle keeps the latest attempt at a call from starting, and returns what is known of it; here
// is false if its file cannot be reached from this process.
func settle(run string, c *pawl.CallState) (fate process.Fate, here bool, err error) {
	dir, ok := process.ParseCallDir(c.Supervised)
	if !ok || !dir.Reachable() {
		return fate, false, nil
	}
	fate, err = dir.Settle(attempt(run, c))
	return fate, true, err
}

func attempt(run string, c *pawl.CallState) process.Attempt {
	return process.Attempt{Run: run, Call: c.ID, Key: c.Key, Number: c.Attempt}
}

// checkResolution fences a call with an unknown outcome before a resolution is accepted. It
// fails if the file of its wrapper contradicts the resolution.
func checkResolution(run string, c *pawl.CallState, happened bool) error {
	fate, here, err := settle(run, c)
	if err != nil {
		return fmt.Errorf("call %s of run %s cannot be kept from starting late: %w", c.ID, run, err)
	}
	known := ""
	switch o := fate.Outcome; {
	case !here:
	case fate.Never, o != nil && o.NotStarted():
		if happened {
			known = "was never started"
		}
	case o != nil && !o.Interrupted():
		known = "has ended"
	case fate.Running:
		known = "still runs"
	}
	if known == "" {
		return nil
	}
	return fmt.Errorf("the command of call %s of run %s %s, as its wrapper has recorded; resume the run, which takes the outcome from there", c.ID, run, known)
}

// callDirs are the directories that the log of a run names for its calls.
type callDirs map[string]process.CallDir // by path

// add adds the directory that text names, if it names one.
func (d *callDirs) add(text string) {
	dir, ok := process.ParseCallDir(text)
	if !ok {
		return
	}
	if *d == nil {
		*d = callDirs{}
	}
	(*d)[dir.Path] = dir
}

// forgetCalls removes the files of the run's calls, unless a call is not settled. The log must be
// durable.
func (r *recorder) forgetCalls() {
	for c := range r.state.Open() {
		if unsettled(c.Phase) {
			return
		}
	}
	for path, dir := range r.callDirs {
		if err := dir.Remove(); err != nil {
			r.log(slog.LevelWarn, "the files of the run's calls could not be removed", slog.String("directory", path), slog.String("error", err.Error()))
		}
	}
	r.callDirs = nil
}

// endLost ends the commands that outlived the previous owner of a run that is being
// cancelled, as cancelling would have ended them under that owner, and records what is
// known of their calls. It reports whether it recorded anything.
func endLost(r *recorder) (bool, error) {
	var lost []pawl.CallState
	if !r.state.Waits(pawl.PhaseLost) {
		return false, nil
	}
	for c := range r.state.Open() {
		if c.Child == "" && (c.Phase == pawl.PhaseLost || c.Phase == pawl.PhaseInDoubt) {
			lost = append(lost, c)
		}
	}
	if len(lost) == 0 {
		return false, nil
	}
	if err := r.flush(); err != nil { // no command ends before it is durable why
		return false, err
	}
	events := make([]pawl.Event, len(lost))
	var ends sync.WaitGroup
	for i := range lost { // side by side: each may take the grace of its command
		ends.Go(func() { events[i] = endCommand(r, &lost[i]) })
	}
	ends.Wait()
	before := r.state.Seq()
	for _, e := range events {
		if e != nil {
			r.appendNow(e)
		}
	}
	return r.state.Seq() > before, nil
}

// endCommand ends what still runs of a call, and returns what is then known of it; nil:
// nothing new.
func endCommand(r *recorder, c *pawl.CallState) pawl.Event {
	why := "the process of the run ended while this call was running"
	write := c.Effect == pawl.Write
	fate, _, err := settle(r.lease.Run, c)
	if err == nil && fate.Running {
		dir, _ := process.ParseCallDir(c.Supervised)
		fate, err = dir.Stop(r.base, attempt(r.lease.Run, c), process.Stopped, orphanTime)
		why = "cancelling the run ended its command, which had outlived the process of the run"
	}
	if err == nil && fate.Outcome == nil {
		err = fate.EndCommand(0)
	}
	if err != nil {
		why = "its command, which outlived the process of the run, could not be ended: " + err.Error()
	}
	switch o := fate.Outcome; {
	case fate.Never, o != nil && o.NotStarted():
		return pawl.ToolSettled{Call: c.ID, By: "reconcile"}
	case o != nil && o.Cut != process.Stopped && !(write && o.Interrupted()):
		return settledBy(r, c, o)
	}
	if !write || c.Phase == pawl.PhaseInDoubt {
		return nil
	}
	return pawl.ToolDoubted{Call: c.ID, Tool: c.Tool, Why: r.clean.text(why) + "; whether it took place is unknown"}
}

// orphanTime is how long the end of a command may take, with the record of it: it gets
// SIGTERM, and SIGKILL after process.DefaultGrace.
const orphanTime = process.DefaultGrace + process.Settling

// settledBy is what the wrapper of a call has recorded: that its command ended by
// itself, or because its time was over.
func settledBy(r *recorder, c *pawl.CallState, o *process.Outcome) pawl.Event {
	e := pawl.ToolSettled{Call: c.ID, Happened: true, By: "reconcile"}
	printed := strings.TrimSpace(o.Err.Text)
	if printed == "" {
		printed = strings.TrimSpace(o.Out.Text)
	}
	switch how := (process.Exit{Code: o.Code, Signal: o.Signal}).String(); {
	case o.Cut == process.Late:
		e.Status, e.Error = pawl.ToolTimeout, "its time was over"
	case o.Error != "" || o.Refused != "":
		e.Error = cmp.Or(o.Error, o.Refused)
	case o.Signal != "" || o.Code != 0:
		e.Error = fmt.Sprintf("%s: %s", how, printed)
	default:
		out, _ := json.Marshal(o.Out.Text) // strings always marshal
		if json.Valid([]byte(o.Out.Text)) {
			out = []byte(o.Out.Text)
		}
		e.Result = handed(r, c.Tool, out)
	}
	e.Error = r.clean.text(e.Error)
	return e
}
