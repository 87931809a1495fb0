package faults

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/pawl-run/pawl/cmd/internal/cli"
)

// TestMain lets the test binary be pawl itself.
func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){
		"pawl": func() {
			os.Exit(cli.Main(context.Background(), os.Args[1:], os.Stdin, os.Stdout, os.Stderr, os.Environ()))
		},
	})
}

// A user has a project, a place for the state of pawl, and a go command that
// notes how it is called.
type user struct {
	t       testing.TB
	project string
	state   string
	bin     string
	calls   string // a line each
	env     []string
}

func newUser(t testing.TB, name string, files map[string]string) *user {
	t.Helper()
	real := needGo(t)
	top := t.TempDir()
	u := &user{
		t: t, project: filepath.Join(top, name), state: filepath.Join(top, "state"),
		bin: filepath.Join(top, "bin"), calls: filepath.Join(top, "calls"),
	}
	write(t, u.project, files)
	if err := os.Mkdir(u.bin, 0o755); err != nil {
		t.Fatal(err)
	}
	script := fmt.Sprintf("#!/bin/sh\necho \"$*\" >>'%s'\nexec '%s' \"$@\"\n", u.calls, real)
	if err := os.WriteFile(filepath.Join(u.bin, "go"), []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	for _, v := range os.Environ() {
		name, _, _ := strings.Cut(v, "=")
		switch {
		case strings.HasSuffix(name, "_API_KEY"), strings.HasPrefix(name, "PAWL_"), name == "PATH", name == "XDG_STATE_HOME", name == "GOFLAGS":
		default:
			u.env = append(u.env, v)
		}
	}
	u.env = append(u.env, "XDG_STATE_HOME="+u.state, "PATH="+u.bin+string(os.PathListSeparator)+os.Getenv("PATH"), "GOWORK=off")
	return u
}

// pawl is the command, to be run by the caller.
func (u *user) pawl(args ...string) *exec.Cmd {
	u.t.Helper()
	path, err := exec.LookPath("pawl")
	if err != nil {
		u.t.Fatal(err)
	}
	cmd := exec.Command(path, args...)
	cmd.Dir, cmd.Env = u.project, u.env
	return cmd
}

// A fixed is what pawl fix has said of its work.
type fixed struct {
	Run     string
	Status  string
	Diff    string
	Applied bool
	// Plausible says that nothing but the tests speaks for the diff.
	Plausible bool
	Reason    struct{ Detail string }

	took   time.Duration
	runs   int    // of the tests
	edits  int    // tried
	stderr string // what people see
}

// fix runs pawl fix in the project to its end.
func (u *user) fix(flags ...string) fixed {
	u.t.Helper()
	_ = os.Remove(u.calls)
	cmd := u.pawl(append([]string{"fix", "--json"}, flags...)...)
	var out, complaint bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &complaint
	start := time.Now()
	err := cmd.Run()
	f := fixed{took: time.Since(start), stderr: complaint.String()}
	if jsonErr := json.Unmarshal(out.Bytes(), &f); jsonErr != nil {
		u.t.Fatalf("pawl fix: %v and no result: %v\n%s", err, jsonErr, &complaint)
	}
	var told int
	f.edits, told = u.tried(f.Run)
	f.runs = max(u.testRuns(), told)
	return f
}

// testRuns counts the go commands that ran tests. A test binary that is run by
// itself is not seen here; those are told in the log.
func (u *user) testRuns() (n int) {
	calls, err := os.ReadFile(u.calls)
	if err != nil {
		u.t.Fatal(err)
	}
	for line := range strings.Lines(string(calls)) {
		words := strings.Fields(line)
		if len(words) > 0 && words[0] == "test" && !slices.Contains(words, "-c") && !slices.Contains(words, "-run=^$") {
			n++
		}
	}
	return n
}

// tried counts the edits that a run has tried, made or left to the tool that
// tries many, and the runs of tests that the log tells of.
func (u *user) tried(run string) (n, runs int) {
	u.t.Helper()
	out, err := u.pawl("events", run).Output()
	if err != nil {
		u.t.Fatalf("pawl events %s: %v", run, err)
	}
	for line := range bytes.Lines(out) {
		var e struct {
			Type string
			Data struct {
				Tool   string
				Text   string
				Args   struct{ Edits []json.RawMessage }
				Result json.RawMessage
			}
		}
		if err := json.Unmarshal(line, &e); err != nil {
			u.t.Fatalf("pawl events %s: %v", run, err)
		}
		switch {
		case e.Type == "tool.started" && e.Data.Tool == "try_edits":
			n += len(e.Data.Args.Edits)
		case e.Type == "tool.finished" && e.Data.Tool == "try_edits":
			var tried struct {
				Not  []int `json:"not_tried"`
				Runs int
			}
			if json.Unmarshal(e.Data.Result, &tried) == nil { // else it is an error's text
				n -= len(tried.Not)
				runs += tried.Runs
			}
		case e.Type == "observed" && !strings.HasPrefix(e.Data.Text, "Unchanged"):
			runs++
		case e.Type == "tool.started" && (e.Data.Tool == "edit_file" || e.Data.Tool == "write_file"):
			n++
		}
	}
	return n, runs
}

// change is the line that a difference adds first, or takes away.
func change(diff string) string {
	gone := ""
	for line := range strings.Lines(diff) {
		line = strings.TrimRight(line, "\n")
		switch {
		case strings.HasPrefix(line, "+++"), strings.HasPrefix(line, "---"):
		case strings.HasPrefix(line, "+") && strings.TrimSpace(line[1:]) != "":
			return "+ " + strings.TrimSpace(line[1:])
		case strings.HasPrefix(line, "-") && gone == "":
			gone = "- " + strings.TrimSpace(line[1:])
		}
	}
	return gone
}
