package cli_test

import (
	"io"
	"os"
	"strings"
	"testing"

	"github.com/pawl-run/pawl/cmd/internal/cli"
	"github.com/pawl-run/pawl/internal/testkit/check"
)

// An answer is shown on a terminal while it arrives, and once.
func TestAnswerOnATerminal(t *testing.T) {
	files(t, map[string]string{"say.yaml": `replies:
  - attempts:
      - {text: "Half of it ", chunks: 2, error: {class: overloaded, message: busy, retry_after: 1ms}}
      - {text: "It is **four**, and that is all.", chunks: 40, delay: 400ms}
`})
	person, program := terminal(t)
	seen := &check.Log{}
	go func() { _, _ = io.Copy(seen, person) }() // until the terminal is closed
	done := make(chan int, 1)
	go func() {
		done <- cli.Main(t.Context(), []string{"ask", "2+2?", "--model", "script:say.yaml", "--quiet"}, strings.NewReader(""), program, io.Discard,
			[]string{"PAWL_DATABASE=sqlite:runs.db", "PATH=" + os.Getenv("PATH")})
	}()
	if !soon(func() bool { return strings.Contains(seen.String(), "**four**") }) {
		t.Fatalf("it shows\n%q", seen)
	}
	if strings.Contains(seen.String(), "all") {
		t.Errorf("it is shown at the end only:\n%q", seen)
	}
	code := <-done
	if want := "Half of it \r\nIt is **four**, and that is all.\r\n"; code != 0 || !soon(func() bool { return seen.String() == want }) {
		t.Errorf("exit %d:\n%q, want\n%q", code, seen, want)
	}
}

// Where the answer is read on standard output, progress does not show it as well.
func TestAnswerOnce(t *testing.T) {
	files(t, map[string]string{
		"say.yaml":    "name: say\nmodel: script:script.yaml\ntools: [{name: look, description: Look., command: [echo, seen], effect: read}]\n",
		"script.yaml": "replies: [{text: I look., calls: [{tool: look, args: {}}]}, {text: It is four.}]\n",
	})
	person, program := terminal(t)
	go func() { _, _ = io.Copy(io.Discard, person) }() // until the terminal is closed
	for out, shown := range map[io.Writer]bool{program: false, io.Discard: true} {
		var errs strings.Builder
		code := cli.Main(t.Context(), []string{"run", "say.yaml", "go"}, strings.NewReader(""), out, &errs, []string{"PAWL_DATABASE=sqlite:runs.db", "PATH=" + os.Getenv("PATH")})
		if says := errs.String(); code != 0 || !strings.Contains(says, "[1] I look.") || strings.Contains(says, "four") != shown {
			t.Errorf("exit %d:\n%s", code, says)
		}
	}
}
