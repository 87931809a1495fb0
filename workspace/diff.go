package workspace

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
)

// Diff is the difference between the files that were edited and their originals. It is plain data: it
// can be stored as JSON and applied by another process, even after the copy has changed again.
type Diff struct {
	Changes []Change `json:"changes"` // ordered by path, bytewise
}

// Change is the change of one path.
type Change struct {
	Path string `json:"path"` // slash-separated, relative to the project
	Old  *File  `json:"old"`  // nil if the path is new
	New  *File  `json:"new"`  // nil if it is deleted
}

// File is a regular file: its permissions and its content.
type File struct {
	Mode fs.FileMode `json:"mode"`
	Data []byte      `json:"data"`
}

// String returns the difference in git's form of a unified diff. As long as no change is binary, git
// apply and patch -p1 accept it.
func (d Diff) String() string {
	var b strings.Builder
	for _, c := range d.Changes {
		b.WriteString(c.patch())
	}
	return b.String()
}

// Empty reports whether nothing has changed.
func (d Diff) Empty() bool { return len(d.Changes) == 0 }

// Keep keeps the original of a file, durably. It must be called before the file is edited in the copy,
// and may be called again.
func (t *Tree) Keep(name string) error {
	if _, kept := t.originals[name]; kept {
		return nil
	}
	f, err := t.original(name)
	if err != nil {
		return fmt.Errorf("keep the original of %s: %w", name, err)
	}
	t.originals[name] = f
	return t.save(originalsFile, t.originals)
}

// Kept returns the paths of the files that were kept, in order.
func (t *Tree) Kept() []string { return slices.Sorted(maps.Keys(t.originals)) }

// original returns a file as it was when the copy was made. Tests may have changed it in the copy since,
// or the user in the project.
func (t *Tree) original(name string) (*File, error) {
	was, known := t.record.Files[name]
	for _, dir := range []string{t.Dir(), t.record.Source} {
		root, err := os.OpenRoot(dir)
		if err != nil {
			return nil, err
		}
		f, err := readFile(root, name)
		_ = root.Close()
		if !known {
			return nil, err // the file is new
		}
		if err == nil && f != nil {
			if now, _ := digest(f.Mode, bytes.NewReader(f.Data)); now == was {
				return f, nil
			}
		}
	}
	return nil, errors.New("it has changed in the project and in the copy since the copy was made")
}

// Diff compares the files that were kept with their originals. Of the permissions only the owner's
// right to execute counts, as in git. It fails if something else than a file is in the place of one.
func (t *Tree) Diff() (d Diff, err error) {
	root, err := os.OpenRoot(t.Dir())
	if err != nil {
		return d, fmt.Errorf("compare working copy: %w", err)
	}
	defer root.Close()
	for _, name := range t.Kept() {
		old := t.originals[name]
		now, err := readFile(root, name)
		if err != nil {
			return d, fmt.Errorf("compare working copy: %s: %w", name, err)
		}
		if old != nil && now != nil && now.executable() == old.executable() {
			now.Mode = old.Mode
		}
		if !same(old, now) {
			d.Changes = append(d.Changes, Change{name, old, now})
		}
	}
	return d, nil
}

// same reports whether two files are the same. Nil is a file that does not exist.
func same(a, b *File) bool {
	return a == b || a != nil && b != nil && a.Mode == b.Mode && bytes.Equal(a.Data, b.Data)
}

func (f *File) executable() bool { return f.Mode&0o100 != 0 }

// digest identifies a file by its permissions and its content.
func digest(mode fs.FileMode, content io.Reader) (string, error) {
	sum := sha256.New()
	fmt.Fprintf(sum, "%o ", mode)
	_, err := io.Copy(sum, content)
	return hex.EncodeToString(sum.Sum(nil)), err
}

// errIrregular says that a path does not lead to a regular file through directories alone.
var errIrregular = errors.New("it is not a regular file in a directory of the project")

// readFile returns the file at a path below root; nil: there is none. It follows no links, since a file
// that is reached through one has another path.
func readFile(root *os.Root, name string) (*File, error) {
	mode := fs.FileMode(0)
	for i := range len(name) + 1 {
		if i < len(name) && name[i] != '/' {
			continue
		}
		info, err := root.Lstat(filepath.FromSlash(name[:i]))
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return nil, nil //nolint:nilnil // there is no file
		case err != nil:
			return nil, err
		case i < len(name) && !info.IsDir(), i == len(name) && !info.Mode().IsRegular():
			return nil, errIrregular
		}
		mode = info.Mode().Perm()
	}
	f, err := root.OpenFile(filepath.FromSlash(name), os.O_RDONLY|syscall.O_NONBLOCK, 0) // a pipe may have taken its place
	if err != nil {
		return nil, err
	}
	defer f.Close()
	data, err := io.ReadAll(f)
	return &File{mode, data}, err
}
