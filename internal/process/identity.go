package process

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"sync"
)

// Identity names one process for good, where a process id alone is given to others in time: id,
// start time and the boot it was started in.
type Identity struct {
	PID int
	// Start is the kernel's start time: on Linux clock ticks since boot, on macOS microseconds of
	// the wall clock. It is only ever compared.
	Start uint64
	// Boot tells the running system, and on Linux the process-id namespace, in which PID means
	// something.
	Boot string
}

// Self returns the identity of the calling process.
var Self = sync.OnceValues(func() (Identity, error) { return Identify(os.Getpid()) })

// Identify returns the identity of a process of this system. The error wraps fs.ErrNotExist if
// there is none with that id.
func Identify(pid int) (Identity, error) {
	start, _, err := lookUp(pid)
	if err != nil {
		return Identity{}, fmt.Errorf("process %d: %w", pid, err)
	}
	boot, err := bootID()
	if err != nil {
		return Identity{}, fmt.Errorf("process %d: identity of this boot: %w", pid, err)
	}
	return Identity{PID: pid, Start: start, Boot: boot}, nil
}

// Boot names the running system and, on Linux, the process-id namespace; empty if it cannot be told.
func Boot() string {
	boot, err := bootID()
	if err != nil {
		return ""
	}
	return boot
}

// Gone reports whether the process is known to have ended. It is false for a process of another
// host, container or boot, of which nothing can be known from here, and for the zero Identity.
// A zombie is gone: it will not do anything any more.
func (id Identity) Gone() bool {
	alive, known := id.look()
	return known && !alive
}

// Alive reports whether the process is known to be running. Of a process that cannot be seen from
// here, neither Alive nor Gone is true.
func (id Identity) Alive() bool {
	alive, known := id.look()
	return known && alive
}

func (id Identity) look() (alive, known bool) {
	boot, err := bootID()
	if err != nil || id.PID <= 0 || id.Boot != boot {
		return false, false
	}
	start, zombie, err := lookUp(id.PID)
	switch {
	case isNotExist(err):
		return false, true
	case err != nil:
		return false, false
	}
	return start == id.Start && !zombie, true
}

// String gives the identity as PID.START.BOOT, which [ParseIdentity] reads.
func (id Identity) String() string {
	return fmt.Sprintf("%d.%d.%s", id.PID, id.Start, id.Boot)
}

// ParseIdentity reads what [Identity.String] printed.
func ParseIdentity(s string) (Identity, error) {
	wrong := fmt.Errorf("process identity %q: want PID.START.BOOT", s)
	parts := strings.SplitN(s, ".", 3)
	if len(parts) != 3 || parts[2] == "" {
		return Identity{}, wrong
	}
	pid, err := strconv.Atoi(parts[0])
	if err != nil || pid <= 0 {
		return Identity{}, wrong
	}
	start, err := strconv.ParseUint(parts[1], 10, 64)
	if err != nil {
		return Identity{}, wrong
	}
	return Identity{PID: pid, Start: start, Boot: parts[2]}, nil
}
