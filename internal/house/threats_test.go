package house

import (
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var (
	threatPackage = regexp.MustCompile("`([a-z/0-9]+)` ((?:(?:Test|Fuzz)\\w+(?:, )?)+)")
	testFunction  = regexp.MustCompile(`(?m)^func ((?:Test|Fuzz)\w+)\(`)
)

// TestThreatsHaveTests: each row of the threat model names tests, and there are
// such tests where it says.
func TestThreatsHaveTests(t *testing.T) {
	tr := repository(t)
	_, table, found := strings.Cut(tr.read(t, "docs/security.md"), "| attack | mechanism | tests | what remains |\n")
	if !found {
		t.Fatal("docs/security.md has no table of attacks")
	}
	tests := map[string][]string{} // by directory
	for _, name := range tr.files {
		if strings.HasSuffix(name, "_test.go") {
			for _, m := range testFunction.FindAllStringSubmatch(tr.read(t, name), -1) {
				tests[path.Dir(name)] = append(tests[path.Dir(name)], m[1])
			}
		}
	}
	rows := 0
	for row := range strings.Lines(table) {
		if !strings.HasPrefix(row, "| ") {
			if strings.HasPrefix(row, "|") {
				continue // the line under the head
			}
			break
		}
		rows++
		named := threatPackage.FindAllStringSubmatch(row, -1)
		if named == nil {
			t.Errorf("no test: %s", row)
		}
		for _, n := range named {
			for name := range strings.SplitSeq(strings.TrimSuffix(n[2], ", "), ", ") {
				if !slices.Contains(tests[n[1]], name) {
					t.Errorf("there is no %s in %s: %s", name, n[1], row)
				}
			}
		}
	}
	if rows < 20 {
		t.Errorf("the table has %d rows", rows)
	}
}
