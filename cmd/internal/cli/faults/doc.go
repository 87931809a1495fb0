// Package faults holds only tests. They run the command pawl fix in a process of its own, without a key, on the modules of
// testdata/faults, and kill it.
//
// Without PAWL_PROOF the tests take a sample of the modules. To test one module:
//
//	PAWL_PROOF=1 go test ./cmd/internal/cli/faults -v -run 'TestFix/roster$'
package faults
