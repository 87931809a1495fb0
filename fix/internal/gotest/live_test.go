package gotest

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"
)

// TestToolchain reads what this machine's own toolchain prints.
func TestToolchain(t *testing.T) {
	if _, err := exec.LookPath("go"); err != nil {
		if os.Getenv("CI") != "" {
			t.Fatal("the go command is not here, and CI must have it")
		}
		t.Skip("the go command is not in PATH")
	}
	a, err := txtar.ParseFile("testdata/live.txtar")
	must(t, err)
	dir := t.TempDir()
	want := map[string]string{}
	lay := func(under string) {
		for _, f := range a.Files {
			rel, ok := strings.CutPrefix(f.Name, under)
			if strings.HasPrefix(f.Name, "want") {
				want[f.Name] = string(f.Data)
				continue
			}
			if !ok || under == "" && strings.HasPrefix(rel, "fixed/") {
				continue
			}
			path := filepath.Join(dir, filepath.FromSlash(rel))
			must(t, os.MkdirAll(filepath.Dir(path), 0o755))
			must(t, os.WriteFile(path, f.Data, 0o644))
		}
	}
	lay("")
	before := goTest(t, dir)
	var got strings.Builder
	for _, f := range before.Failures {
		fmt.Fprintf(&got, "%s at %s\n", f.ID, f.Locations[0])
	}
	if d := cmp.Diff(want["want"], got.String()); d != "" {
		t.Errorf("failures (-want +got):\n%s", d)
	}

	lay("fixed/")
	d := Compare(before, goTest(t, dir))
	delta := fmt.Sprintf("Fixed: %v\nBroken: %v\nStill: %v\nRevealed: %v\nHidden: %v\n", d.Fixed, d.Broken, d.Still, d.Revealed, d.Hidden)
	if diff := cmp.Diff(want["want fixed"], delta); diff != "" {
		t.Errorf("delta (-want +got):\n%s", diff)
	}
}

func goTest(t *testing.T, dir string) Report {
	t.Helper()
	cmd := exec.Command("go", "test", "-json", "./...")
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GOWORK=off", "GOPROXY=off", "GOTOOLCHAIN=local")
	out, err := cmd.CombinedOutput()
	if exit := (*exec.ExitError)(nil); err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	r, err := Parse(bytes.NewReader(out), "example", nil)
	must(t, err)
	if t.Failed() || len(r.Packages) != 3 {
		t.Logf("go test printed:\n%s", out)
	}
	return r
}
