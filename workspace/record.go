package workspace

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// recordVersion is raised when an older program could misread the record.
const recordVersion = 1

// record describes the originals, stored as record.json in the state directory.
type record struct {
	Version int              `json:"version"`
	Source  string           `json:"source"`
	Copy    string           `json:"copy"` // relative to the state directory
	Files   map[string]entry `json:"files"`
	// Originals has the places of the contents of small originals, by digest.
	Originals map[string]span `json:"originals"`
	// Ignores says that git could determine which files are ignored.
	Ignores bool      `json:"ignores"`
	Nested  []string  `json:"nested,omitempty"` // directories that are repositories of their own
	LeftOut []LeftOut `json:"left_out,omitempty"`
}

// entry is one original. An ignored one has no digest.
type entry struct {
	File
	Ignored bool `json:"ignored,omitempty"`
}

// File is what is at a path: nothing (the zero File), a regular file, or a symbolic link.
type File struct {
	// Mode has the permission bits, and [fs.ModeSymlink] for a link.
	Mode fs.FileMode `json:"mode,omitempty"`
	// Digest is the SHA-256 of the content, or of a link's target, in hexadecimal.
	Digest string `json:"digest,omitempty"`
}

// Exists reports whether there is a file.
func (f File) Exists() bool { return f != File{} }

func (f File) isLink() bool { return f.Mode&fs.ModeSymlink != 0 }

// executable reports whether the owner may execute the file, the one permission that git records.
func (f File) executable() bool { return f.Mode.IsRegular() && f.Mode&0o100 != 0 }

func (t *Tree) recordPath() string { return filepath.Join(t.state, "record.json") }

func (t *Tree) saveRecord() error { return writeJSON(t.recordPath(), &t.record) }

func (t *Tree) loadRecord() error {
	if err := readJSON(t.recordPath(), &t.record); err != nil {
		return err
	}
	if t.record.Version != recordVersion {
		return fmt.Errorf("its record has version %d, this program knows %d", t.record.Version, recordVersion)
	}
	if !filepath.IsAbs(t.record.Source) || !filepath.IsLocal(filepath.FromSlash(t.record.Copy)) {
		return errors.New("its record is damaged")
	}
	return nil
}

func readJSON(path string, v any) error {
	data, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(data, v); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return nil
}

// writeJSON replaces a file atomically: after a crash it has the old or the new content.
func writeJSON(path string, v any) error {
	data, err := json.Marshal(v)
	if err != nil {
		return err
	}
	temp := path + ".new"
	f, err := os.OpenFile(temp, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	if err := errors.Join(err, fsync(f), f.Close()); err != nil {
		return err
	}
	if err := os.Rename(temp, path); err != nil {
		return err
	}
	dir, err := os.Open(filepath.Dir(path))
	if err != nil {
		return err
	}
	return syncDir(dir)
}
