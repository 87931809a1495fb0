package cli_test

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/journal/sqlite"
)

// TestServe holds pawl serve to its scripts. Beside the common commands of such
// scripts they have these:
//
//	serving ARGS…            starts pawl serve with them, at a port of its own unless they say where
//	halt SIGNAL CODE         ends it, and wants an exit code; what it said is in serve.txt
//	due DATABASE             has the times come that its runs wait for
//	elsewhere DATABASE       has its interrupted runs had owners on a machine of which nothing is known
//	ask STATUS METHOD PATH [BODY]   asks it, and wants a status; the answer is in answer.txt
func TestServe(t *testing.T) {
	var all servers
	p := testscript.Params{
		Dir:                 "testdata/serve",
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Setup: func(e *testscript.Env) error {
			e.Setenv("XDG_STATE_HOME", filepath.Join(e.WorkDir, "state"))
			for _, name := range []string{"ANTHROPIC_API_KEY", "OPENAI_API_KEY", "GEMINI_API_KEY", "GOOGLE_API_KEY", "PAWL_MODEL", "PAWL_DATABASE", "PAWL_TOKEN"} {
				e.Setenv(name, "")
			}
			e.Setenv("GORACE", os.Getenv("GORACE"))
			cache := os.Getenv("GOCACHE")
			if dir, err := os.UserCacheDir(); cache == "" && err == nil {
				cache = filepath.Join(dir, "go-build")
			}
			e.Setenv("GOCACHE", cache)
			return nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"serving": all.start, "halt": all.halt, "ask": all.ask, "code": code, "until": until,
			"mode": func(ts *testscript.TestScript, _ bool, args []string) {
				info, err := os.Stat(ts.MkAbs(args[1]))
				ts.Check(err)
				if got := strconv.FormatInt(int64(info.Mode().Perm()), 8); got != args[0] {
					ts.Fatalf("the mode of %s is %s", args[1], got)
				}
			},
			"name": func(ts *testscript.TestScript, _ bool, args []string) {
				m := regexp.MustCompile(args[1]).FindStringSubmatch(ts.ReadFile(args[2]))
				if m == nil {
					ts.Fatalf("%s does not match %s", args[2], args[1])
				}
				ts.Setenv(args[0], m[len(m)-1])
			},
			"due": due, "elsewhere": elsewhere,
			"soon": func(ts *testscript.TestScript, _ bool, args []string) {
				re := regexp.MustCompile("(?m)" + args[0])
				if !soon(func() bool {
					data, err := os.ReadFile(ts.MkAbs(args[1]))
					return err == nil && re.Match(data)
				}) {
					ts.Fatalf("%s does not come to match %s", args[1], args[0])
				}
			},
		},
	}
	only(&p, "runs", "wake", "lapse")
	testscript.Run(t, p)
}

// due has the journal take it that the times have come that runs are paused until:
// with a note in each log, whose head says so.
func due(ts *testscript.TestScript, _ bool, args []string) {
	ctx := context.Background()
	j, err := sqlite.Open(ctx, ts.MkAbs(args[0]), nil)
	ts.Check(err)
	defer j.Close()
	for h, err := range j.List(ctx, pawl.Query{Due: time.Now().Add(24 * time.Hour)}) {
		ts.Check(err)
		lease, err := j.Claim(ctx, pawl.Claim{Run: h.Run, Owner: "test", TTL: time.Minute})
		ts.Check(err)
		note := pawl.Entry{Run: h.Run, Seq: h.Seq + 1, At: h.Seq, Time: time.Now(), Event: pawl.Noted{By: "test", Name: "due", Value: []byte(`true`)}}
		line, err := note.AppendJSON(nil)
		ts.Check(err)
		h.WakeAt = time.Unix(1, 0)
		ts.Check(j.Append(ctx, pawl.Batch{Run: h.Run, Epoch: lease.Epoch, After: h.Seq, Records: [][]byte{line}, Head: h}))
		_, err = j.Claim(ctx, pawl.Claim{Run: h.Run, Epoch: lease.Epoch})
		ts.Check(err)
	}
}

func elsewhere(ts *testscript.TestScript, _ bool, args []string) {
	ctx := context.Background()
	j, err := sqlite.Open(ctx, ts.MkAbs(args[0]), nil)
	ts.Check(err)
	defer j.Close()
	for h, err := range j.List(ctx, pawl.Query{Status: pawl.StatusRunning}) {
		ts.Check(err)
		_, err := j.Claim(ctx, pawl.Claim{Run: h.Run, Owner: "somebody elsewhere", TTL: 2 * time.Second, Over: h.Lease.Epoch})
		ts.Check(err)
	}
}

