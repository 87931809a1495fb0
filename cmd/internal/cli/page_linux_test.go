package cli_test

import (
	"io"
	"os"
	"strings"
	"testing"

	"github.com/pawl-run/pawl/cmd/internal/cli"
)

// explain is rendered on a terminal, and is Markdown elsewhere.
func TestExplainOnATerminal(t *testing.T) {
	files(t, map[string]string{"say.yaml": "replies: [{text: Four.}]\n"})
	environ := []string{"PAWL_DATABASE=sqlite:runs.db", "PATH=" + os.Getenv("PATH")}
	if code := cli.Main(t.Context(), []string{"ask", "2+2?", "--model", "script:say.yaml"}, strings.NewReader(""), io.Discard, io.Discard, environ); code != 0 {
		t.Fatalf("exit %d", code)
	}
	for _, c := range []struct{ setting, want, without string }{
		{"", "\x1b[1mWhat\x1b[0m \x1b[1mto\x1b[0m", "## What"},
		{"NO_COLOR=1", "## What to do next", "\x1b"},
	} {
		person, program := terminal(t)
		seen := &screen{}
		go func() { _, _ = io.Copy(seen, person) }() // until the terminal is closed
		code := cli.Main(t.Context(), []string{"explain", "last"}, strings.NewReader(""), program, io.Discard, append(environ, c.setting))
		if !soon(func() bool {
			return strings.Contains(seen.String(), "What it cost") || strings.Contains(seen.String(), "\x1b[1mcost")
		}) || code != 0 {
			t.Fatalf("exit %d:\n%s", code, seen)
		}
		if shows := seen.String(); !strings.Contains(shows, c.want) || strings.Contains(shows, c.without) {
			t.Errorf("%s: it shows\n%q", c.setting, shows)
		}
	}
}
