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
	testFunction = regexp.MustCompile(`(?m)^func ((?:Test|Fuzz|Example)\w*)\(`)
)

// TestTablesNameTests: each row of the threat model names what holds it, and there are such tests where it says.
func TestTablesNameTests(t *testing.T) {
	tr := repository(t)
	tests := map[string][]string{} // by directory
	for _, name := range tr.files {
		if strings.HasSuffix(name, "_test.go") {
			for _, m := range testFunction.FindAllStringSubmatch(tr.read(t, name), -1) {
				tests[path.Dir(name)] = append(tests[path.Dir(name)], m[1])
			}
		}
	}
	const page, fewest = "docs/security.md", 20
	_, table, _ := strings.Cut(tr.read(t, page), "| attack | mechanism | tests | what remains |\n")
	table, _, _ = strings.Cut(table, "\n\n")
	rows := strings.Split(table, "\n")[1:]
	for _, row := range rows {
		named := namedTests.FindAllStringSubmatch(row, -1)
		if named == nil {
			t.Errorf("%s: no test: %s", page, row)
		}
		for _, n := range named {
			for name := range strings.SplitSeq(strings.TrimSuffix(n[2], ", "), ", ") {
				if !slices.Contains(tests[n[1]], name) {
					t.Errorf("%s: there is no %s in %s: %s", page, name, n[1], row)
				}
			}
		}
	}
	if len(rows) < fewest {
		t.Errorf("the table of %s has %d rows, fewer than %d", page, len(rows), fewest)
	}
}
