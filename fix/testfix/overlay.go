package testfix

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/pawl-run/pawl/fix/internal/project"
	"github.com/pawl-run/pawl/internal/beneath"
)

// would returns the files that an edit changes, as they would be then.
func would(f *project.Files, e tryEdit) (map[string]string, error) {
	type span struct {
		from, to int
		with     string
	}
	texts, spans := map[string]string{}, map[string][]span{}
	for _, p := range append([]tryPiece{{e.Path, e.Old, e.New}}, e.Also...) {
		name, err := beneath.Local(p.Path)
		if err != nil {
			return nil, err
		}
		if path.Ext(name) != ".go" {
			return nil, fmt.Errorf("%s is not a Go file; only Go files can be tried: use edit_file", name)
		}
		if err := f.Writable(name); err != nil {
			return nil, err
		}
		if _, ok := texts[name]; !ok {
			data, _, err := f.Read(name)
			if err != nil {
				return nil, err
			}
			texts[name] = string(data)
		}
		at, err := beneath.Place(name, texts[name], p.Old, p.New)
		if err != nil {
			return nil, err
		}
		s := span{at, at + len(p.Old), p.New}
		if slices.ContainsFunc(spans[name], func(o span) bool { return s.from < o.to && o.from < s.to }) {
			return nil, fmt.Errorf("two replacements overlap in %s", name)
		}
		spans[name] = append(spans[name], s)
	}
	for name, list := range spans {
		slices.SortFunc(list, func(a, b span) int { return b.from - a.from })
		for _, s := range list {
			texts[name] = texts[name][:s.from] + s.with + texts[name][s.to:]
		}
		if len(texts[name]) > beneath.Largest {
			return nil, fmt.Errorf("%s would become larger than %d bytes", name, beneath.Largest)
		}
	}
	return texts, nil
}

// plain names the files that an edit was laid over in place of those it was
// written to.
func (c *candidate) plain(why, dir string) string {
	for i, name := range slices.Sorted(maps.Keys(c.files)) {
		mark := filepath.Base(filepath.Dir(dir)) + "/" + filepath.Base(dir) + fmt.Sprintf("/%d.go", i)
		if at := strings.Index(why, mark); at >= 0 {
			from := strings.LastIndexAny(why[:at], " \t(") + 1
			why = why[:from] + name + why[at+len(mark):]
		}
	}
	return why
}

// place is the directory for an edit's files.
func (t *trial) place(c *candidate) string {
	return filepath.Join(t.dir, fmt.Sprint(slices.Index(t.edits, c)))
}

// overlay writes an edit's files where the go command finds them, and returns the -overlay
// flag. Replaced files are named relative to the go command's directory, which may have
// another name there.
func (t *trial) overlay(c *candidate) (string, error) {
	dir := t.place(c)
	if err := os.Mkdir(dir, 0o700); err != nil {
		return "", fmt.Errorf("write the overlay of the edit: %w", err)
	}
	replace := map[string]string{}
	for i, name := range slices.Sorted(maps.Keys(c.files)) {
		file := filepath.Join(dir, fmt.Sprintf("%d.go", i))
		replace[filepath.FromSlash(name)] = file
		if err := os.WriteFile(file, []byte(c.files[name]), 0o600); err != nil {
			return "", fmt.Errorf("write the overlay of the edit: %w", err)
		}
	}
	var b bytes.Buffer
	err := json.NewEncoder(&b).Encode(map[string]any{"Replace": replace})
	file := filepath.Join(dir, "overlay.json")
	if err = errors.Join(err, os.WriteFile(file, b.Bytes(), 0o600)); err != nil {
		return "", fmt.Errorf("write the overlay of the edit: %w", err)
	}
	return "-overlay=" + file, nil
}
