package workspace

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// The copy of a repository has its history, and what git does there stays there.
func TestHistory(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		if os.Getenv("CI") != "" {
			t.Fatal("git is not here, and CI must have it")
		}
		t.Skip("git is not installed")
	}
	dir := t.TempDir()
	in := func(dir string, args ...string) string {
		t.Helper()
		cmd := exec.CommandContext(t.Context(), "git", append([]string{"-c", "user.name=N", "-c", "user.email=n@example.com"}, args...)...)
		cmd.Dir = dir
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("git %q: %v: %s", args, err, out)
		}
		return strings.TrimSpace(string(out))
	}
	in(dir, "init", "-q")
	for _, text := range []string{"one\n", "two\n"} {
		if err := os.WriteFile(filepath.Join(dir, "f"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		in(dir, "add", ".")
		in(dir, "commit", "-q", "-m", text)
	}
	in(dir, "tag", "v1")
	in(dir, "remote", "add", "origin", "https://user:password@example.com/r")
	tree, err := Copy(t.Context(), dir, &Options{Dir: t.TempDir(), History: true})
	if err != nil {
		t.Fatal(err)
	}
	defer tree.Close()
	head := in(dir, "rev-parse", "HEAD")
	if got := in(tree.Dir(), "rev-parse", "v1"); got != head {
		t.Errorf("the copy is at %s, the project at %s", got, head)
	}
	if got := in(tree.Dir(), "log", "--format=%s"); got != "two\none" {
		t.Errorf("the copy's log is %q", got)
	}
	if got := in(tree.Dir(), "status", "--porcelain"); got != "" {
		t.Errorf("the copy's status is %q", got)
	}
	if got := in(tree.Dir(), "remote"); got != "" {
		t.Errorf("the copy has the remote %q", got)
	}
	in(tree.Dir(), "commit", "-q", "--allow-empty", "-m", "three")
	if got := in(dir, "rev-parse", "HEAD"); got != head {
		t.Errorf("a commit in the copy moved the project to %s", got)
	}
	if d, err := tree.Diff(t.Context()); err != nil || !d.Empty() {
		t.Errorf("%v, the copy differs:\n%s", err, d)
	}
}
