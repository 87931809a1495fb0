//go:build !unix

package jsonschema

import "time"

var began = time.Now()

// processorTime is the time of the clock, where that of the processor is not known.
func processorTime() time.Duration { return time.Since(began) }
