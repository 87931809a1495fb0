package engine

import (
	"cmp"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/internal/process"
)

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
const orphanTime = process.DefaultGrace + 2*time.Second

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
		q := requests{rec: r}
		e.Result = q.handed(c.Tool, out)
	}
	e.Error = r.clean.text(e.Error)
	return e
}
