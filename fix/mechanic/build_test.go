package mechanic

import (
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/pawl-run/pawl/fix/internal/gotest"
)

// What the compiler says of a fault leads to the edit that fixes it, among the
// first that are proposed. TestRepairBuild of testfix makes these edits.
func TestBuildEdits(t *testing.T) {
	if _, err := exec.LookPath("go"); err != nil {
		if os.Getenv("CI") != "" {
			t.Fatal("the go command is not here, and CI must have it")
		}
		t.Skip("there is no go command to say what does not build")
	}
	archive, err := txtar.ParseFile("../../testdata/unbuilt.txtar")
	if err != nil {
		t.Fatal(err)
	}
	dir, files, wants := t.TempDir(), memory{"go.mod": "module example.com/m\n\ngo 1.26\n"}, map[string]string{}
	for _, f := range archive.Files {
		switch path.Base(f.Name) {
		case "want":
			wants[path.Dir(f.Name)] = string(f.Data)
		case "m.go":
			files[f.Name] = string(f.Data)
		}
	}
	for name, text := range files {
		at := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(at), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(at, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	build := exec.CommandContext(t.Context(), "go", "build", "-gcflags=-e", "./...")
	build.Dir = dir
	said, err := build.CombinedOutput()
	if err == nil {
		t.Fatal("all of it builds")
	}
	list := complaints([]gotest.Failure{{Kind: gotest.KindBuild, Output: string(said)}})
	for name, want := range wants {
		t.Run(name, func(t *testing.T) {
			file := name + "/m.go"
			own := slices.DeleteFunc(slices.Clone(list), func(c complaint) bool { return c.file != file })
			var got []string
			for _, c := range buildEdits(memory{"go.mod": files["go.mod"], file: files[file]}, own) {
				after, ok := c.edit.on(memory{file: files[file]})
				if !ok {
					t.Fatalf("%s does not fit", c.rule)
				}
				if got = append(got, c.rule); fixes(files[file], after[file], strings.TrimSuffix(want, "\n")) && len(got) <= 4 {
					return
				}
			}
			t.Errorf("of %v it proposes %q, none of the first four of which makes the line %q", own, got, want)
		})
	}
	if len(wants) < 12 || len(wants) != len(files)-1 {
		t.Errorf("%d lines for %d faults", len(wants), len(files)-1)
	}
}

// fixes tells whether a line of a diff, with its sign, is what changed.
func fixes(before, after, line string) bool {
	if was, with, _ := hunk(before, after); line[0] == '-' {
		return strings.Contains(was, line[1:]) && !strings.Contains(with, line[1:])
	}
	return strings.Contains("\n"+after, "\n"+line[1:]+"\n") && !strings.Contains("\n"+before, "\n"+line[1:]+"\n")
}
