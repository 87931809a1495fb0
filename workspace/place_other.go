//go:build !unix

package workspace

import "os"

// On other systems new files are made next to their targets, and the caller must not run two
// processes on one state directory.

func (t *Tree) near(*os.Root, string) bool { return false }

func (t *Tree) moveIn(string, *os.Root, string) error { return errFar }

func inherit(*os.File, *os.Root, string) {}

func (t *Tree) lock() (unlock func(), err error) { return func() {}, nil }
