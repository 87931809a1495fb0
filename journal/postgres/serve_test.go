//go:build unix

package postgres_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"sync"
	"testing"
	"time"

	"github.com/pawl-run/pawl/server/client"
)

// here is the directory of this package, which tests leave.
var here, _ = os.Getwd()

// program builds the pawl command once and returns its path.
func program(t *testing.T) string {
	t.Helper()
	command.Do(func() {
		var dir string
		if dir, command.err = os.MkdirTemp("", "pawl-"); command.err != nil { //nolint:usetesting // it outlives the test
			return
		}
		command.path = filepath.Join(dir, "pawl")
		build := exec.Command("go", "build", "-o", command.path, "./pawl")
		build.Dir = filepath.Join(here, "..", "..", "cmd")
		if out, err := build.CombinedOutput(); err != nil {
			command.err = fmt.Errorf("go build: %w\n%s", err, out)
		}
	})
	if command.err != nil {
		t.Fatal(command.err)
	}
	return command.path
}

// command is the pawl command of all tests.
var command struct {
	sync.Once
	path string
	err  error
}

const siteToken = "token-of-these-tests"

// A site is a server of runs in a process of its own.
type site struct {
	*client.Client
	cmd  *exec.Cmd
	said string // the file with what it says
}

// serving starts pawl serve on a database.
func serving(t *testing.T, database string, args ...string) *site {
	t.Helper()
	return servingBy(t, program(t), database, args...)
}

// servingBy is serving by a build of the command.
func servingBy(t *testing.T, pawl, database string, args ...string) *site {
	t.Helper()
	s := &site{said: filepath.Join(t.TempDir(), "said.txt")}
	out, err := os.Create(s.said)
	must(t, err)
	defer out.Close()
	s.cmd = exec.Command(pawl, append([]string{"serve", "--addr", "127.0.0.1:0"}, args...)...)
	s.cmd.Stdout, s.cmd.Stderr = out, out
	s.cmd.Env = append(os.Environ(), "PAWL_DATABASE="+database, "PAWL_TOKEN="+siteToken)
	must(t, s.cmd.Start())
	t.Cleanup(func() {
		s.kill()
		if t.Failed() {
			t.Logf("it said %s", s.text())
		}
	})
	at := regexp.MustCompile(`(?m)^serving at (\S+)$`)
	soon(t, "a server", func() bool { return at.MatchString(s.text()) })
	if s.Client, err = client.New(at.FindStringSubmatch(s.text())[1], siteToken, nil); err != nil {
		t.Fatal(err)
	}
	return s
}

func (s *site) text() string {
	data, _ := os.ReadFile(s.said)
	return string(data)
}

func (s *site) kill() {
	_ = s.cmd.Process.Kill() // unless it is gone
	_, _ = s.cmd.Process.Wait()
}

func soon(t *testing.T, what string, holds func() bool) {
	t.Helper()
	for end := time.Now().Add(time.Minute); !holds(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("there is no %s", what)
		}
	}
}
