//go:build !unix

package workspace

import "os"

// lock does nothing: on this system two processes must not apply from one state directory at once.
func lock(*os.File) {}
