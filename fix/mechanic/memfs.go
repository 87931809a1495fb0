package mechanic

import (
	"io"
	"io/fs"
	"path"
	"slices"
	"strings"
	"time"
)

// memory is a read-only file system of the files read so far, by path.
type memory map[string]string

// Open implements [fs.FS].
func (m memory) Open(name string) (fs.File, error) {
	if !fs.ValidPath(name) {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrInvalid}
	}
	if text, ok := m[name]; ok {
		return &file{node{path.Base(name), int64(len(text)), false}, strings.NewReader(text)}, nil
	}
	entries := map[string]fs.DirEntry{}
	for p, text := range m {
		rest, below := strings.CutPrefix(p, name+"/")
		if name == "." {
			rest, below = p, true
		}
		if below {
			first, _, deeper := strings.Cut(rest, "/")
			n := node{name: first, dir: deeper}
			if !deeper {
				n.size = int64(len(text))
			}
			entries[first] = n
		}
	}
	if len(entries) == 0 && name != "." {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
	}
	d := &dir{node: node{name: path.Base(name), dir: true}}
	for _, e := range entries {
		d.entries = append(d.entries, e)
	}
	slices.SortFunc(d.entries, func(a, b fs.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
	return d, nil
}

// node describes a file or directory.
type node struct {
	name string
	size int64
	dir  bool
}

func (n node) Name() string               { return n.name }
func (n node) Size() int64                { return n.size }
func (n node) IsDir() bool                { return n.dir }
func (n node) ModTime() time.Time         { return time.Time{} }
func (n node) Sys() any                   { return nil }
func (n node) Type() fs.FileMode          { return n.Mode().Type() }
func (n node) Info() (fs.FileInfo, error) { return n, nil }

func (n node) Mode() fs.FileMode {
	if n.dir {
		return fs.ModeDir | 0o555
	}
	return 0o444
}

type file struct {
	node
	*strings.Reader
}

func (f *file) Size() int64                { return f.node.size }
func (f *file) Stat() (fs.FileInfo, error) { return f.node, nil }
func (f *file) Close() error               { return nil }

type dir struct {
	node
	entries []fs.DirEntry
	at      int
}

func (d *dir) Stat() (fs.FileInfo, error) { return d.node, nil }
func (d *dir) Close() error               { return nil }

func (d *dir) Read([]byte) (int, error) {
	return 0, &fs.PathError{Op: "read", Path: d.name, Err: fs.ErrInvalid}
}

// ReadDir implements [fs.ReadDirFile].
func (d *dir) ReadDir(n int) ([]fs.DirEntry, error) {
	rest := d.entries[d.at:]
	if n > 0 && len(rest) == 0 {
		return nil, io.EOF
	}
	if n > 0 {
		rest = rest[:min(n, len(rest))]
	}
	d.at += len(rest)
	return slices.Clone(rest), nil
}
