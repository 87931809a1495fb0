// Package house holds the tests of the building itself: which package may
// import which, what pure code must not touch, how long a file may be, what
// must be documented, and whether the links in the documents lead anywhere.
//
// It has no code but its tests. They read the sources of the module from the
// disk instead of asking the go command, so that the test cache sees every file
// they depend on, and so that they run where there is nothing but the sources.
package house
