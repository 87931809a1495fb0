//go:build !unix

package sqlite_test

import "time"

// cpu would be the processor time this process has used.
func cpu() time.Duration { return 0 }
