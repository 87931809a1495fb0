package cli_test

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/journal/sqlite"
)

// TestServe holds pawl serve to its scripts, which begin without a token.
func TestServe(t *testing.T) {
	p := scripts("testdata/serve")
	only(&p, "runs", "wake", "lapse")
	testscript.Run(t, p)
}

// mode MODE FILE says who may read and write a file.
func mode(ts *testscript.TestScript, _ bool, args []string) {
	info, err := os.Stat(ts.MkAbs(args[1]))
	ts.Check(err)
	if got := strconv.FormatInt(int64(info.Mode().Perm()), 8); got != args[0] {
		ts.Fatalf("the mode of %s is %s", args[1], got)
	}
}

// due DATABASE has the journal take it that the times have come that runs are paused
// until: with a note in each log, whose head says so.
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

// elsewhere DATABASE has its interrupted runs had owners on a machine of which
// nothing is known.
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

// served ARGS… starts pawl serve, and has the script's further commands ask it.
func served(ts *testscript.TestScript, _ bool, args []string) {
	ts.Setenv("PAWL_TOKEN", token)
	serve(ts, false, args)
	ts.Setenv("AT_SERVER", ts.Getenv("AT"))
}

// serve ARGS… starts pawl serve, at a port of its own unless they say where. What it
// says is in serve.txt.
func serve(ts *testscript.TestScript, _ bool, args []string) {
	if text := strings.Join(args, " "); !strings.Contains(text, "--socket") && !strings.Contains(text, "--addr") {
		args = append([]string{"--addr", "127.0.0.1:0"}, args...)
	}
	file, err := os.Create(ts.MkAbs("serve.txt"))
	ts.Check(err)
	defer file.Close()
	c := exec.Command("pawl", append([]string{"serve"}, args...)...)
	c.Dir, c.Stderr, c.Stdout = ts.MkAbs("."), file, file
	for _, name := range []string{"PATH", "HOME", "TMPDIR", "XDG_STATE_HOME", "PAWL_TOKEN", "PAWL_DATABASE", "GOCACHE", "GORACE", "GOCOVERDIR"} {
		c.Env = append(c.Env, name+"="+ts.Getenv(name))
	}
	ts.Check(c.Start())
	ts.Defer(func() {
		_ = c.Process.Signal(os.Interrupt) // unless it was stopped
		stop := time.AfterFunc(5*time.Second, func() { _ = c.Process.Kill() })
		_, _ = c.Process.Wait()
		stop.Stop()
	})
	if !soon(func() bool {
		return serving.MatchString(ts.ReadFile("serve.txt")) || c.Process.Signal(syscall.Signal(0)) != nil
	}) {
		ts.Fatalf("it does not serve: %s", ts.ReadFile("serve.txt"))
	}
	ts.Setenv("SERVER", strconv.Itoa(c.Process.Pid))
	ts.Setenv("AT", serving.FindStringSubmatch(ts.ReadFile("serve.txt"))[1])
	if m := regexp.MustCompile(`(?m)^token: (\S+)$`).FindStringSubmatch(ts.ReadFile("serve.txt")); m != nil {
		ts.Setenv("TOKEN", m[1])
	}
}

// halt SIGNAL CODE ends the server that was started last, and wants an exit code.
func halt(ts *testscript.TestScript, _ bool, args []string) {
	pid, err := strconv.Atoi(ts.Getenv("SERVER"))
	ts.Check(err)
	p, err := os.FindProcess(pid)
	ts.Check(err)
	ts.Check(p.Signal(map[string]os.Signal{"INT": os.Interrupt, "TERM": syscall.SIGTERM, "KILL": os.Kill}[args[0]]))
	state, err := p.Wait()
	ts.Check(err)
	if want := args[1]; want != strconv.Itoa(state.ExitCode()) {
		ts.Fatalf("exit code %d, want %s: %s", state.ExitCode(), want, ts.ReadFile("serve.txt"))
	}
}

// ask STATUS METHOD PATH [BODY] asks the server that was started last, and wants a
// status; the answer is in answer.txt.
func request(ts *testscript.TestScript, _ bool, args []string) {
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
