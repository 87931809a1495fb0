package house

import (
	"fmt"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var (
	promise    = regexp.MustCompile(`(?m)^(?:func (\w+)\(.* //|#) Promises: (.*)\.$`)
	promiseRow = regexp.MustCompile(`(?m)^\|([A-Z]\d+)\|([^|\n]*)\|.*\|$`)
	featureRow = regexp.MustCompile(`(?m)^\| ([A-Z]\d+) \|`)
)

// TestPromises holds the table of docs/testing.md. The rows of a test stand behind the line that declares it, those
// of a transcript or script among its first comments: Promises: H4, T4.
func TestPromises(t *testing.T) {
	tr := repository(t)
	files := slices.DeleteFunc(slices.Clone(tr.files), func(name string) bool { return !strings.HasSuffix(name, "_test.go") })
	for _, pattern := range []string{"testdata/loops/*.txt", "cmd/internal/cli/testdata/script/*.txtar"} {
		found, err := filepath.Glob(filepath.Join(tr.root, pattern))
		must(t, err)
		for _, name := range found {
			files = append(files, path.Join(path.Dir(pattern), filepath.Base(name)))
		}
	}
	const page = "docs/testing.md"
	was := tr.read(t, page)
	held := map[string][]string{} // links to the tests of a row
	for _, name := range files {
		for _, m := range promise.FindAllStringSubmatch(tr.read(t, name), -1) {
			if m[1] == "" {
				m[1] = strings.TrimSuffix(path.Base(name), path.Ext(name))
			}
			for row := range strings.SplitSeq(m[2], ", ") {
				if held[row] = append(held[row], fmt.Sprintf("[%s](../%s)", m[1], name)); !strings.Contains(was, "\n|"+row+"|") {
					t.Errorf("%s: %s promises %s, which is no row of %s", name, m[1], row, page)
				}
			}
		}
	}
	text := promiseRow.ReplaceAllStringFunc(was, func(line string) string {
		m := promiseRow.FindStringSubmatch(line)
		if held[m[1]] == nil {
			t.Errorf("no test promises row %s, %s", m[1], m[2])
		}
		return fmt.Sprintf("|%s|%s|%s|", m[1], m[2], strings.Join(held[m[1]], ", "))
	})
	if *rewrite {
		must(t, os.WriteFile(filepath.Join(tr.root, page), []byte(text), 0o644))
	} else if was != text {
		t.Errorf("%s is not current: go test ./internal/house -run TestPromises -rewrite", page)
	}
	features, _ := os.ReadFile(filepath.Join(tr.root, "../shared/features.md")) // where the rows come from, if it is there
	for _, m := range featureRow.FindAllStringSubmatch(string(features), -1) {
		if !strings.Contains(was, "\n|"+m[1]+"|") {
			t.Errorf("%s has no row %s", page, m[1])
		}
	}
}
