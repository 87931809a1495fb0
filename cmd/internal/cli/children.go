//go:build linux || darwin

package cli

import (
	"sync"
	"time"

	"github.com/pawl-run/pawl/internal/process"
)

// endChildren kills the commands of tools that still run, almost at once: the user
// has asked twice.
func endChildren() {
	var all sync.WaitGroup
	for _, pid := range children() {
		id, err := process.Identify(pid)
		if err != nil {
			continue // it has ended
		}
		all.Go(func() { _ = id.End(100 * time.Millisecond) }) // a process that survives SIGKILL is left to the kernel
	}
	all.Wait()
}
