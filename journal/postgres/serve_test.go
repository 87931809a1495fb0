//go:build unix

package postgres_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/pawl-run/pawl"
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
	s := &site{said: filepath.Join(t.TempDir(), "said.txt")}
	out, err := os.Create(s.said)
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	s.cmd = exec.Command(program(t), append([]string{"serve", "--addr", "127.0.0.1:0"}, args...)...)
	s.cmd.Stdout, s.cmd.Stderr = out, out
	s.cmd.Env = append(os.Environ(), "PAWL_DATABASE="+database, "PAWL_TOKEN="+siteToken)
	if err := s.cmd.Start(); err != nil {
		t.Fatal(err)
	}
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

// TestServe has two servers on one database, as on two machines: one starts a run
// and shows it, the other takes the approval and drives on until it is killed; a
// third recovers the run.
func TestServe(t *testing.T) {
	t.Chdir(t.TempDir())
	for name, text := range map[string]string{
		"shop.yaml": `name: shop
model: script:shop.script.yaml
tools:
  - {name: pay, description: Pay., command: [sh, -c, "echo paid >> paid.txt; echo paid"], approval: required}
  - {name: send, description: Send., command: [sh, -c, "echo begun >> sent.txt; while [ ! -e go ]; do sleep 0.02; done; echo sent >> sent.txt"], effect: idempotent}
`,
		"shop.script.yaml":  "replies: [{calls: [{tool: pay}]}, {calls: [{tool: send}]}, {text: it is on its way}]\n",
		"quick.yaml":        "name: quick\nmodel: script:quick.script.yaml\ntools: [{name: pick, client: true, description: Pick., input: {type: object}}]\n",
		"quick.script.yaml": "replies: [{calls: [{tool: pick}]}, {text: picked}]\n",
	} {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	raw(t, `DROP SCHEMA IF EXISTS pawl CASCADE`)
	database, ctx := started(t).url(), t.Context()
	one, two := serving(t, database, "shop.yaml", "quick.yaml"), serving(t, database, "shop.yaml", "quick.yaml")
	run, err := one.Start(ctx, client.StartRun{Agent: "shop", Input: "Buy."})
	if err != nil {
		t.Fatal(err)
	}
	var types []string
	seen := make(chan error)
	go func() {
		next := uint64(1)
		for e, err := range one.Follow(ctx, run.Run, 0) {
			switch {
			case err != nil:
				seen <- err
				return
			case e.Seq == 0: // a piece of a reply
				continue
			case e.Seq != next:
				seen <- fmt.Errorf("entry %d comes after %d", e.Seq, next-1)
				return
			}
			types, next = append(types, e.Type()), next+1
		}
		seen <- nil
	}()
	if r, err := two.Wait(ctx, run.Run); err != nil || r.Status != pawl.StatusWaitingApproval {
		t.Fatal(r.Status, err)
	}
	if _, err := two.Approve(ctx, run.Run, "c_1", client.Approve{}); err != nil {
		t.Fatal(err)
	}
	lines := func(file, want string) func() bool {
		return func() bool { data, _ := os.ReadFile(file); return strings.Contains(string(data), want) }
	}
	soon(t, "call", lines("sent.txt", "begun"))
	two.kill()
	if r, err := one.Run(ctx, run.Run); err != nil || r.Status != pawl.StatusInterrupted {
		t.Errorf("left by its server it is %v, %v", r.Status, err)
	}
	three := serving(t, database, "shop.yaml")
	soon(t, "recovery", func() bool { return strings.Contains(three.text(), `msg="run resumed" run=`+run.Run) })
	if err := os.WriteFile("go", nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := <-seen; err != nil {
		t.Error(err)
	}
	if got := strings.Join(types, " "); !strings.HasSuffix(got, "run.stopped") || strings.Count(got, "run.resumed") != 2 {
		t.Errorf("who followed has seen %s", got)
	}
	if r, err := one.Run(ctx, run.Run); err != nil || r.Status != pawl.StatusSuccess || r.Answer != "it is on its way" {
		t.Error(r.Status, r.Answer, err)
	}
	if data, err := os.ReadFile("paid.txt"); err != nil || string(data) != "paid\n" {
		t.Errorf("%q, %v", data, err)
	}
	if r, err := one.Replay(ctx, run.Run); err != nil || !r.Agrees {
		t.Error(r, err)
	}

	if err := one.cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	if state, err := one.cmd.Process.Wait(); err != nil || state.Sys().(syscall.WaitStatus).ExitStatus() != 130 {
		t.Error(state, err)
	}
}
