package project

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestSurroundings(t *testing.T) {
	root := t.TempDir()
	for name, text := range map[string]string{
		"ws/go.work":   "go 1.26\n\nuse ./group/app // this one\nuse (\n\t./lib\n\t\"../far away\"\n\t/abs\n)\nreplace example.com/x => ../x\n",
		"ws/go.mod":    "module example.com/ws\n",
		"ws/part/a.go": "package part\n",
		"ws/group/app/go.mod": "module example.com/app\n\nrequire example.com/lib v0.0.0 // => ../comment\n\nreplace (\n\texample.com/lib v0.0.0 => ../lib\n" +
			"\texample.com/in => ./in\n\texample.com/fork => example.com/other v1.2.3\n)\nreplace example.com/y => ../../y\nexclude example.com/z v1.0.0\n",
		"alone/go.mod": "module example.com/alone\n",
	} {
		write(t, filepath.Join(root, name), text)
	}
	for dir, want := range map[string][]string{
		"ws/group/app": {"../lib", "../../y", "../..", "../../lib", "../../../far away", "../../../x"},
		"ws/part":      {"..", "../group/app", "../lib", "../../far away", "../../x"},
		"alone":        nil,
	} {
		if d := cmp.Diff(want, Surroundings(filepath.Join(root, dir))); d != "" {
			t.Errorf("%s: %s", dir, d)
		}
	}
	t.Setenv("GOWORK", "off")
	if d := cmp.Diff([]string{".."}, Surroundings(filepath.Join(root, "ws/part"))); d != "" {
		t.Errorf("without a workspace: %s", d)
	}
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}
