package cli_test

import (
	"io"
	"os"
	"strings"
	"testing"

	"github.com/pawl-run/pawl/cmd/internal/cli"
)

// If the tests do not tell a fix from other edits, the person at the terminal chooses.
func TestChoosePatch(t *testing.T) {
	if testing.Short() {
		t.Skip("most of the work is done by processes of the toolchain")
	}
	files(t, map[string]string{
		"go.mod":    "module example.com/m\n\ngo 1.26\n",
		"m.go":      "package m\n\nfunc Max(a, b int) int {\n\tif a < b {\n\t\treturn a\n\t}\n\treturn b\n}\n",
		"m_test.go": "package m\n\nimport \"testing\"\n\nfunc TestMax(t *testing.T) {\n\tif got := Max(1, 2); got != 2 {\n\t\tt.Errorf(\"got %d, want 2\", got)\n\t}\n}\n",
		"say.yaml":  "replies:\n  - calls: [{tool: edit_file, args: {path: m.go, old: \"return a\\n\", new: \"return b\\n\"}}]\n",
	})
	person, program := terminal(t)
	seen := &screen{}
	go func() { _, _ = io.Copy(seen, person) }() // until the terminal is closed
	done := make(chan int, 1)
	go func() {
		done <- cli.Main(t.Context(), []string{"fix", "--model", "script:say.yaml"}, program, io.Discard, program,
			[]string{"PAWL_DATABASE=sqlite:" + t.TempDir() + "/runs.db", "PATH=" + os.Getenv("PATH"), "HOME=" + os.Getenv("HOME"), "TERM=dumb"})
	}()
	if !soon(func() bool { return strings.Contains(seen.String(), "or n for none") }) {
		t.Fatalf("it shows\n%s", seen)
	}
	if shows := seen.String(); !strings.Contains(shows, "  2  m.go:4 `if a < b {` → `if ") || !strings.Contains(shows, "the fix prints") {
		t.Errorf("it shows\n%s", shows)
	}
	if _, err := person.WriteString("2\n"); err != nil {
		t.Fatal(err)
	}
	if code := <-done; code != 0 {
		t.Errorf("exit %d:\n%s", code, seen)
	}
	text, err := os.ReadFile("m.go")
	if err != nil || !strings.Contains(string(text), "return a\n") || strings.Contains(string(text), "if a < b {") {
		t.Errorf("%v, m.go is\n%s", err, text)
	}
}
