package workspace

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// history gives the copy a repository with the project's HEAD, index and refs. Objects are read
// where they are, through alternates (gitrepository-layout(5)), and what git writes stays in the
// copy. The configuration is not copied: it may name programs, and addresses with passwords. It
// does nothing unless the project is the top of a work tree.
func (t *Tree) history(ctx context.Context) error {
	out, err := git(ctx, t.record.Source, "", "rev-parse", "--show-prefix", "--git-dir", "--git-common-dir", "--show-object-format")
	lines := strings.Split(string(out), "\n")
	if err != nil || len(lines) < 4 || lines[0] != "" {
		return nil //nolint:nilerr // there is no git or no repository
	}
	own, common := t.within(lines[1]), t.within(lines[2])
	if _, err := os.Stat(filepath.Join(common, "reftable")); err == nil {
		return nil // its refs are no files to copy
	}
	to := filepath.Join(t.Dir(), ".git")
	if err := os.MkdirAll(filepath.Join(to, "objects", "info"), 0o700); err != nil {
		return err
	}
	config := "[core]\n\trepositoryformatversion = 1\n\tbare = false\n[extensions]\n\tobjectFormat = " + lines[3] + "\n"
	for name, text := range map[string]string{
		"config":                  config,
		"objects/info/alternates": filepath.Join(common, "objects") + "\n",
	} {
		if err := os.WriteFile(filepath.Join(to, name), []byte(text), 0o600); err != nil {
			return err
		}
	}
	shared, err := filepath.Glob(filepath.Join(own, "sharedindex.*"))
	if err != nil {
		return err
	}
	for _, file := range append(shared, filepath.Join(own, "HEAD"), filepath.Join(own, "index"), filepath.Join(common, "packed-refs"), filepath.Join(common, "shallow")) {
		if err := copyIfThere(file, filepath.Join(to, filepath.Base(file))); err != nil {
			return err
		}
	}
	return copyRefs(filepath.Join(common, "refs"), filepath.Join(to, "refs"))
}

// within returns a path that git printed in the project as an absolute one.
func (t *Tree) within(path string) string {
	path = filepath.FromSlash(path)
	if filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(t.record.Source, path)
}

func copyRefs(from, to string) error {
	err := filepath.WalkDir(from, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(from, path)
		if err != nil {
			return err
		}
		if d.IsDir() {
			return os.MkdirAll(filepath.Join(to, rel), 0o700)
		}
		return copyIfThere(path, filepath.Join(to, rel))
	})
	if err != nil {
		return fmt.Errorf("copy the refs of the repository: %w", err)
	}
	return nil
}

// copyIfThere copies a small file. Git may be removing it.
func copyIfThere(from, to string) error {
	data, err := os.ReadFile(from)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err == nil {
		err = os.WriteFile(to, data, 0o600) //nolint:gosec // in the state directory, which is ours
	}
	return err
}