// servers are those of scripts, by their directories.
type servers struct {
	mu  sync.Mutex
	all map[string]*exec.Cmd
}

func (s *servers) of(ts *testscript.TestScript, c *exec.Cmd) *exec.Cmd {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.all == nil {
		s.all = map[string]*exec.Cmd{}
	}
	was := s.all[ts.MkAbs(".")]
	if c != was {
		s.all[ts.MkAbs(".")] = c
	}
	return was
}

func (s *servers) start(ts *testscript.TestScript, _ bool, args []string) {
	if text := strings.Join(args, " "); !strings.Contains(text, "--socket") && !strings.Contains(text, "--addr") {
		args = append(args, "--addr", "127.0.0.1:0")
	}
	var path string
	for dir := range strings.SplitSeq(ts.Getenv("PATH"), string(os.PathListSeparator)) {
		if _, err := os.Stat(filepath.Join(dir, "pawl")); err == nil {
			path = filepath.Join(dir, "pawl")
			break
		}
	}
	said, err := os.Create(ts.MkAbs("serve.txt"))
	ts.Check(err)
	defer said.Close()
	c := exec.CommandContext(context.Background(), path, append([]string{"serve"}, args...)...)
	c.Dir, c.Stderr, c.Stdout = ts.MkAbs("."), said, said
	c.Env = []string{}
	for _, name := range []string{"PATH", "HOME", "TMPDIR", "XDG_STATE_HOME", "PAWL_TOKEN", "PAWL_DATABASE", "GORACE", "GOCOVERDIR"} {
		c.Env = append(c.Env, name+"="+ts.Getenv(name))
	}
	ts.Check(c.Start())
	s.of(ts, c)
	ts.Defer(func() {
		_ = c.Process.Kill() // unless it was stopped
		_, _ = c.Process.Wait()
	})
	at := regexp.MustCompile(`(?m)^serving at (\S+)$`)
	if !soon(func() bool {
		return at.MatchString(ts.ReadFile("serve.txt")) || c.Process.Signal(syscall.Signal(0)) != nil
	}) {
		ts.Fatalf("it does not serve: %s", ts.ReadFile("serve.txt"))
	}
	ts.Setenv("AT", at.FindStringSubmatch(ts.ReadFile("serve.txt"))[1])
	if m := regexp.MustCompile(`(?m)^token: (\S+)$`).FindStringSubmatch(ts.ReadFile("serve.txt")); m != nil {
		ts.Setenv("TOKEN", m[1])
	}
}

func (s *servers) halt(ts *testscript.TestScript, _ bool, args []string) {
	c := s.of(ts, nil)
	signal := map[string]os.Signal{"INT": os.Interrupt, "TERM": syscall.SIGTERM, "KILL": os.Kill}[args[0]]
	ts.Check(c.Process.Signal(signal))
	state, err := c.Process.Wait()
	ts.Check(err)
	if want := args[1]; want != strconv.Itoa(state.ExitCode()) {
		ts.Fatalf("exit code %d, want %s: %s", state.ExitCode(), want, ts.ReadFile("serve.txt"))
	}
}

func (s *servers) ask(ts *testscript.TestScript, _ bool, args []string) {
	var body io.Reader = http.NoBody
	if len(args) > 3 {
		body = strings.NewReader(args[3])
	}
	at, over := ts.Getenv("AT"), &http.Client{}
	if path, ok := strings.CutPrefix(at, "unix:"); ok {
		at = "http://pawl"
		over.Transport = &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return (&net.Dialer{}).DialContext(ctx, "unix", ts.MkAbs(path))
		}}
	}
	defer over.CloseIdleConnections()
	r, err := http.NewRequestWithContext(context.Background(), args[1], at+args[2], body)
	ts.Check(err)
	if len(args) > 3 {
		r.Header.Set("Content-Type", "application/json")
	}
	if token := ts.Getenv("TOKEN"); token != "" {
		r.Header.Set("Authorization", "Bearer "+token)
	}
	res, err := over.Do(r)
	ts.Check(err)
	defer res.Body.Close()
	data, err := io.ReadAll(res.Body)
	ts.Check(err)
	ts.Check(os.WriteFile(ts.MkAbs("answer.txt"), data, 0o600))
	if strconv.Itoa(res.StatusCode) != args[0] {
		ts.Fatalf("%s %s: %d, want %s: %s", args[1], args[2], res.StatusCode, args[0], data)
	}
	ts.Logf("%s", fmt.Appendf(nil, "%d %s", res.StatusCode, data))
}
