//go:build linux || darwin

package process

import (
	"fmt"
	"time"
)

// End terminates a command that an earlier process started with [Run] before it
// died: SIGTERM to its session, after grace (zero is [DefaultGrace]) SIGKILL.
// It does nothing unless the command's first process is certainly the right one
// and alive: with only other processes left, the session cannot be verified.
func (id Identity) End(grace time.Duration) error {
	if !id.Alive() {
		return nil
	}
	if grace <= 0 {
		grace = DefaultGrace
	}
	leaderGone := func() bool { return !id.Alive() }
	if !leadsSession(id.PID) {
		return fmt.Errorf("process %d leads no session, so it is not a command started by Pawl", id.PID)
	}
	if !endSession(id.PID, leaderGone, grace) {
		return fmt.Errorf("processes of session %d do not end, even by SIGKILL", id.PID)
	}
	return nil
}
