//go:build linux || darwin

package process

import (
	"fmt"
	"time"
)

// End ends a command that an earlier process ran with [Run] and died over: SIGTERM to its session,
// after grace (zero is [DefaultGrace]) SIGKILL. It does nothing unless the command's first process
// is certainly the one that is meant and alive: when only others of its session are left, nothing
// proves that the session is still the same.
func (id Identity) End(grace time.Duration) error {
	if !id.Alive() {
		return nil
	}
	if grace <= 0 {
		grace = DefaultGrace
	}
	leaderGone := func() bool { return !id.Alive() }
	if !leadsSession(id.PID) {
		return fmt.Errorf("process %d leads no session, so it is no command that was started here", id.PID)
	}
	if !endSession(id.PID, leaderGone, grace) {
		return fmt.Errorf("processes of session %d do not end, even by SIGKILL", id.PID)
	}
	return nil
}
