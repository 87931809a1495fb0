// Package site renders the documentation as a web site that needs no network: its
// pages, a style sheet, and an index that the browser searches.
package site

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"path"
	"path/filepath"
	"strings"
	"time"
)

//go:embed style.css
var styleCSS []byte

//go:embed search.js
var searchJS []byte

// A Site is a rendered documentation.
type Site struct {
	files map[string][]byte // by slash-separated name
}

// New renders the Markdown pages in fsys. The list of contents is README.md: its
// second-level headings are sections, and the first links of its list items are their
// pages. A link to a directory lists all pages in it.
func New(fsys fs.FS) (*Site, error) {
	pages, files, err := read(fsys)
	if err != nil {
		return nil, err
	}
	sections, err := contents(pages)
	if err != nil {
		return nil, err
	}
	s := &Site{files: files}
	order := inOrder(sections)
	for i, p := range order {
		v := view{Page: p, Sections: sections, Root: strings.Repeat("../", strings.Count(p.Path, "/"))}
		if i > 0 {
			v.Previous = order[i-1]
		}
		if i+1 < len(order) {
			v.Next = order[i+1]
		}
		s.files[p.Path] = v.html()
	}
	index, err := json.Marshal(entries(order))
	if err != nil {
		return nil, err
	}
	// A script, not JSON: a page that was opened as a file may load the one but not the other.
	s.files["search-index.js"] = fmt.Appendf(nil, "searchIndex(%s);\n", index)
	s.files["search.js"] = searchJS
	s.files["style.css"] = styleCSS
	return s, nil
}

// Write writes the site into a directory, which it makes if it is not there.
func (s *Site) Write(dir string) error {
	for name, data := range s.files {
		file := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(file, data, 0o644); err != nil {
			return err
		}
	}
	return nil
}

// ServeHTTP serves the files of the site.
func (s *Site) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	name := strings.TrimPrefix(path.Clean("/"+r.URL.Path), "/")
	if name == "" || strings.HasSuffix(r.URL.Path, "/") {
		name = path.Join(name, "index.html")
	}
	data, ok := s.files[name]
	if !ok {
		http.NotFound(w, r)
		return
	}
	h := w.Header()
	h.Set("Content-Security-Policy", "default-src 'none'; img-src 'self'; style-src 'self'; script-src 'self'; frame-ancestors 'none'")
	h.Set("X-Content-Type-Options", "nosniff")
	http.ServeContent(w, r, name, time.Time{}, bytes.NewReader(data))
}
