package testfix_test

import (
	"os"
	"path"
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/pawl-run/pawl"
)

// What does not build is fixed where the compiler's message all but says how.
// That each kind of message leads to its edit is tested beside the mechanic; here
// are those of a kind of their own, and with PAWL_PROOF all: what the compiler
// stops at, what it knows of another package, and where of several edits that
// build the tests decide.
func TestRepairBuild(t *testing.T) {
	if testing.Short() {
		t.Skip("every repair runs go test several times")
	}
	archive, err := txtar.ParseFile("../../testdata/unbuilt.txtar")
	if err != nil {
		t.Fatal(err)
	}
	files := map[string]string{}
	for _, f := range archive.Files {
		files[f.Name] = string(f.Data)
	}
	for name, code := range files {
		name, ok := strings.CutSuffix(name, "/m.go")
		if !ok || os.Getenv("PAWL_PROOF") == "" && !slices.Contains([]string{"member", "unused_variable"}, name) {
			continue
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := module(t, map[string]string{"m.go": code, "m_test.go": files["m_test.go"]})
			result := drive(t, f)
			if result.Status != pawl.StatusSuccess {
				t.Fatalf("status %v, want success: %s", result.Status, result.Verdict.Detail)
			}
			diff, err := f.Outcome(t.Context(), result.Status)
			if want := files[path.Join(name, "want")]; err != nil || want == "" || !strings.Contains(diff.String(), want) {
				t.Errorf("%v; the diff lacks %q:\n%s", err, want, diff)
			}
		})
	}
}
