package project

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/pawl-run/pawl/internal/beneath"
)

// Surroundings lists the paths, relative to the directory, by which the Go module refers to the outside:
// directories in replace directives, the module around the directory, and the workspace around it. It skips
// what it cannot read; the toolchain reports that better.
func Surroundings(dir string) []string {
	if real, err := filepath.EvalSymlinks(dir); err == nil {
		dir = real
	}
	abs, err := filepath.Abs(dir)
	if err != nil {
		return nil
	}
	var out []string
	outside := func(path string) {
		rel, err := filepath.Rel(abs, path)
		if err == nil && !filepath.IsLocal(rel) && !slices.Contains(out, filepath.ToSlash(rel)) {
			out = append(out, filepath.ToSlash(rel))
		}
	}
	for _, name := range []string{"go.mod", "go.work"} {
		if name == "go.work" && os.Getenv("GOWORK") == "off" {
			continue
		}
		if file := upward(abs, name); file != "" {
			outside(filepath.Dir(file))
			for _, path := range directories(file) {
				outside(filepath.Join(filepath.Dir(file), filepath.FromSlash(path)))
			}
		}
	}
	return out
}

// upward finds a file in a directory or the nearest one above; empty: there is none.
func upward(dir, name string) string {
	for {
		if info, err := os.Stat(filepath.Join(dir, name)); err == nil && info.Mode().IsRegular() {
			return filepath.Join(dir, name)
		}
		above := filepath.Dir(dir)
		if above == dir {
			return ""
		}
		dir = above
	}
}

// directories lists the relative directories that a go.mod or go.work file names in replace
// and use directives.
func directories(file string) (out []string) {
	kind := strings.TrimPrefix(filepath.Base(file), "go.")
	text, err := exec.Command("go", kind, "edit", "-json", file).Output() //nolint:noctx // it reads one file
	var parsed struct {
		Use     []struct{ DiskPath string }
		Replace []struct {
			New struct{ Path, Version string }
		}
	}
	if err != nil || json.Unmarshal(text, &parsed) != nil {
		return nil
	}
	for _, u := range parsed.Use {
		out = append(out, u.DiskPath)
	}
	for _, r := range parsed.Replace {
		if r.New.Version == "" { // else it is a module
			out = append(out, r.New.Path)
		}
	}
	return slices.DeleteFunc(out, filepath.IsAbs)
}

// CommandFiles lists the files of the project that a test command runs: editing them could change
// what passes.
func CommandFiles(dir string, argv []string) []string {
	names := slices.Clone(argv)
	if strings.TrimPrefix(filepath.Base(argv[0]), "g") == "make" {
		names = append(names, "GNUmakefile", "makefile", "Makefile")
	}
	return slices.DeleteFunc(names, func(name string) bool {
		p, err := beneath.Local(name)
		info, missing := os.Stat(filepath.Join(dir, filepath.FromSlash(p)))
		return err != nil || missing != nil || !info.Mode().IsRegular()
	})
}
