package transcript

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/pawl-run/pawl"
)

// deathAt dies before or after the batch that a plan names: before:WHAT or after:WHAT, WHAT a
// seq, a type or leg; empty: it lives.
func deathAt(plan string) func(pawl.Batch) (n int, dies bool, err error) {
	when, what, _ := strings.Cut(plan, ":")
	return func(b pawl.Batch) (n int, dies bool, err error) {
		for _, r := range b.Records {
			e, err := pawl.DecodeEntry(r)
			if err != nil {
				return 0, false, fmt.Errorf("an engine appended what nobody can read: %w", err)
			}
			start, _ := e.Event.(pawl.RunStarted)
			leg := start.Continues != nil && start.Continues.By != ""
			dies = dies || e.Type() == what || strconv.FormatUint(e.Seq, 10) == what || leg && what == "leg"
		}
		if dies && when == "before" {
			return 0, true, nil
		}
		return len(b.Records), dies, nil
	}
}
