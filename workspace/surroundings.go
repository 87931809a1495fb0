package workspace

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// surroundings imitate the directories above the project around the copy, so that a relative path
// that leads out of the project leads to the same place from the copy. They have only the requested
// entries, each as a link.
type surroundings struct {
	source string
	top    string // replaces the highest directory above the project that is needed
	depth  int    // how many levels above: 0 if none is needed
}

// above returns the directory n levels above the project.
func (s surroundings) above(n int) string {
	dir := s.source
	for range n {
		dir = filepath.Dir(dir)
	}
	return dir
}

// at returns the replacement of the directory n levels above the project, and of the project itself
// if n is 0.
func (s surroundings) at(n int) string {
	switch {
	case n == s.depth && n > 0:
		return s.top
	case n == 0 && s.depth == 0:
		return filepath.Join(s.top, copyName(s.source))
	}
	return filepath.Join(s.at(n+1), copyName(s.above(n)))
}

// outside is a path that leads out: up by some levels, then down to name, which is empty for the
// directory up there itself.
type outside struct {
	up   int
	name string
}

// surround makes the targets of paths, relative to the project, reachable from the place of the
// future copy, and returns that place.
func surround(source, top string, paths []string) (string, error) {
	s := surroundings{source: source, top: top}
	var all []outside
	for _, p := range paths {
		rel, err := filepath.Rel(source, filepath.Join(source, filepath.FromSlash(p)))
		if err != nil {
			return "", err
		}
		var o outside
		for rest := rel; ; o.up++ {
			first, more, _ := strings.Cut(rest, string(filepath.Separator))
			if o.name = first; first != ".." {
				break
			}
			rest = more
		}
		if o.up > 0 { // else it is inside
			s.depth = max(s.depth, o.up)
			all = append(all, o)
		}
	}
	if err := os.MkdirAll(s.at(0), 0o700); err != nil {
		return "", err
	}
	for _, o := range all {
		names := []string{o.name}
		if o.name == "" {
			var err error
			if names, err = s.entries(o.up); err != nil {
				return "", err
			}
		}
		for _, name := range names {
			if err := linkOriginal(filepath.Join(s.above(o.up), name), filepath.Join(s.at(o.up), name)); err != nil {
				return "", err
			}
		}
	}
	return s.at(0), nil
}

// entries lists the entries of a directory some levels above the project, except the way to the
// project. A repository is left out, since git would take the copy for its working tree.
func (s surroundings) entries(up int) ([]string, error) {
	all, err := os.ReadDir(s.above(up))
	if err != nil {
		return nil, err
	}
	way := filepath.Base(s.above(up - 1))
	var names []string
	for _, e := range all {
		if e.Name() != way && e.Name() != ".git" {
			names = append(names, e.Name())
		}
	}
	return names, nil
}

// linkOriginal links to an original. A small file is copied instead: the toolchain writes to some
// files that it finds above a project, such as go.work.sum.
func linkOriginal(original, place string) error {
	info, err := os.Stat(original)
	if errors.Is(err, fs.ErrNotExist) {
		return nil // users of the path get the same error as in the project
	}
	if err != nil {
		return err
	}
	if info.Mode().IsRegular() && info.Size() <= textLimit {
		data, err := os.ReadFile(original)
		if err != nil {
			return os.Symlink(original, place)
		}
		return os.WriteFile(place, data, info.Mode().Perm()|0o200) //nolint:gosec // place is in the state directory, which is ours
	}
	if err := os.Symlink(original, place); !errors.Is(err, fs.ErrExist) {
		return err
	}
	return nil // two paths have the same target
}
