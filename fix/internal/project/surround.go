package project

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/pawl-run/pawl/internal/beneath"
	"github.com/pawl-run/pawl/workspace"
)

// copyOf makes a working copy of a project. The paths by which its Go module refers to the outside lead
// from the copy to the same places: the directories above the copy have the names of those above the
// project, and links to what is there. Programs in the copy can reach the originals through these links.
func copyOf(ctx context.Context, dir, stateDir string) (*workspace.Tree, error) {
	paths := surroundings(dir)
	depth := 0
	for _, p := range paths {
		depth = max(depth, strings.Count(p, above))
	}
	place := filepath.Join("copy", copyName(dir))
	for up := filepath.Dir(dir); depth > 1; up, depth = filepath.Dir(up), depth-1 {
		place = filepath.Join("copy", copyName(up), strings.TrimPrefix(place, "copy"))
	}
	t, err := workspace.Copy(ctx, dir, &workspace.Options{Dir: stateDir, Place: place})
	if err != nil {
		return nil, err
	}
	for _, p := range paths {
		names := []string{p}
		if strings.HasSuffix(p, above) {
			names, err = entries(dir, p)
		}
		for _, name := range names {
			if err == nil {
				err = linkOriginal(filepath.Join(dir, name), filepath.Join(t.Dir(), name))
			}
		}
		if err != nil {
			return nil, errors.Join(err, t.Close())
		}
	}
	return t, nil
}

// above is the way to the directory above.
const above = ".." + string(filepath.Separator)

// entries lists the paths of what is in a directory above the project, except the way to the project. A
// repository is left out, since git would take the copy for its working tree.
func entries(dir, up string) (paths []string, err error) {
	all, err := os.ReadDir(filepath.Join(dir, up))
	way := filepath.Base(filepath.Join(dir, strings.TrimPrefix(up, above)))
	for _, e := range all {
		if e.Name() != way && e.Name() != ".git" {
			paths = append(paths, up+e.Name())
		}
	}
	return paths, err
}

// linkOriginal links to an original. A small file is copied instead: the toolchain writes to some
// files that it finds above a project, such as go.work.sum.
func linkOriginal(original, place string) error {
	info, err := os.Stat(original)
	if errors.Is(err, fs.ErrNotExist) {
		return nil // users of the path get the same error as in the project
	}
	if err == nil && info.Mode().IsRegular() && info.Size() <= 1<<20 {
		if data, err := os.ReadFile(original); err == nil {
			return os.WriteFile(place, data, info.Mode().Perm()|0o200) //nolint:gosec // place is ours
		}
	}
	if err == nil {
		err = os.Symlink(original, place)
	}
	if errors.Is(err, fs.ErrExist) { // two paths have the same target
		return nil
	}
	return err
}

// copyName returns the name of a directory, which some tools put into their results.
func copyName(dir string) string {
	name := filepath.Base(dir)
	if name == string(filepath.Separator) || strings.ContainsAny(name, `/\:`) {
		return "project"
	}
	return name
}

// surroundings lists the paths, relative to the directory, by which the Go module refers to the outside:
// directories in replace directives, the module around the directory, and the workspace around it. Each goes
// up as far as needed and then to one name, or to none for the directory up there. It skips what it cannot
// read; the toolchain reports that better.
func surroundings(dir string) (out []string) {
	outside := func(path string) {
		rel, err := filepath.Rel(dir, path)
		if err != nil || filepath.IsLocal(rel) {
			return
		}
		up, rest := "", rel+string(filepath.Separator)
		for strings.HasPrefix(rest, above) {
			up, rest = up+above, rest[len(above):]
		}
		name, _, _ := strings.Cut(rest, string(filepath.Separator))
		if !slices.Contains(out, up+name) {
			out = append(out, up+name)
		}
	}
	for _, name := range []string{"go.mod", "go.work"} {
		if name == "go.work" && os.Getenv("GOWORK") == "off" {
			continue
		}
		if file := upward(dir, name); file != "" {
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
