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

// supervisorName is what the program is called when it supervises. The number is
// that of the protocol: another build, put in our place meanwhile, must not
// answer to it if it speaks otherwise.
const supervisorName = "pawl-supervisor-2"

// Supervise has the commands of this program run under a supervisor: the same
// program, started once more when the first command runs, which stays alive if
// this process is killed. It sees each command to its end, or to the tool's
// Timeout, and keeps on disk what came of it; so whoever takes the run up finds
// the true result, or waits for a command that still runs. The log says of each
// attempt that it is recorded, and where; so a Write of which there is no record
// was not made, and is. What is left to people is the loss of the machine, and of
// the supervisor, and a Write whose records are out of reach: on another host, in
// another container, in a directory that was removed or copied, from before the
// machine was last started, or too old.
//
// A command that takes effect and ends by itself costs a few milliseconds more
// than without, most of them for a record on the disk before it starts; the
// first one of a process also the start of the program.
//
// It must be the first thing main does: in the supervisor, and in the step by which
// a command enters its [Cage], it does not return.
// Without it commands run in this process, and a command tool cannot tell what
// came of a call that it does not remember. It starts nothing by itself.
func Supervise() {
	cage.Enter()
	if line, ok := process.Respawned(supervisorName); ok {
		supervise(line)
		os.Exit(0) //nolint:forbidigo // main is not to go on: this process is not what it takes itself for
	}
	supervision.mu.Lock()
	defer supervision.mu.Unlock()
	supervision.enabled = true
}

// Spool says where supervised commands are recorded from now on, and which
// values, by name, are kept out of what they print besides the tools' own
// secrets. The directory is made for the user only, if it is not there.
//
// It belongs beside the journal, so that they stay together. The log says of every
// attempt where it is recorded, so that any process of this machine finds the
// record. Without Spool, and when dir is empty, the directory is pawl/spool in the
// user's state directory.
//
// If the directory cannot be used, commands fail before they are started.
func Spool(dir string, secrets map[string]string) {
	s := &supervision
	s.mu.Lock()
	defer s.mu.Unlock()
	s.secrets, s.dir, s.made = maps.Clone(secrets), dir, false
	if s.enabled {
		_, _ = s.make() // what is wrong with it is told by who needs it
	}
}

// Forget removes what the spool holds of calls that have their answer in s,
// which must be durable. What nobody removes is removed after a week.
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

// place is where to record, and what to keep out of it.
func (s *supervising) place() (spool.Dir, map[string]string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	dir, err := s.make()
	return dir, s.secrets, err
}

// make makes the spool's directory, for who holds the lock.
func (s *supervising) make() (spool.Dir, error) {
	path := s.dir
	if path == "" {
		state := os.Getenv("XDG_STATE_HOME")
		if !filepath.IsAbs(state) { // which the XDG Base Directory Specification says is to be ignored
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

// Why a tool cannot tell what came of a command.
var (
	errUntold    = errors.New("what came of the command is not known")
	errUnwatched = fmt.Errorf("%w: commands of this program are not supervised; have main call tool.Supervise first", errUntold)
)
