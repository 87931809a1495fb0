//go:build linux || darwin

package cli

import (
	"sync"
	"time"

	"github.com/pawl-run/pawl/internal/process"
)

// endChildren ends the commands of tools that still run, with next to no
// patience: somebody has asked twice.
func endChildren() {
	var all sync.WaitGroup
	for _, pid := range children() {
		id, err := process.Identify(pid)
		if err != nil {
			continue // it has ended
		}
		all.Go(func() { _ = id.End(100 * time.Millisecond) }) // what does not even end by SIGKILL is the kernel's
	}
	all.Wait()
}
