// Package check has what the tests of every package assert. It imports nothing of ours.
package check

import "testing"

// Must ends a test at an error that it does not expect.
func Must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// SkipShort skips a test under -short, and says why.
func SkipShort(t testing.TB, why string) {
	t.Helper()
	if testing.Short() {
		t.Skip(why)
	}
}
