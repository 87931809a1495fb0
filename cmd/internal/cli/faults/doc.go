// Package faults holds nothing but tests: they run the command pawl fix, in a process of its own and without a key, on
// the modules of testdata/faults, and kill it.
//
// The tests of every day take a sample. With PAWL_PROOF set all modules are taken; one alone with
//
//	PAWL_PROOF=1 go test ./cmd/internal/cli/faults -v -run 'TestFix/roster$'
package faults
