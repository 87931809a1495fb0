package cli_test

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"runtime/debug"
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/pawl-run/pawl/cmd/internal/cli"
	"github.com/pawl-run/pawl/internal/testkit/check"
	"github.com/pawl-run/pawl/tool"
)

// TestExamples runs each spec under examples as its users would, from the command
// line with the model's replies from a file, and checks the result. That
// every spec has a script there, and every key a spec, the tests of package spec
// hold.
func TestExamples(t *testing.T) {
	check.SkipShort(t, "each is one process after another, in which the race detector sees what it sees in TestScripts")
	p := scripts("testdata/examples")
	setup := p.Setup
	p.Setup = func(e *testscript.Env) error {
		e.Setenv("AS_MAIN", "yes")
		for to, dir := range map[string]string{"specs": "specs", "hyphen": "hyphen", "examples/refunds": "refunds"} {
			if err := copyBeside(filepath.Join(e.WorkDir, to), filepath.Join("../../../examples", dir)); err != nil {
				return err
			}
		}
		return setup(e)
	}
	p.Condition = func(name string) (bool, error) {
		switch name {
		case "cage":
			whole := tool.Cage{Files: &tool.CageFiles{}, NoNetwork: true, Memory: 256 << 20, Processes: 32}
			return whole.Missing() == nil, nil
		case "race":
			return raced(), nil
		}
		return false, os.ErrInvalid
	}
	p.Cmds["serve"], p.Cmds["guarded"], p.Cmds["login"] = serveBeside, guarded, login
	testscript.Run(t, p)
}

// TestExampleEval: the evaluations among the examples hold, without a key.
func TestExampleEval(t *testing.T) {
	for file, want := range map[string]string{"eval": `(?m)^agent +number +2/2 +1\.00`, "talk": `(?m)^talk_agent +number +1/1 +1\.00`} {
		var out, errs bytes.Buffer
		env := []string{"PATH=" + os.Getenv("PATH"), "PAWL_DATABASE=sqlite:" + filepath.Join(t.TempDir(), "pawl.db"), "XDG_STATE_HOME=" + t.TempDir()}
		code := cli.Main(t.Context(), []string{"eval", "../../../examples/testing/" + file + ".yaml"}, strings.NewReader(""), &out, &errs, env)
		if code != 0 || !regexp.MustCompile(want).Match(out.Bytes()) {
			t.Errorf("exit code %d\n%s%s", code, &out, &errs)
		}
	}
}

// copyBeside copies a directory beside what is there already: the files of a script.
func copyBeside(to, from string) error {
	return filepath.WalkDir(from, func(path string, d os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(from, path)
		if err != nil {
			return err
		}
		if d.IsDir() {
			return os.MkdirAll(filepath.Join(to, rel), 0o700)
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		return os.WriteFile(filepath.Join(to, rel), data, info.Mode())
	})
}

// serveBeside has `pawl mcp … --http ADDRESS` run until the script ends, on a port
// that is free, which it writes into the spec that names the address:
// serve SPEC pawl mcp ….
func serveBeside(ts *testscript.TestScript, _ bool, args []string) {
	address := args[len(args)-1]
	args[len(args)-1] = "127.0.0.1:0"
	args[3] = ts.MkAbs(args[3])
	environ := append(os.Environ(), "PAWL_TOKEN="+ts.Getenv("DESK_TOKEN"), "PAWL_DATABASE=sqlite:"+ts.MkAbs("served.db"), "PORTER_SECRET="+ts.Getenv("PORTER_SECRET"))
	at, end, err := begin(environ, regexp.MustCompile(`serving (?:MCP )?at http://([^/\s]+)`), args[2:]...)
	ts.Check(err)
	ts.Defer(func() { end() })
	text := ts.ReadFile(args[0])
	if !strings.Contains(text, address) {
		ts.Fatalf("%s does not name %s", args[0], address)
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), []byte(strings.ReplaceAll(text, address, at[1])), 0o600))
}

// raced reports whether the test was built with the race detector.
func raced() bool { return built("-race", "true") }

// built reports whether the test was built with a setting.
func built(key, value string) bool {
	info, ok := debug.ReadBuildInfo()
	return ok && slices.Contains(info.Settings, debug.BuildSetting{Key: key, Value: value})
}

// clouded is the condition clouds of scripts: the test was built with that tag.
func clouded(name string) (bool, error) {
	if name == "clouds" {
		return built("-tags", "clouds"), nil
	}
	return false, os.ErrInvalid
}
