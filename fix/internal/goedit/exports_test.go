package goedit

import (
	"context"
	"go/types"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// outside is an importer of what the files import, made by the go command.
func outside(t testing.TB, files map[string]string) types.Importer {
	t.Helper()
	needGo(t)
	dir := t.TempDir()
	for p, s := range files {
		to := filepath.Join(dir, filepath.FromSlash(p))
		if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(to, []byte(s), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	imp, err := Exports(t.Context(), dir, goEnv())
	if err != nil {
		t.Fatal(err)
	}
	return imp
}

func goEnv() []string {
	return append(os.Environ(), "GOFLAGS=", "GOWORK=off", "GOPROXY=off", "GOTOOLCHAIN=local")
}

func needGo(t testing.TB) {
	t.Helper()
	if _, err := exec.LookPath("go"); err != nil {
		if os.Getenv("CI") != "" {
			t.Fatal("the go command is not here, and CI must have it")
		}
		t.Skip("the go command is not in PATH")
	}
}

func TestExports(t *testing.T) {
	imp := outside(t, map[string]string{
		"go.mod":       "module m\n\ngo 1.26\n",
		"m.go":         "package m\n\nimport \"strings\"\n\nvar B strings.Builder\n",
		"m_test.go":    "package m\n\nimport \"testing\"\n\nfunc TestM(*testing.T) {}\n",
		"bad/bad.go":   "package bad\n\nimport \"bufio\"\n\nvar R bufio.Reader = 1\n",
		"gone/gone.go": "package gone\n\nimport _ \"example.org/none\"\n",
	})
	for _, p := range []string{"strings", "io", "testing", "bufio", "unsafe"} {
		pkg, err := imp.Import(p)
		if err != nil || pkg.Path() != p || !pkg.Complete() {
			t.Errorf("Import(%q) = %v, %v", p, pkg, err)
		}
	}
	pkg, err := imp.Import("strings")
	if err != nil || pkg.Scope().Lookup("Builder") == nil {
		t.Errorf("no strings.Builder in %v (%v)", pkg, err)
	}
	if _, err := imp.Import("example.org/none"); err == nil || !strings.Contains(err.Error(), "was not built") {
		t.Errorf("Import of a missing package: %v", err)
	}
}

func TestExportsFails(t *testing.T) {
	needGo(t)
	if _, err := Exports(t.Context(), t.TempDir(), append(goEnv(), "GO111MODULE=on")); err == nil || !strings.Contains(err.Error(), "root of a Go module") {
		t.Errorf("without a module: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Exports(ctx, t.TempDir(), nil); err == nil {
		t.Error("no error from a cancelled context")
	}
}
