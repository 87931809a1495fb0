package site_test

import (
	"io/fs"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/pawl-run/pawl/cmd/internal/site"
	"github.com/pawl-run/pawl/docs"
)

var (
	reference = regexp.MustCompile(` (?:href|src)="([^"]*)"`)
	named     = regexp.MustCompile(` id="([^"]*)"`)
)

// Every page is in the contents, and all that a page of the site refers to is in the site,
// so that it can be read without a network.
func TestDocumentation(t *testing.T) {
	s, err := site.New(docs.Pages)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := s.Write(dir); err != nil {
		t.Fatal(err)
	}
	pages, size := map[string]string{}, 0
	if err := filepath.WalkDir(dir, func(file string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := os.ReadFile(file)
		name, _ := filepath.Rel(dir, file)
		pages[filepath.ToSlash(name)] = string(data)
		size += len(data)
		return err
	}); err != nil {
		t.Fatal(err)
	}
	if err := fs.WalkDir(docs.Pages, ".", func(file string, _ fs.DirEntry, err error) error {
		page, is := strings.CutSuffix(file, ".md")
		if is && path.Base(page) != "README" && pages[page+".html"] == "" {
			t.Errorf("docs/%s is in no section; list it in docs/README.md", file)
		}
		return err
	}); err != nil {
		t.Fatal(err)
	}
	for name, text := range pages {
		if path.Ext(name) != ".html" {
			continue
		}
		for _, m := range reference.FindAllStringSubmatch(text, -1) {
			u, err := url.Parse(m[1])
			if err != nil {
				t.Errorf("%s: %v", name, err)
				continue
			}
			to := name
			if u.Path != "" {
				to = path.Join(path.Dir(name), u.Path)
			}
			target, ok := pages[to]
			switch {
			case u.Scheme != "":
				if u.Scheme != "https" {
					t.Errorf("%s links to %s", name, m[1])
				}
			case !ok:
				t.Errorf("%s links to %s, which is not in the site", name, m[1])
			case u.Fragment != "" && !strings.Contains(target, ` id="`+u.Fragment+`"`):
				t.Errorf("%s links to %s, which has no such place", name, m[1])
			}
		}
		seen := map[string]bool{}
		for _, m := range named.FindAllStringSubmatch(text, -1) {
			if seen[m[1]] {
				t.Errorf("%s has two places %q", name, m[1])
			}
			seen[m[1]] = true
		}
	}
	if size > 4<<20 {
		t.Errorf("the site has %d bytes, more than 4 MiB", size)
	}
}

func TestNewRefuses(t *testing.T) {
	contents := "# Contents\n\n## All\n\n- [One](one.md)\n- [Decisions](decisions)\n"
	for name, c := range map[string]struct {
		files map[string]string
		want  string // "" for no error
	}{
		"whole":       {map[string]string{"README.md": contents, "one.md": "# One\n\n[x](more/two.md#a-b) [y](../go.mod) [z](decisions/0001.md)", "more/two.md": "# Two\n\n## `A` [b](../one.md)"}, ""},
		"no contents": {map[string]string{"one.md": "# One"}, "docs/README.md is missing"},
		"no title":    {map[string]string{"README.md": contents, "one.md": "text"}, "docs/one.md has no title"},
		"not a page":  {map[string]string{"README.md": contents}, "docs/README.md lists one.html, which is not a page"},
	} {
		t.Run(name, func(t *testing.T) {
			files := fstest.MapFS{"more/first.md": {Data: []byte("# First")}}
			for name, text := range c.files {
				files[name] = &fstest.MapFile{Data: []byte(text)}
			}
			_, err := site.New(files)
			if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
				t.Errorf("got %v, want %q", err, c.want)
			}
		})
	}
}

func TestServe(t *testing.T) {
	s, err := site.New(fstest.MapFS{
		"README.md":    {Data: []byte("# Contents\n\n- [Sub](sub/one.md)\n")},
		"sub/one.md":   {Data: []byte("# One\n\nfirst\n\n## Deep `down`\n\nsecond <script>bad</script> [gone](../../x.go) [there](one.md#deep-down)\n")},
		"sub/one.png":  {Data: []byte("picture")},
		"sub/two.json": {Data: []byte("{}")},
	})
	if err != nil {
		t.Fatal(err)
	}
	for target, want := range map[string][]string{
		"/":                {`<a href="sub/one.html">Sub</a>`},
		"/sub/one.html":    {`<h2 id="deep-down">`, `<a href="one.html#deep-down">there</a>`, " gone ", `href="../style.css"`, `<a href="#deep-down">Deep down</a>`},
		"/sub/one.png":     {"picture"},
		"/search-index.js": {`{"path":"sub/one.html#deep-down","title":"One","heading":"Deep down","text":"second`},
		"/search.js":       {"searchIndex"},
		"/gone.html":       nil,
		"/../site.go":      nil,
	} {
		w := httptest.NewRecorder()
		s.ServeHTTP(w, httptest.NewRequest(http.MethodGet, target, nil))
		if ok := w.Code == http.StatusOK; ok != (want != nil) {
			t.Errorf("%s answers %d", target, w.Code)
		}
		for _, part := range want {
			if !strings.Contains(w.Body.String(), part) {
				t.Errorf("%s has no %q:\n%s", target, part, w.Body)
			}
		}
		if strings.Contains(w.Body.String(), "<script>bad") {
			t.Errorf("%s has raw HTML", target)
		}
	}
}
