package cli_test

import (
	"bytes"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
)

// Commands do at a server what they do on a database: each of these scripts is
// run with both. What is served, it says itself by `served DIR FLAGS…`; with a
// database that does nothing. $EXT is what stands behind the name of an agent to
// make it the name of its spec.
func TestScriptsOnBoth(t *testing.T) {
	for _, at := range []string{"database", "server"} {
		t.Run(at, func(t *testing.T) {
			if testing.Short() && at == "database" {
				t.Skip("one command after another: -short")
			}
			p := scripts("testdata/both")
			only(&p, "at_live", "at_run")
			setup := p.Setup
			p.Setup = func(e *testscript.Env) error {
				e.Setenv("EXT", map[string]string{"database": ".yaml", "server": ""}[at])
				return setup(e)
			}
			p.Condition = func(cond string) (bool, error) { return cond == at, nil }
			if at == "database" {
				p.Cmds["served"] = func(*testscript.TestScript, bool, []string) {}
			}
			testscript.Run(t, p)
		})
	}
}

const token = "a-token-for-tests-0123"

// served starts pawl serve and has the script's further commands ask it.
func served(ts *testscript.TestScript, _ bool, args []string) {
	if !slices.Contains(args, "--socket") {
		args = append([]string{"--addr", "127.0.0.1:0"}, args...)
	}
	said := &said{}
	c := exec.Command("pawl", append([]string{"serve"}, args...)...)
	path, err := exec.LookPath("pawl")
	ts.Check(err)
	c.Path, c.Dir, c.Stderr = path, ts.MkAbs("."), said
	for _, name := range []string{"PATH", "HOME", "TMPDIR", "XDG_STATE_HOME", "GOCACHE"} {
		c.Env = append(c.Env, name+"="+ts.Getenv(name))
	}
	c.Env = append(c.Env, "PAWL_TOKEN="+token)
	ts.Check(c.Start())
	ts.Defer(func() {
		_ = c.Process.Signal(os.Interrupt)
		stop := time.AfterFunc(5*time.Second, func() { _ = c.Process.Kill() })
		_ = c.Wait()
		stop.Stop()
	})
	ts.Setenv("SERVER", strconv.Itoa(c.Process.Pid))
	var at []string
	if !soon(func() bool { at = serving.FindStringSubmatch(said.String()); return at != nil }) {
		ts.Fatalf("the server does not come up: %s", said)
	}
	ts.Setenv("URL", at[1])
	ts.Setenv("AT_SERVER", at[1])
	ts.Setenv("PAWL_TOKEN", token)
}

// unserve ends the server as Ctrl-C would.
func unserve(ts *testscript.TestScript, _ bool, _ []string) {
	pid, err := strconv.Atoi(ts.Getenv("SERVER"))
	ts.Check(err)
	p, err := os.FindProcess(pid)
	ts.Check(err)
	ts.Check(p.Signal(os.Interrupt))
}

var serving = regexp.MustCompile(`(?m)^serving at (\S+)$`)

// said is what a process says while it runs.
type said struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (s *said) Write(b []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.Write(b)
}

func (s *said) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return strings.Clone(s.b.String())
}
