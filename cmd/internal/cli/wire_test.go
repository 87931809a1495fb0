package cli_test

import (
	"strings"

	"github.com/rogpeppe/go-internal/testscript"
)

// wire MODEL has the model fix the module in sum, whose difference must be
// want.diff, and leaves the module as it was.
func wire(ts *testscript.TestScript, _ bool, args []string) {
	ts.Check(ts.Exec("pawl", "fix", "sum", "--dry-run", "--model", args[0]))
	if got, want := ts.ReadFile("stdout"), ts.ReadFile("want.diff"); got != want {
		ts.Fatalf("%s: the difference is\n%s\nwant\n%s", args[0], got, want)
	}
	told := ts.ReadFile("stderr")
	before, _, _ := strings.Cut(told, "\nrun ") // no call was made before that
	for _, want := range []string{
		"fix: model ", " at http://127.0.0.1:", "; at most 20 iterations, 500,000 tokens, 30 minutes\n",
		"tests: go test ./..., in a copy of ", "code and test output that the model reads are sent to http://127.0.0.1:",
	} {
		if !strings.Contains(before, want) {
			ts.Fatalf("%s: before the first call it does not say %q:\n%s", args[0], want, told)
		}
	}
	for _, want := range []string{
		"[0] metric -1, open: 1; newly open: example.com/sum.TestOf\n", "read-only", "; newly open: example.com/sum.TestZero\n",
		"; no longer open: example.com/sum.TestOf, example.com/sum.TestZero\n",
	} {
		if !strings.Contains(told, want) {
			ts.Fatalf("%s: it does not say %q:\n%s", args[0], want, told)
		}
	}
}
