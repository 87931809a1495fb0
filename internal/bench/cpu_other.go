//go:build !unix

package main

import "time"

var began = time.Now()

// cpu returns the time since the process began: this system does not say how
// much of it the processor was used.
func cpu() time.Duration { return time.Since(began) }
