package engine

import (
	"flag"
	"os"
)

// verifying reports whether engines check of every entry that decoding its bytes
// gives the entry that was folded. They do in tests, and where PAWL_VERIFY is 1;
// PAWL_VERIFY=0 switches it off. A run whose entry differs stops with an error, and
// can be resumed from the entry before.
func verifying() bool {
	switch os.Getenv("PAWL_VERIFY") {
	case "1":
		return true
	case "0":
		return false
	}
	return flag.Lookup("test.v") != nil
}
