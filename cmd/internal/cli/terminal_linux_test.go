package cli_test

import (
	"fmt"
	"io"
	"os"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/pawl-run/pawl/cmd/internal/cli"
	"github.com/pawl-run/pawl/internal/testkit/check"
)

// terminal opens a pseudo-terminal: what a person has, and what a program has.
func terminal(t *testing.T) (person, program *os.File) {
	t.Helper()
	person, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Skip("there are no pseudo-terminals: ", err)
	}
	t.Cleanup(func() { _ = person.Close() })
	n, err := unix.IoctlGetInt(int(person.Fd()), unix.TIOCGPTN)
	if err == nil {
		err = unix.IoctlSetPointerInt(int(person.Fd()), unix.TIOCSPTLCK, 0)
	}
	if err == nil {
		program, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|unix.O_NOCTTY, 0)
	}
	if err != nil {
		t.Skip("there are no pseudo-terminals: ", err)
	}
	t.Cleanup(func() { _ = program.Close() })
	return person, program
}

// On a terminal a person is asked without a word about it on the command line,
// and only what is typed after the question is an answer to it.
func TestAskingOnATerminal(t *testing.T) {
	files(t, shop)
	person, program := terminal(t)
	seen := &check.Log{}
	go func() { _, _ = io.Copy(seen, person) }() // until the terminal is closed
	_, err := person.WriteString("y\ny\ny\n")
	must(t, err)
	if !soon(func() bool { return strings.Count(seen.String(), "y") == 3 }) { // the terminal has them, and shows them
		t.Fatalf("it shows %q", seen)
	}
	done := make(chan int, 1)
	go func() {
		done <- cli.Main(t.Context(), []string{"run", "shop.yaml", "go"}, program, io.Discard, program,
			[]string{"PAWL_DATABASE=sqlite:runs.db", "PATH=" + os.Getenv("PATH")})
	}()
	if !soon(func() bool {
		text := seen.String()
		return strings.Contains(text, "y approves it") && strings.HasSuffix(text, "? \x1b[K")
	}) {
		t.Fatalf("nobody is asked:\n%s", seen)
	}
	time.Sleep(100 * time.Millisecond) // what was typed before would have been read by now
	if n := effects(t, "paid.txt"); n != 0 {
		t.Errorf("paid %d times with what was typed before the question", n)
	}
	_, err = person.WriteString("l\n")
	must(t, err)
	if code := <-done; code != 5 || effects(t, "paid.txt") != 0 {
		t.Errorf("exit %d, paid %d times\n%s", code, effects(t, "paid.txt"), seen)
	}
}

var closing = map[string]string{
	"close.yaml": `name: closer
model: script:close.script.yaml
observe: {command: [cat, report.txt]}
tools:
  - {name: close, description: Close a ticket., command: [sh, -c, 'echo ran >> closed.txt'], approval: required}
`,
	"close.script.yaml": "replies: [{calls: [{tool: close}]}, {text: closed}]\n",
	"report.txt":        "A-1 and A-2 are open",
}

// The world changes while a person is asked: the call that is approved by what
// was seen before does not run, and the person is asked again.
func TestWorldChangesOnATerminal(t *testing.T) {
	files(t, closing)
	person, program := terminal(t)
	seen := &check.Log{}
	go func() { _, _ = io.Copy(seen, person) }() // until the terminal is closed
	done := make(chan int, 1)
	go func() {
		done <- cli.Main(t.Context(), []string{"run", "close.yaml", "go"}, program, io.Discard, program,
			[]string{"PAWL_DATABASE=sqlite:runs.db", "PATH=" + os.Getenv("PATH")})
	}()
	for i, report := range []string{"A-2 and A-3 are open", ""} {
		if !soon(func() bool { return strings.Count(seen.String(), "y approves it") == i+1 }) {
			t.Fatalf("nobody is asked:\n%s", seen)
		}
		if n := effects(t, "closed.txt"); n != 0 {
			t.Fatalf("closed %d times", n)
		}
		if i == 1 && !strings.Contains(seen.String(), "changed since it was asked: the observation") {
			t.Errorf("the person is not told what changed:\n%s", seen)
		}
		if report != "" {
			must(t, os.WriteFile("report.txt", []byte(report), 0o600))
		}
		time.Sleep(100 * time.Millisecond) // what is typed before the question is no answer to it
		_, err := person.WriteString("y\n")
		must(t, err)
	}
	if code := <-done; code != 0 || effects(t, "closed.txt") != 1 {
		t.Errorf("exit %d, closed %d times\n%s", code, effects(t, "closed.txt"), seen)
	}
}
