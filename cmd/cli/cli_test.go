package cli_test

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// A program with a registry of its own checks, runs, resumes and replays the specs that
// name its parts, each command in a process of its own.
func TestTeam(t *testing.T) {
	dir, err := filepath.Abs("../../examples/team")
	if err != nil {
		t.Fatal(err)
	}
	tmp := t.TempDir()
	team := filepath.Join(tmp, "team")
	build := exec.Command("go", "build", "-o", team, ".")
	build.Dir = dir
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("go build: %v\n%s", err, out)
	}
	for _, c := range []struct {
		args   string
		code   int
		stdout string // empty: not compared
		stderr string // a part of it
	}{
		{"check booking.yaml", 0, "", "from this program: tool quote, tool book, loop plan, policy asks-first, condition chatty\n"},
		{"run booking.yaml", 5, "", "waits: approval c_2: book"},
		{"approve last", 0, "The seat is booked.\n", ""},
		{"replay last", 0, "", ""},
		{"show last --spec", 0, "", ""},
		{"run vote.yaml --stop when(\"chatty\")", 0, "train\n", ""},
		{"check " + misspelt(t, dir, tmp), 2, "", `:14:7: loop is "plam" (did you mean plan?)
BAD:16:23: there is no builtin tool "bok" (did you mean book?)
BAD:17:12: there is no policy "asks" (there is asks-first)
BAD:18:19: stop: no condition chaty is registered (did you mean chatty?)
`},
	} {
		var stdout, stderr bytes.Buffer
		cmd := exec.Command(team, strings.Fields(c.args)...)
		cmd.Dir, cmd.Stdout, cmd.Stderr = dir, &stdout, &stderr
		cmd.Env = append(os.Environ(), "PAWL_DATABASE=sqlite:"+filepath.Join(tmp, "runs.db"))
		_ = cmd.Run() // the exit code is compared
		want := strings.ReplaceAll(c.stderr, "BAD", filepath.Join(tmp, "bad.yaml"))
		if code := cmd.ProcessState.ExitCode(); code != c.code || c.stdout != "" && stdout.String() != c.stdout || !strings.Contains(stderr.String(), want) {
			t.Errorf("team %s: exit %d, stdout %q, stderr:\n%s\nwant exit %d, stdout %q, stderr with:\n%s", c.args, code, stdout.String(), &stderr, c.code, c.stdout, want)
		}
	}
}

// misspelt writes the spec with a mistake in each name of the program's.
func misspelt(t *testing.T, dir, tmp string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(dir, "booking.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	bad := filepath.Join(tmp, "bad.yaml")
	text = []byte(strings.NewReplacer("loop: plan", "loop: plam", "quote, book]", "quote, bok]", "[asks-first]", "[asks]", "chatty", "chaty", "script:", "script:"+dir+"/").Replace(string(text)))
	if err := os.WriteFile(bad, text, 0o600); err != nil {
		t.Fatal(err)
	}
	return bad
}
