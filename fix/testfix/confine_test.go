//go:build unix

package testfix_test

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/pawl-run/pawl/fix/testfix"
	"github.com/pawl-run/pawl/internal/testkit/hostile"
)

// Nothing a model says leads out of the copy.
func TestConfined(t *testing.T) {
	f, dir := small(t, testfix.Choices{})
	outside := t.TempDir()
	write(t, outside, map[string]string{"secret.txt": "secret\n"})
	secret := filepath.Join(outside, "secret.txt")
	for name, target := range map[string]string{ // made after the copy, as a test may
		"link": secret, "dir": outside, "up": "../..", "proc": "/proc/self", "inside": "small.go", "data": "testdata",
	} {
		if err := os.Symlink(target, filepath.Join(f.Dir(), name)); err != nil {
			t.Skip("links cannot be made here: ", err)
		}
	}
	must(t, syscall.Mkfifo(filepath.Join(f.Dir(), "pipe"), 0o600))
	up := strings.Repeat("../", 12)
	for _, path := range []string{
		"../secret.txt", "..", "a/../../x", "/etc/passwd", secret, up + secret, "link", "dir/secret.txt", "dir", "up", "up/record.json",
		"proc/environ", "proc", "pipe", "/dev/zero", "/dev/tty", "small.go\x00.txt", "small.go/x", "./../small/small.go", `..\secret.txt`, "~/.ssh/id_rsa", "",
	} {
		if got, err := use(t, f, "read_file", args{"path": path}); err == nil {
			t.Errorf("read_file %q = %q, want an error", path, got)
		} else if strings.Contains(err.Error(), f.Dir()) {
			t.Errorf("read_file %q tells where the copy is: %v", path, err)
		}
		if got, err := use(t, f, "edit_file", args{"path": path, "old": "secret", "new": "public"}); err == nil {
			t.Errorf("edit_file %q = %q, want an error", path, got)
		}
		for _, tool := range []string{"list_files", "search_files"} {
			a := args{"path": path}
			if tool == "search_files" {
				a["pattern"] = "secret|root:"
			}
			if got, err := use(t, f, tool, a); err == nil && (strings.Contains(got, "secret.txt") || strings.Contains(got, "root:") || strings.Contains(got, "record.json")) {
				t.Errorf("%s %q = %q, want nothing from outside", tool, path, got)
			}
		}
	}
	for _, path := range hostile.Paths(outside) {
		if got, err := use(t, f, "read_file", args{"path": path}); err == nil {
			t.Errorf("read_file %q = %q, want an error", path, got)
		}
		if got, err := use(t, f, "edit_file", args{"path": path, "old": "secret", "new": "public"}); err == nil {
			t.Errorf("edit_file %q = %q, want an error", path, got)
		}
	}
	if data, err := os.ReadFile(secret); string(data) != "secret\n" {
		t.Errorf("the file outside is %q, %v", data, err)
	}
	// Inside, a link is read and not written through.
	if got, err := use(t, f, "read_file", args{"path": "inside"}); err != nil || !strings.HasPrefix(got, "package small") {
		t.Errorf("read_file of a link inside = %q, %v", got, err)
	}
	for path, old := range map[string]string{"inside": "A()", "data/in.txt": "in"} {
		if _, err := use(t, f, "edit_file", args{"path": path, "old": old, "new": "x"}); err == nil || !strings.Contains(err.Error(), "symbolic link") {
			t.Errorf("edit_file %s = %v, want it refused as a link", path, err)
		}
	}
	if _, err := os.Stat(filepath.Join(dir, "link")); err == nil {
		t.Error("the project was touched")
	}
}
