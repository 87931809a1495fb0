// Package house tests the repository itself: which package may import which, what pure code may
// not use, how long a file may be, what must be documented, and whether the links in the
// documents work.
//
// It has only tests. They read the sources from the disk and do not ask the go command, so that
// the test cache sees every file that they depend on.
package house
