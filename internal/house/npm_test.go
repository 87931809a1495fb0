//go:build linux

package house

import (
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// TestNpm installs the packages that are made of a release. What they start is the binary, with its
// arguments, signals and exit status.
func TestNpm(t *testing.T) {
	if _, err := exec.LookPath("npm"); err != nil {
		without(t, "npm: %v", err)
	}
	dir := t.TempDir()
	command := func(name string, args ...string) (string, error) {
		c := exec.CommandContext(t.Context(), name, args...)
		c.Dir = dir
		c.Env = append(os.Environ(), "npm_config_cache="+filepath.Join(dir, "cache"), "npm_config_offline=true")
		out, err := c.CombinedOutput()
		return string(out), err
	}
	binary := filepath.Join(dir, "binary")
	script := "#!/bin/sh\necho got $*\n[ $1 = stop ] && kill -TERM $PPID && exec sleep 60\nexit 7\n"
	must(t, os.WriteFile(binary, []byte(script), 0o700))
	var built []map[string]any
	for _, platform := range []string{runtime.GOOS + "/" + runtime.GOARCH, "windows/arm64"} {
		goos, goarch, _ := strings.Cut(platform, "/")
		built = append(built, map[string]any{"type": "Binary", "goos": goos, "goarch": goarch, "path": binary, "extra": map[string]string{"ID": "pawl"}})
	}
	text, err := json.Marshal(built)
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, "artifacts.json"), text, 0o600)
	}
	must(t, err)
	out, err := command("node", filepath.Join(repository(t).root, "deploy/npm/pack.mjs"), "1.2.3", ".", "out")
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	own, err := filepath.Glob(filepath.Join(dir, "out/pawl-linux-*"))
	if err != nil || len(own) != 1 {
		t.Fatalf("%v, %v; want one package for this platform", own, err)
	}
	if out, err := command("npm", "install", "--no-audit", "--no-fund", "--install-links", own[0], "./out/pawl"); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	out, err = command("node_modules/.bin/pawl", "run", "a.yaml")
	if exit := (*exec.ExitError)(nil); !errors.As(err, &exit) || exit.ExitCode() != 7 || out != "got run a.yaml\n" {
		t.Errorf("%q, %v; want the binary's output and exit status 7", out, err)
	}
	if out, err := command("node_modules/.bin/pawl", "stop"); err == nil || err.Error() != "signal: terminated" {
		t.Errorf("%q, %v; want the signal to reach the binary and both to end by it", out, err)
	}
}
