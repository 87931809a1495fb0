package tool

import (
	"errors"
	"maps"
	"os"
	"path/filepath"
	"sync"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/internal/process"
)

// wrapperName is the name under which the program runs as a wrapper. The number is the protocol's, so
// that another build in the program's place answers only if it reads the same requests.
const wrapperName = "pawl-wrapper-3"

// Supervise makes each command of this program run in a wrapper: another process of the same
// program, which stays alive if this process is killed. The wrapper creates a file for the call
// before it starts the command, and writes the outcome into it. A process that resumes the run reads
// the outcome, waits for a wrapper that still runs, or creates the file itself, so that the command
// can no longer start. So a Write without a file was not started, and is started then.
//
// A person must still resolve a Write if the wrapper was killed, if the file cannot be reached, as
// from another host, and if there is no file and the machine, or the container, was restarted.
//
// A command takes as much longer as the program takes to start, and a few milliseconds for the file.
//
// Supervise must be the first statement of main: in a wrapper, and in the step by which a command
// enters its [Cage], it does not return. Without it, commands run in this process, and a command
// tool cannot determine the outcome of a call after a crash. Supervise itself starts nothing.
func Supervise() {
	process.Enter()
	if len(os.Args) == 1 && os.Args[0] == wrapperName {
		wrap(os.Stdin, os.Stdout)
		os.Exit(0) //nolint:forbidigo // this process is a wrapper, and main must not go on
	}
	supervision.mu.Lock()
	defer supervision.mu.Unlock()
	supervision.enabled = true
}

// RecordIn sets the directory of the calls' files from now on, and the secrets, by name, that are
// removed from the output of commands besides the tools' own. The directory is made, for the user
// only, when it is needed.
//
// It belongs next to the journal, so that both stay together. If dir is empty, and without RecordIn,
// it is pawl/calls in the user's state directory. If it cannot be used, no command is started.
func RecordIn(dir string, secrets map[string]string) {
	supervision.mu.Lock()
	defer supervision.mu.Unlock()
	supervision.dir, supervision.secrets = dir, maps.Clone(secrets)
}

// supervision is how the commands of this process run.
var supervision supervising

type supervising struct {
	mu      sync.Mutex
	enabled bool
	dir     string // of the calls' files; empty: the user's
	secrets map[string]string
}

func (s *supervising) on() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.enabled
}

// callDir returns the directory for the files of a run.
func (s *supervising) callDir(run string) (process.CallDir, error) {
	s.mu.Lock()
	base := s.dir
	s.mu.Unlock()
	if state := os.Getenv("XDG_STATE_HOME"); base == "" && filepath.IsAbs(state) { // the specification ignores other paths
		base = filepath.Join(state, "pawl", "calls")
	} else if base == "" {
		home, err := os.UserHomeDir()
		if err != nil {
			return process.CallDir{}, err
		}
		base = filepath.Join(home, ".local", "state", "pawl", "calls")
	}
	base, err := filepath.Abs(base)
	if err != nil {
		return process.CallDir{}, err
	}
	return process.OpenCallDir(base, run)
}

// withSecrets adds the secrets of the process to those of a job.
func (s *supervising) withSecrets(own map[string]string) map[string]string {
	s.mu.Lock()
	defer s.mu.Unlock()
	all := map[string]string{}
	maps.Copy(all, s.secrets)
	maps.Copy(all, own)
	return all
}

// Supervised names the directory where the next attempt is recorded before it starts. It returns ""
// if there is none. See [pawl.Reconciler].
func (c *command) Supervised(inv pawl.Invocation) string {
	if !supervision.on() {
		return ""
	}
	dir, err := supervision.callDir(inv.Run)
	if err != nil {
		return "" // running the command reports it
	}
	return dir.String()
}

// Why the outcome of a command is not known.
var (
	errUnknown = errors.New("the outcome of the command is unknown")
	errDied    = errors.New("its wrapper has died")
)
