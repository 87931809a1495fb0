//go:build !linux

package process

import (
	"errors"
	"fmt"
	"runtime"
	"syscall"
)

// Enter does nothing on this system.
func Enter() {}

// Missing always says that this system has no cages; nil only for the zero Cage.
func (c Cage) Missing() error {
	if c.Files == nil && !c.NoNetwork && c.Memory == 0 && c.Processes == 0 {
		return nil
	}
	return fmt.Errorf("its cage cannot be enforced on %s; it takes Linux: %w", runtime.GOOS, errors.ErrUnsupported)
}

func (Cage) means() means {
	return means{"not enforced", "not enforced", "not enforced", "not enforced", "not enforced"}
}

// Opening is of no use on this system.
type Opening struct {
	Argv []string
	Attr *syscall.SysProcAttr
}

// Open always fails on this system.
func (c Cage) Open(bool) (*Opening, error) {
	return nil, errors.Join(c.Missing(), errors.ErrUnsupported)
}

// Env returns env.
func (*Opening) Env(env []string) []string { return env }

// Close does nothing on this system.
func (*Opening) Close() error { return nil }

// Explain has nothing to explain on this system.
func Explain([]byte) (syscall.Errno, string) { return 0, "" }
