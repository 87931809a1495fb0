package process

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"sync"
)

// Identity identifies a process permanently, although process ids are reused:
// by id, start time and the boot it was started in.
type Identity struct {
	PID int
	// Start is the kernel's start time: on Linux clock ticks since boot, on
	// macOS microseconds of the wall clock. It is only compared for equality.
	Start uint64
	// Boot identifies the running system and, on Linux, the process-id
	// namespace of PID.
	Boot string
}

// Self returns the identity of the calling process.
var Self = sync.OnceValues(func() (Identity, error) { return Identify(os.Getpid()) })

// Identify returns the identity of a process of this system. The error wraps
// fs.ErrNotExist if no process has that id.
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

// Boot identifies the running system and, on Linux, the process-id namespace;
// empty if that is impossible.
func Boot() string {
	boot, err := bootID()
	if err != nil {
		return ""
	}
	return boot
}

// Gone reports whether the process is known to have ended. It is false for a
// process of another host, container or boot, which cannot be observed from
// here, and for the zero Identity. A zombie counts as gone.
func (id Identity) Gone() bool {
	alive, known := id.look()
	return known && !alive
}

// Alive reports whether the process is known to be running. For a process that
// cannot be observed, both Alive and Gone are false.
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

// String returns PID.START.BOOT, which [ParseIdentity] parses.
func (id Identity) String() string {
	return fmt.Sprintf("%d.%d.%s", id.PID, id.Start, id.Boot)
}

// ParseIdentity parses the result of [Identity.String].
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
