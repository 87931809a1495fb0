//go:build sabotage

package sabotage

import "os"

var broken = Switch(os.Getenv("PAWL_SABOTAGE"))

// On reports whether a promise is to be broken.
func On(s Switch) bool { return s == broken }
