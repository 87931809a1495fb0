package tool

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/internal/cage"
	"github.com/pawl-run/pawl/internal/process"
	"github.com/pawl-run/pawl/internal/spool"
)

// supervisorName is the name under which the program runs as a supervisor. The number is that of
// the protocol: another build that has replaced the program meanwhile must not answer to the name
// if it speaks another protocol.
const supervisorName = "pawl-supervisor-3"

// Supervise makes the commands of this program run under a supervisor: a second process of the
// same program, started with the first command, which stays alive if this process is killed. The
// supervisor runs each command to its end, or to the tool's Timeout, and records the outcome on
// disk. A process that resumes the run finds the true result, or waits for a command that still
// runs. The log says of each attempt that it is recorded, and where. So a Write without a record
// was not started, and is started then.
//
// A person must still resolve a Write if the machine or the supervisor was lost, and if the records
// cannot be read: they are on another host, in another container, in a directory that was removed
// or copied, older than the last boot of the machine, or removed after a week.
//
// A command that has effects and ends by itself takes a few milliseconds more than without a
// supervisor, most of them for the record on disk before it starts. The first one of a process also
// starts the supervisor.
//
// Supervise must be the first statement of main: in the supervisor, and in the step by which a
// command enters its [Cage], it does not return. Without it, commands run in this process, and a
// command tool cannot determine the outcome of a call after a crash. Supervise itself starts
// nothing.
func Supervise() {
	cage.Enter()
	if line, ok := process.Respawned(supervisorName); ok {
		supervise(line)
		os.Exit(0) //nolint:forbidigo // this process is a supervisor, and main must not go on
	}
	supervision.mu.Lock()
	defer supervision.mu.Unlock()
	supervision.enabled = true
}

// Spool sets the directory where supervised commands are recorded from now on, and the secrets, by
// name, that are removed from their output besides the tools' own. If the directory does not exist,
// it is made with access for the user only.
//
// It belongs next to the journal, so that both stay together. The log says of every attempt where
// it is recorded, so that any process of this machine finds the record. Without Spool, and if dir
// is empty, the directory is pawl/spool in the user's state directory.
// If the directory cannot be used, commands fail before they are started.
func Spool(dir string, secrets map[string]string) {
	s := &supervision
	s.mu.Lock()
	defer s.mu.Unlock()
	s.secrets, s.dir, s.made = maps.Clone(secrets), dir, false
	if s.enabled {
		_, _ = s.make() // the first command reports the error
	}
}

// Forget removes the records of the calls that are answered in s, which must be durable. Records
// that are not removed by Forget are removed after a week.
func Forget(s *pawl.State) error {
	if !supervision.on() {
		return nil
	}
	dir, _, err := supervision.place()
	if err != nil {
		return err
	}
	var open []string
	for c := range s.Open() {
		if c.Phase != pawl.PhaseAnswered {
			open = append(open, c.ID)
		}
	}
	return dir.Forget(s.Run(), func(call string) bool { return slices.Contains(open, call) })
}

// supervision is how the commands of this process are supervised.
var supervision supervising

type supervising struct {
	mu      sync.Mutex
	enabled bool
	dir     string // of the spool; empty: the user's
	made    bool   // the directory is there
	secrets map[string]string
	line    *process.Line // to the supervisor; nil: there is none yet
}

func (s *supervising) on() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.enabled
}

// place returns the directory for records and the secrets to remove.
func (s *supervising) place() (spool.Dir, map[string]string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	dir, err := s.make()
	return dir, s.secrets, err
}

// make makes the spool's directory. The caller holds the lock.
func (s *supervising) make() (spool.Dir, error) {
	path := s.dir
	if path == "" {
		state := os.Getenv("XDG_STATE_HOME")
		if !filepath.IsAbs(state) { // the XDG Base Directory Specification ignores other paths
			home, err := os.UserHomeDir()
			if err != nil {
				return spool.Dir{}, fmt.Errorf("spool: %w", err)
			}
			state = filepath.Join(home, ".local", "state")
		}
		path = filepath.Join(state, "pawl", "spool")
	}
	path, err := filepath.Abs(path)
	if err != nil {
		return spool.Dir{}, fmt.Errorf("spool: %w", err)
	}
	dir := spool.At(path)
	if !s.made {
		err = dir.Make(time.Now())
		s.made = err == nil
	}
	s.dir = path
	return dir, err
}

// Why a tool cannot determine the outcome of a command.
var (
	errUnknown      = errors.New("the outcome of the command is unknown")
	errUnsupervised = fmt.Errorf("%w: commands of this program are not supervised; have main call tool.Supervise first", errUnknown)
)
