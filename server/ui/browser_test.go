package ui

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"
)

// lacking skips a test for want of something that Go alone does not bring, and
// fails it where all of it must be there.
func lacking(t *testing.T, why string) {
	t.Helper()
	if os.Getenv("CI") != "" {
		t.Fatal(why)
	}
	t.Skip(why)
}

// app is a command on the pages' sources, with what their lockfile names.
func app(t *testing.T, name string, args ...string) *exec.Cmd {
	t.Helper()
	if testing.Short() {
		t.Skip("browsers and bundlers are not what short tests are about")
	}
	if _, err := exec.LookPath("node"); err != nil {
		lacking(t, "node is not installed")
	}
	tool, err := filepath.Abs(filepath.Join("app", "node_modules", ".bin", name))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(tool); err != nil {
		lacking(t, "the sources' packages are not there; run npm ci --ignore-scripts in server/ui/app")
	}
	ctx, cancel := context.WithTimeout(t.Context(), 18*time.Minute) // within go test's own, on a machine that has much else to do
	t.Cleanup(cancel)
	cmd := exec.CommandContext(ctx, tool, args...)
	cmd.Dir = "app"
	cmd.WaitDelay = 10 * time.Second
	return cmd
}

// What is embedded is what the sources make.
func TestDistIsFresh(t *testing.T) {
	t.Parallel()
	if out, err := app(t, "tsc", "--noEmit").CombinedOutput(); err != nil {
		t.Fatalf("the sources do not check: %v\n%s", err, out)
	}
	dir := t.TempDir()
	if out, err := app(t, "vite", "build", "--outDir", dir, "--emptyOutDir").CombinedOutput(); err != nil {
		t.Fatalf("the sources do not build: %v\n%s", err, out)
	}
	made := map[string][]byte{}
	err := filepath.WalkDir(dir, func(name string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		rel, err := filepath.Rel(dir, name)
		if err != nil {
			return err
		}
		made["/"+filepath.ToSlash(rel)], err = os.ReadFile(name)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	for name, data := range made {
		if f, ok := files()[name]; !ok || !bytes.Equal(f.plain, data) {
			t.Errorf("dist%s is not what app makes; run npm run build in server/ui/app and commit dist", name)
		}
	}
	for name := range files() {
		if made[name] == nil {
			t.Errorf("dist%s is not made by app any more; run npm run build in server/ui/app and commit dist", name)
		}
	}
}

// The story that the pages are for, in a browser, against pawl serve. CI and
// PAWL_PROOF try everything else in e2e, too.
func TestBrowser(t *testing.T) { // Promises: N7.
	t.Parallel()
	chromium := os.Getenv("PAWL_CHROMIUM")
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if path, err := exec.LookPath(name); err == nil && chromium == "" {
			chromium = path
		}
	}
	args := []string{"test", "story"}
	if os.Getenv("CI") != "" || os.Getenv("PAWL_PROOF") != "" {
		args = args[:1]
	}
	cmd := app(t, "playwright", args...)
	if chromium == "" {
		lacking(t, "chromium is not installed")
	}
	dir := t.TempDir()
	bin := filepath.Join(dir, "pawl")
	if out, err := exec.CommandContext(t.Context(), "go", "build", "-ldflags=-w", "-o", bin, "../../cmd/pawl").CombinedOutput(); err != nil {
		t.Fatalf("go build: %v\n%s", err, out)
	}
	cmd.Env = append(os.Environ(), "PAWL_BIN="+bin, "PAWL_CHROMIUM="+chromium, "PAWL_E2E_OUT="+filepath.Join(dir, "out"))
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	t.Logf("%s", out)
}
