package project

import (
	"os"
	"path/filepath"
	"slices"
	"strconv"
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
// and use directives. The format is at https://go.dev/ref/mod#go-mod-file-lexical.
func directories(file string) []string {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil
	}
	var out []string
	block := ""
	for line := range strings.Lines(string(text)) {
		line, _, _ = strings.Cut(line, "//")
		line = strings.TrimSpace(line)
		verb, rest := block, line
		if block == "" {
			verb, rest, _ = strings.Cut(strings.ReplaceAll(line, "\t", " "), " ")
			rest = strings.TrimSpace(rest)
		}
		switch {
		case line == ")":
			block = ""
			continue
		case rest == "(":
			block = verb
			continue
		}
		path := ""
		switch verb {
		case "use":
			path = rest
		case "replace":
			_, path, _ = strings.Cut(rest, "=>")
			path = strings.TrimSpace(path)
		}
		if text, err := strconv.Unquote(path); err == nil {
			path = text
		} else if strings.ContainsAny(path, " \t") { // a module and its version
			continue
		}
		if path != "" && !filepath.IsAbs(path) {
			out = append(out, path)
		}
	}
	return out
}

// CommandFiles lists the files of the project that a test command runs: editing them could change
// what passes.
func CommandFiles(dir string, argv []string) []string {
	var paths []string
	add := func(name string) {
		if p, err := beneath.Local(name); err == nil {
			if info, err := os.Stat(filepath.Join(dir, filepath.FromSlash(p))); err == nil && info.Mode().IsRegular() {
				paths = append(paths, p)
			}
		}
	}
	for _, a := range argv {
		add(a)
	}
	if strings.TrimPrefix(filepath.Base(argv[0]), "g") == "make" {
		for _, name := range []string{"GNUmakefile", "makefile", "Makefile"} {
			add(name)
		}
	}
	return paths
}
