//go:build linux || darwin

package tool_test

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/internal/testkit/check"
	"github.com/pawl-run/pawl/tool"
)

type witnesser interface {
	Witness(ctx context.Context, args json.RawMessage) (map[string]string, error)
}

// witness asks a tool as the engine does: by the method alone.
func witness(t *testing.T, ctx context.Context, of pawl.Tool) (map[string]string, error) {
	t.Helper()
	w, ok := of.(witnesser)
	if !ok {
		t.Fatalf("a %T has no witnesses", of)
	}
	return w.Witness(ctx, json.RawMessage(`{}`))
}

func mustWitness(t *testing.T, of pawl.Tool) map[string]string {
	t.Helper()
	found, err := witness(t, t.Context(), of)
	must(t, err)
	return found
}

func sha(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}

func write(t *testing.T, file, text string, mode os.FileMode) {
	t.Helper()
	must(t, os.WriteFile(file, []byte(text), mode))
	must(t, os.Chmod(file, mode))
}

// Every kind of tool digests the files it names.
func TestWitnessFiles(t *testing.T) {
	t.Chdir(t.TempDir())
	write(t, "ledger.csv", "a,1\n", 0o600)
	names := []string{"ledger.csv", "gone.csv"}
	want := map[string]string{"ledger.csv": sha("a,1\n"), "gone.csv": "missing"}
	for _, of := range []pawl.Tool{
		tool.FuncWith("f", "F.", func(context.Context, struct{}) (string, error) { return "", nil }, pawl.Write, &tool.Options{Witness: names}),
		tool.Client("c", "C.", nil, &tool.ClientOptions{Witness: names}),
		command(part(t, "env"), &tool.CommandOptions{Witness: names}),
	} {
		got := mustWitness(t, of)
		for _, own := range []string{"command line", "program", "working directory"} {
			delete(got, own)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%T (-want +got):\n%s", of, diff)
		}
	}
	if got := mustWitness(t, tool.Client("c", "C.", nil, nil)); len(got) != 0 {
		t.Errorf("a tool without witnesses has %v", got)
	}
}

// A file named like a part of the command does not stand for it.
func TestWitnessNames(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "program"), "x", 0o700)
	got := mustWitness(t, command([]string{"/bin/sh", "program"}, &tool.CommandOptions{Dir: dir, Witness: []string{"working directory"}}))
	if got["./program"] != sha("x") || got["program"] == sha("x") || got["./working directory"] != "missing" || got["working directory"] == "missing" {
		t.Errorf("got %v", got)
	}
}

