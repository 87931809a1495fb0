package engine

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/internal/process"
	"github.com/pawl-run/pawl/internal/spool"
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
	if dir, proof, here := recorded(c); here {
		a := attempt(r.lease.Run, c)
		fate, err := dir.Fence(a)
		if err == nil && fate.Exit == nil && fate.Begin != nil {
			fate, err = stopOrphan(dir, a, fate)
			why = "cancelling the run ended its command, which had outlived the process of the run"
			if err != nil {
				why = "its command, which outlived the process of the run, could not be ended: " + err.Error()
			}
		}
		switch exit := fate.Exit; {
		case err != nil:
		case fate.Never != nil && (proof || c.Effect != pawl.Write), exit != nil && exit.Refused != nil && exit.Cut != 0:
			return pawl.ToolSettled{Call: c.ID, By: "reconcile"}
		case exit != nil && exit.Cut != spool.Stopped:
			return settledBy(r, c, exit)
		}
	}
	if c.Effect != pawl.Write || c.Phase == pawl.PhaseInDoubt {
		return nil
	}
	return pawl.ToolDoubted{Call: c.ID, Tool: c.Tool, Why: r.clean.text(why) + "; whether it took place is unknown"}
}

// orphanTime is how long the end of a command may take, with the record of it: it gets
// SIGTERM, and SIGKILL after process.DefaultGrace.
const orphanTime = process.DefaultGrace + 2*time.Second

// stopOrphan ends a command that outlived the process that asked for it, and waits until
// its supervisor, if there still is one, has recorded that. It records first that the
// command is being stopped, since the supervisor cannot tell.
func stopOrphan(dir spool.Dir, a spool.Attempt, fate spool.Fate) (spool.Fate, error) {
	if err := dir.Stop(a); err != nil {
		return fate, err
	}
	for end := time.Now().Add(orphanTime); ; time.Sleep(5 * time.Millisecond) {
		now, err := dir.Read(a)
		if err != nil || now.Exit != nil {
			return now, err
		}
		if id, err := process.ParseIdentity(now.Process); err == nil && id.Alive() {
			if err := id.End(0); err != nil {
				return now, err
			}
			continue
		}
		if id, err := process.ParseIdentity(now.Begin.Supervisor); err != nil || !id.Alive() {
			return dir.Read(a) // it may have recorded the end just before
		}
		if time.Now().After(end) {
			return now, errors.New("its supervisor does not record its end")
		}
	}
}

// settledBy is what the supervisor of a call has recorded: that its command ended by
// itself, or because its time was over.
func settledBy(r *recorder, c *pawl.CallState, exit *spool.Exit) pawl.Event {
	e := pawl.ToolSettled{Call: c.ID, Happened: true, By: "reconcile"}
	printed := strings.TrimSpace(exit.Err.Text)
	if printed == "" {
		printed = strings.TrimSpace(exit.Out.Text)
	}
	switch how := (process.Exit{Code: exit.Code, Signal: exit.Signal}).String(); {
	case exit.Cut == spool.Late:
		e.Status, e.Error = pawl.ToolTimeout, "its time was over"
	case exit.Error != "":
		e.Error = exit.Error
	case exit.Refused != nil:
		e.Error = exit.Refused.Program + ": " + exit.Refused.Reason
	case exit.Signal != "" || exit.Code != 0:
		e.Error = fmt.Sprintf("%s: %s", how, printed)
	default:
		out, _ := json.Marshal(exit.Out.Text) // strings always marshal
		if json.Valid([]byte(exit.Out.Text)) {
			out = []byte(exit.Out.Text)
		}
		q := requests{rec: r}
		e.Result = q.handed(c.Tool, out)
	}
	e.Error = r.clean.text(e.Error)
	return e
}
