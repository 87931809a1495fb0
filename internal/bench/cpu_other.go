//go:build !unix

package main

import "time"

var began = time.Now()

// cpu returns the time since the process began: this system does not report
// processor time.
func cpu() time.Duration { return time.Since(began) }
