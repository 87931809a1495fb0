package cli_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/pawl-run/pawl/cmd/internal/cli"
	"github.com/pawl-run/pawl/tool"
)

// TestMain lets the test binary be pawl itself, and the programs that its tools run.
func TestMain(m *testing.M) {
	// A short process collects no garbage that its end does not collect.
	if err := os.Setenv("GOGC", "400"); err != nil {
		panic(err)
	}
	debug.SetGCPercent(400)
	// The programs of tools. Of the processes that this program is, only the test begins beside them.
	if bin, err := filepath.Abs("testdata/bin"); err == nil {
		if _, err := os.Stat(bin); err == nil {
			_ = os.Setenv("PATH", bin+string(os.PathListSeparator)+os.Getenv("PATH"))
		}
	}
	// Scripts mostly wait for processes.
	if err := flag.Set("test.parallel", strconv.Itoa(2*runtime.GOMAXPROCS(0))); err != nil {
		panic(err)
	}
	testscript.Main(m, map[string]func(){
		"spawl": func() { // as main has it
			tool.Supervise()
			os.Exit(cli.Main(context.Background(), os.Args[1:], os.Stdin, os.Stdout, os.Stderr, os.Environ()))
		},
		"pawl-wrapper-3": func() { // what the one above starts for a command
			stall()
			tool.Supervise()
		},
		"pawl-cage-1": tool.Supervise, // and what becomes a command in a cage
		"pawl": func() {
			if os.Getenv("AS_MAIN") != "" {
				tool.Supervise()
			}
			args := os.Args[1:]
			if at := os.Getenv("AT_SERVER"); at != "" {
				args = append(args, "--server", at)
			}
			code := cli.Main(context.Background(), args, os.Stdin, os.Stdout, os.Stderr, os.Environ())
			if file := os.Getenv("CODE"); file != "" { // for processes in the background
				_ = os.WriteFile(file, fmt.Appendf(nil, "%d\n", code), 0o600)
			}
			os.Exit(code)
		},
		"leak": func() {
			code := 0
			if err := leak(os.Args[1:]); err != nil {
				fmt.Fprintln(os.Stderr, err)
				code = 1
			}
			// Not os.Exit, which waits a second under the race detector: the programs
			// of tools are not told what GORACE says.
			syscall.Exit(code)
		},
	})
}

// stalling is a file among the temporary ones for the next wrapper to take. It writes its
// process id into it and does nothing until the file is gone.
const stalling, stalled = "pawl-test-stall", "pawl-test-stalled"

func stall() {
	file := filepath.Join(os.TempDir(), stalled)
	if os.Rename(filepath.Join(os.TempDir(), stalling), file) != nil {
		return
	}
	_ = os.WriteFile(file, fmt.Appendln(nil, os.Getpid()), 0o600)
	for {
		if _, err := os.Stat(file); err != nil {
			return
		}
		time.Sleep(time.Millisecond)
	}
}

func soon(holds func() bool) bool {
	for end := time.Now().Add(time.Minute); time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
		if holds() {
			return true
		}
	}
	return false
}

func TestScripts(t *testing.T) {
	p := scripts("testdata/script")
	only(&p, "agent", "cancel", "events", "fix_copies", "mcp", "server", "signal", "webhooks")
	testscript.Run(t, p)
}

// only has a short test run those scripts in which goroutines of one process meet in
// a way of their own: a run and its child, a call and what ends it, a server and
// what it is asked, copies beside each other. The others are one command after
// another, in which the race detector, for which short tests are, sees the same each time.
func only(p *testscript.Params, names ...string) {
	if !testing.Short() {
		return
	}
	for _, name := range names {
		p.Files = append(p.Files, filepath.Join(p.Dir, name+".txtar"))
	}
	p.Dir = ""
}

