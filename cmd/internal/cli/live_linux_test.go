package cli_test

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/pawl-run/pawl/cmd/internal/cli"
	"github.com/pawl-run/pawl/internal/testkit/check"
)

// On a terminal the calls that run are seen beneath what has happened, within the
// width there is, also when it changes; nothing of that is left in the end, and
// nothing of it is written where nobody watches.
func TestLiveOnATerminal(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"slow.yaml":   "name: slow\nmodel: script:script.yaml\ntools: [{name: wait, description: Wait., command: [sleep, \"0.7\"], effect: read}]\n",
		"script.yaml": "replies: [{text: 日本語で長く待つ必要があります。, calls: [{tool: wait, args: {}}]}, {text: Done.}]\n",
	} {
		must(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
	}
	t.Chdir(dir)
	environ := []string{"PAWL_DATABASE=sqlite:runs.db", "PATH=" + os.Getenv("PATH"), "NO_COLOR=1"}
	person, program := terminal(t)
	size := func(cols uint16) {
		must(t, unix.IoctlSetWinsize(int(person.Fd()), unix.TIOCSWINSZ, &unix.Winsize{Row: 24, Col: cols}))
	}
	size(100)
	seen := &check.Log{}
	read := make(chan struct{})
	go func() {
		defer close(read)
		_, _ = io.Copy(seen, person)
	}()
	done := make(chan int, 1)
	go func() {
		done <- cli.Main(t.Context(), []string{"run", "slow.yaml", "go"}, strings.NewReader(""), io.Discard, program, environ)
	}()
	if !soon(func() bool { return strings.Contains(seen.String(), "  c_1 wait · 0.") }) {
		t.Fatalf("it is not seen that the call runs: %q", seen)
	}
	size(24)
	if !soon(func() bool { return strings.Contains(seen.String(), "…\x1b[K\r\n  c_1 wait · ") }) {
		t.Errorf("it does not become narrower: %q", seen)
	}
	if code := <-done; code != 0 {
		t.Errorf("exit code %d: %s", code, seen)
	}
	_ = program.Close()
	<-read
	all := seen.String()
	if i := strings.LastIndex(all, "turn "); i < 0 || !strings.Contains(all[i:], "\x1b[J") {
		t.Errorf("the lines beneath are left: %q", all)
	}
	if strings.Contains(all, "\x1b[2m") {
		t.Error("there is colour")
	}

	var quiet strings.Builder
	for _, flags := range [][]string{{}, {"--quiet"}} {
		if code := cli.Main(t.Context(), append([]string{"run", "slow.yaml", "go"}, flags...), strings.NewReader(""), io.Discard, &quiet, environ); code != 0 {
			t.Errorf("exit code %d: %s", code, &quiet)
		}
	}
	if strings.ContainsAny(quiet.String(), "\x1b\r") || strings.Contains(quiet.String(), "turn ") {
		t.Errorf("where there is no terminal: %q", &quiet)
	}
}
