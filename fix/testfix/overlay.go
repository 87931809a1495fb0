package testfix

import (
	"fmt"
	"maps"
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
