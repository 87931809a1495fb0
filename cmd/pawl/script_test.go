package main

import (
	"errors"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/pawl-run/pawl/tool"
)

// TestMain lets the test binary be the program, and what that starts for the commands of tools.
func TestMain(m *testing.M) {
	tool.Supervise()
	testscript.Main(m, map[string]func(){"pawl": main})
}

// The commands that work on a project run its tests, in copies of it.
func TestProjects(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir: "testdata", RequireExplicitExec: true, RequireUniqueNames: true,
		Setup: func(e *testscript.Env) error {
			pages, err := filepath.Abs("../../fix/repro/testdata/pages")
			prices, err2 := filepath.Abs("../../fix/refactor/testdata/prices")
			cache, err3 := exec.Command("go", "env", "GOCACHE").Output()
			e.Vars = append(e.Vars, "PAGES="+pages, "PRICES="+prices, "GOCACHE="+strings.TrimSpace(string(cache)),
				"GOGC=800", "GOFLAGS=-vet=off -trimpath", // copies share what is built, and what vet says is no part of most
				"XDG_STATE_HOME="+filepath.Join(e.WorkDir, "state"), "HOME="+filepath.Join(e.WorkDir, "home"))
			return errors.Join(err, err2, err3)
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			// code N PROGRAM ARGS… runs a program that must exit with N.
			"code": func(ts *testscript.TestScript, _ bool, args []string) {
				got := 0
				if exit, ok := errors.AsType[*exec.ExitError](ts.Exec(args[1], args[2:]...)); ok {
					got = exit.ExitCode()
				}
				if strconv.Itoa(got) != args[0] {
					ts.Fatalf("exit code %d, want %s", got, args[0])
				}
			},
		},
	})
}