// What is done to the world, and which witnesses of a command it changes.
func TestWitnessChanges(t *testing.T) {
	for name, c := range map[string]struct {
		do   func(t *testing.T, dir string)
		want []string
	}{
		"nothing":       {func(*testing.T, string) {}, nil},
		"a file beside": {func(t *testing.T, dir string) { write(t, filepath.Join(dir, "a", "other"), "x", 0o600) }, nil},
		"the program is edited": {func(t *testing.T, dir string) {
			write(t, filepath.Join(dir, "a", "pay.sh"), "#!/bin/sh\nrm -r .\n", 0o700)
		}, []string{"program"}},
		"the program is another of the same content": {func(t *testing.T, dir string) {
			write(t, filepath.Join(dir, "a", "same.sh"), "#!/bin/sh\n", 0o700)
			must(t, os.Remove(filepath.Join(dir, "a", "pay.sh")))
			must(t, os.Symlink("same.sh", filepath.Join(dir, "a", "pay.sh")))
		}, []string{"program"}},
		"the program is gone":          {func(t *testing.T, dir string) { must(t, os.Remove(filepath.Join(dir, "a", "pay.sh"))) }, []string{"program"}},
		"a script is edited":           {func(t *testing.T, dir string) { write(t, filepath.Join(dir, "a", "script.py"), "evil()", 0o600) }, []string{"script.py"}},
		"a script is gone":             {func(t *testing.T, dir string) { must(t, os.Remove(filepath.Join(dir, "a", "script.py"))) }, []string{"script.py"}},
		"an operand becomes a script":  {func(t *testing.T, dir string) { write(t, filepath.Join(dir, "a", "now"), "#!/bin/sh\n", 0o600) }, []string{"now"}},
		"an operand becomes a program": {func(t *testing.T, dir string) { write(t, filepath.Join(dir, "a", "now"), "x", 0o700) }, []string{"now"}},
		"an operand becomes a file":    {func(t *testing.T, dir string) { write(t, filepath.Join(dir, "a", "now"), "x", 0o600) }, nil},
		"a flag's script is edited":    {func(t *testing.T, dir string) { write(t, filepath.Join(dir, "a", "rules.sql"), "all", 0o600) }, []string{"rules.sql"}},
		"what is written is written":   {func(t *testing.T, dir string) { write(t, filepath.Join(dir, "a", "out.csv"), "paid", 0o600) }, nil},
		"a witness is edited":          {func(t *testing.T, dir string) { write(t, filepath.Join(dir, "a", "ledger.csv"), "b,2\n", 0o600) }, []string{"ledger.csv"}},
		"a witness appears":            {func(t *testing.T, dir string) { write(t, filepath.Join(dir, "a", "late.csv"), "", 0o600) }, []string{"late.csv"}},
		"the directory is elsewhere":   {func(t *testing.T, dir string) { relink(t, "b", filepath.Join(dir, "link")) }, []string{"working directory", "program"}},
		"the directory is a new one":   {replaceDir, []string{"working directory"}},
		"the directory is gone":        {func(t *testing.T, dir string) { must(t, os.Remove(filepath.Join(dir, "link"))) }, []string{"working directory", "program", "script.py", "rules.sql", "ledger.csv"}},
		"the same link is made again":  {func(t *testing.T, dir string) { relink(t, "a", filepath.Join(dir, "link")) }, nil},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			for _, sub := range []string{"a", "b"} {
				fill(t, filepath.Join(dir, sub))
			}
			must(t, os.Symlink("a", filepath.Join(dir, "link")))
			pay := command([]string{"./pay.sh", "script.py", "now", "-v", "--rules=rules.sql", "out.csv"}, &tool.CommandOptions{
				Dir: filepath.Join(dir, "link"), Witness: []string{"ledger.csv", "late.csv"},
			})
			before := mustWitness(t, pay)
			if want := []string{"command line", "ledger.csv", "late.csv", "program", "rules.sql", "script.py", "working directory"}; len(before) != len(want) {
				t.Fatalf("witnesses are %v, want %q", before, want)
			}
			c.do(t, dir)
			after := mustWitness(t, pay)
			var changed []string
			for _, name := range slices.Sorted(maps.Keys(after)) {
				if before[name] != after[name] {
					changed = append(changed, name)
				}
			}
			for name := range before {
				if _, still := after[name]; !still {
					changed = append(changed, name)
				}
			}
			slices.Sort(changed)
			slices.Sort(c.want)
			if diff := cmp.Diff(c.want, changed); diff != "" {
				t.Errorf("changed (-want +got):\n%s", diff)
			}
		})
	}
}

var must = check.Must

func fill(t *testing.T, dir string) {
	t.Helper()
	must(t, os.Mkdir(dir, 0o700))
	write(t, filepath.Join(dir, "pay.sh"), "#!/bin/sh\n", 0o700)
	write(t, filepath.Join(dir, "script.py"), "pay()", 0o600)
	write(t, filepath.Join(dir, "rules.sql"), "none", 0o600)
	write(t, filepath.Join(dir, "ledger.csv"), "a,1\n", 0o600)
	write(t, filepath.Join(dir, "out.csv"), "", 0o600)
}

