package house

import (
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var (
	namedTests   = regexp.MustCompile("`([a-z/0-9]+)` ((?:(?:Test|Fuzz)\\w+(?:, )?)+)")
	linkedTest   = regexp.MustCompile(`\[((?:Test|Fuzz|Example)\w*)\]\(\.\./([^)]+)\)`)
	transcript   = regexp.MustCompile(`\[\w+\]\(\.\./([^)]+\.txt(?:ar)?)\)`) // TestLinks holds that it is there
	testFunction = regexp.MustCompile(`(?m)^func ((?:Test|Fuzz|Example)\w*)\(`)
)

// TestTablesNameTests: each row of the threat model and of the features names what holds it, and
// there are such tests where it says.
func TestTablesNameTests(t *testing.T) {
	tr := repository(t)
	tests := map[string][]string{} // by directory and by file
	for _, name := range tr.files {
		if strings.HasSuffix(name, "_test.go") {
			for _, m := range testFunction.FindAllStringSubmatch(tr.read(t, name), -1) {
				tests[path.Dir(name)] = append(tests[path.Dir(name)], m[1])
				tests[name] = append(tests[name], m[1])
			}
		}
	}
	for page, c := range map[string]struct {
		head string
		rows int
	}{
		"docs/security.md": {"| attack | mechanism | tests | what remains |\n", 20},
		"docs/testing.md":  {"|row|feature|held by|\n", 60},
	} {
		_, table, _ := strings.Cut(tr.read(t, page), c.head)
		rows := -1 // the line under the head
		for row := range strings.Lines(table) {
			if !strings.HasPrefix(row, "|") {
				break
			}
			if rows++; rows == 0 {
				continue
			}
			named, linked := namedTests.FindAllStringSubmatch(row, -1), linkedTest.FindAllStringSubmatch(row, -1)
			if named == nil && linked == nil && !transcript.MatchString(row) {
				t.Errorf("%s: no test: %s", page, row)
			}
			for _, n := range named {
				for name := range strings.SplitSeq(strings.TrimSuffix(n[2], ", "), ", ") {
					if !slices.Contains(tests[n[1]], name) {
						t.Errorf("%s: there is no %s in %s: %s", page, name, n[1], row)
					}
				}
			}
			for _, l := range linked {
				if !slices.Contains(tests[l[2]], l[1]) {
					t.Errorf("%s: there is no %s in %s: %s", page, l[1], l[2], row)
				}
			}
		}
		if rows < c.rows {
			t.Errorf("the table of %s has %d rows, fewer than %d", page, rows, c.rows)
		}
	}
}