// scripts are those in a directory, with what they need.
func scripts(dir string) testscript.Params {
	return testscript.Params{
		Dir:                 dir,
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Condition:           clouded,
		Setup: func(e *testscript.Env) error {
			e.Setenv("XDG_STATE_HOME", filepath.Join(e.WorkDir, "state"))
			e.Setenv("HOME", filepath.Join(e.WorkDir, "home"))
			for _, name := range []string{"ANTHROPIC_API_KEY", "OPENAI_API_KEY", "GEMINI_API_KEY", "GOOGLE_API_KEY", "PAWL_MODEL", "PAWL_DATABASE", "PAWL_TOKEN"} {
				e.Setenv(name, "")
			}
			cache := os.Getenv("GOCACHE")
			if dir, err := os.UserCacheDir(); cache == "" && err == nil {
				cache = filepath.Join(dir, "go-build")
			}
			e.Setenv("GOCACHE", cache)
			e.Setenv("GOFLAGS", "-vet=off -trimpath") // copies share what is built, and what vet says is no part of most
			e.Setenv("GORACE", os.Getenv("GORACE"))
			e.Setenv("GOGC", os.Getenv("GOGC"))
			return nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			// provider SCRIPT [FAULT…] stands a server in for every provider; the nth
			// request gets the nth fault, - being none, and all further ones the last.
			"receive":   receive,
			"provider":  provider,
			"wire":      wire,
			"code":      code,
			"advised":   advised,
			"nowhere":   nowhere,
			"until":     until,
			"served":    served,
			"serving":   serve,
			"halt":      halt,
			"ask":       request,
			"mode":      mode,
			"keys":      keys,
			"due":       due,
			"elsewhere": elsewhere,
			"soon": func(ts *testscript.TestScript, neg bool, args []string) {
				re := regexp.MustCompile("(?m)" + args[0])
				if neg || !soon(func() bool {
					data, err := os.ReadFile(ts.MkAbs(args[1]))
					return err == nil && re.Match(data)
				}) {
					ts.Fatalf("%s does not come to match %s", args[1], args[0])
				}
			},
			// glob N PATTERN says how many files there are.
			"glob": func(ts *testscript.TestScript, _ bool, args []string) {
				found, err := filepath.Glob(ts.MkAbs(args[1]))
				ts.Check(err)
				if strconv.Itoa(len(found)) != args[0] {
					ts.Fatalf("%s are %q, want %s", args[1], found, args[0])
				}
			},
			// name NAME REGEX [FILE] sets a variable to what matched in the last stdout, or in a file.
			"name": func(ts *testscript.TestScript, _ bool, args []string) {
				file := append(args, "stdout")[2]
				m := regexp.MustCompile(args[1]).FindStringSubmatch(ts.ReadFile(file))
				if m == nil {
					ts.Fatalf("%s does not match %s", file, args[1])
				}
				ts.Setenv(args[0], m[len(m)-1])
			},
		},
	}
}

// code N PROGRAM ARGS… runs a program that must exit with N.
func code(ts *testscript.TestScript, _ bool, args []string) {
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	got := 0
	if err := ts.Exec(args[1], args[2:]...); err != nil {
		exit, ok := errors.AsType[*exec.ExitError](err)
		if !ok {
			ts.Fatalf("%v", err)
		}
		got = exit.ExitCode()
	}
	if got != want {
		ts.Fatalf("exit code %d, want %d", got, want)
	}
}

// advised N REGEX [WORD=TEXT…] runs the first command advised on the last stderr or
// stdout that REGEX matches, as a shell does, with its words in capitals replaced. It
// must exit with N.
func advised(ts *testscript.TestScript, _ bool, args []string) {
	re := regexp.MustCompile(args[1])
	for _, m := range regexp.MustCompile("(pawl [^#`\n]+)( # |`)").FindAllStringSubmatch(ts.ReadFile("stderr")+ts.ReadFile("stdout"), -1) {
		if !re.MatchString(m[1]) {
			continue
		}
		command := m[1]
		for _, arg := range args[2:] {
			word, text, _ := strings.Cut(arg, "=")
			command = regexp.MustCompile(`(^| )`+word+`( |$)`).ReplaceAllString(command, "${1}'"+text+"'${2}")
		}
		code(ts, false, []string{args[0], "sh", "-c", command})
		return
	}
	ts.Fatalf("no command that matches %s is advised", args[1])
}

// until REGEX PROGRAM ARGS… runs a program again and again until its stdout matches.
func until(ts *testscript.TestScript, neg bool, args []string) {
	re := regexp.MustCompile("(?m)" + args[0])
	if neg || !soon(func() bool {
		if ts.Exec(args[1], args[2:]...) == nil && re.MatchString(ts.ReadFile("stdout")) {
			return true
		}
		time.Sleep(100 * time.Millisecond) // a process costs more than a look at a file
		return false
	}) {
		ts.Fatalf("stdout does not come to match %s", args[0])
	}
}