// Of its operands an interpreter runs the first that is a file.
func TestWitnessScripts(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "script"), "pay()", 0o600)
	write(t, filepath.Join(dir, "data"), "x", 0o600)
	write(t, filepath.Join(dir, "empty"), "", 0o600)
	write(t, filepath.Join(dir, "tool"), "x", 0o700)
	own := []string{"command line", "program", "working directory"}
	for _, c := range []struct {
		argv string
		want string
	}{
		{"/bin/sh -u script data", "script"},
		{"/bin/sh -c script data", "script"},
		{"/bin/cat script data empty", ""},
		{"/bin/cat data tool", "tool"},
		{"/bin/sh tool script", "tool"},
	} {
		found := mustWitness(t, command(strings.Fields(c.argv), &tool.CommandOptions{Dir: dir}))
		for _, name := range own {
			delete(found, name)
		}
		if got := strings.Join(slices.Sorted(maps.Keys(found)), " "); got != c.want {
			t.Errorf("%s: %s, want %s", c.argv, got, c.want)
		}
	}
	for program, want := range map[string]bool{"python3.12": true, "bash": true, "Rscript": true, "lua5.4": true, "pay": false, "3": false} {
		link := filepath.Join(t.TempDir(), program)
		must(t, os.Symlink("/bin/cat", link))
		found := mustWitness(t, command([]string{link, "script"}, &tool.CommandOptions{Dir: dir}))
		if _, got := found["script"]; got != want {
			t.Errorf("%s: it is an interpreter: %v, want %v", program, got, want)
		}
	}
}

func relink(t *testing.T, to, link string) {
	t.Helper()
	must(t, os.Remove(link))
	must(t, os.Symlink(to, link))
}

// replaceDir puts another directory of the same name and content in the place
// of the first, which is kept so that its inode is not given again.
func replaceDir(t *testing.T, dir string) {
	t.Helper()
	must(t, os.Rename(filepath.Join(dir, "a"), filepath.Join(dir, "was")))
	fill(t, filepath.Join(dir, "a"))
}

// A command that says something else is another one, although neither its argv
// nor its variables are part of its declaration.
func TestWitnessCommandLine(t *testing.T) {
	digests := map[string]bool{}
	for _, c := range []struct {
		argv, env []string
	}{
		{argv: []string{"/bin/sh", "-c", "pay"}}, {argv: []string{"/bin/sh", "-c pay"}}, {argv: []string{"/bin/sh", "-c", "pay", ""}},
		{argv: []string{"/bin/sh", "-c", "pay"}, env: []string{"TOKEN"}}, {argv: []string{"/bin/sh", "-c", "pay"}, env: []string{"TOKEN", "MORE"}},
	} {
		digests[mustWitness(t, command(c.argv, &tool.CommandOptions{Env: c.env}))["command line"]] = true
	}
	if len(digests) != 5 {
		t.Errorf("five commands have %d digests", len(digests))
	}
}

// A program that comes to stand before the other in PATH is noticed.
func TestWitnessPath(t *testing.T) {
	first, second := t.TempDir(), t.TempDir()
	write(t, filepath.Join(second, "pay"), "#!/bin/sh\n", 0o700)
	t.Setenv("PATH", first+":"+second)
	pay := command([]string{"pay"}, nil)
	before := mustWitness(t, pay)["program"]
	write(t, filepath.Join(first, "pay"), "#!/bin/sh\n", 0o700)
	if after := mustWitness(t, pay)["program"]; before == after || before == "missing" || after == "missing" {
		t.Errorf("the program was %s and is %s", before, after)
	}
}

// What has no content is told, never waited for.
func TestWitnessNoFile(t *testing.T) {
	dir := t.TempDir()
	must(t, os.Mkdir(filepath.Join(dir, "sub"), 0o700))
	must(t, syscall.Mkfifo(filepath.Join(dir, "pipe"), 0o600))
	_, err := witness(t, t.Context(), command([]string{"/bin/sh", "pipe", "sub"}, &tool.CommandOptions{Dir: dir, Witness: []string{"sub", "pipe", "/dev/null"}}))
	want := "witness sub: it is a directory; name a file\nwitness pipe: it is a pipe; name a file\nwitness /dev/null: it is a device; name a file"
	if err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
}

func TestWitnessCheck(t *testing.T) {
	err := tool.Client("pay", "Pay.", nil, &tool.ClientOptions{Witness: []string{"", "a\x00b", "x", "x"}}).(pawl.Checker).Check(pawl.Agent{})
	for _, want := range []string{`tool "pay": witness "" is not a file name`, `tool "pay": witness "a\x00b" is not a file name`, `tool "pay": witness "x" is named twice`} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v does not say %s", err, want)
		}
	}
}
