package house

import (
	"os"
	"path/filepath"
	"regexp"
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
	page, err := os.ReadFile("../../docs/security.md")
	if err != nil {
		t.Fatal(err)
	}
	_, table, found := strings.Cut(string(page), "| attack | mechanism | tests | what remains |\n")
	if !found {
		t.Fatal("docs/security.md has no table of attacks")
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
			there := functions(t, filepath.Join("../..", n[1]))
			for name := range strings.SplitSeq(strings.TrimSuffix(n[2], ", "), ", ") {
				if !there[name] {
					t.Errorf("there is no %s in %s: %s", name, n[1], row)
				}
			}
		}
	}
	if rows < 20 {
		t.Errorf("the table has %d rows", rows)
	}
}

func functions(t *testing.T, dir string) map[string]bool {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*_test.go"))
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]bool{}
	for _, file := range files {
		source, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range testFunction.FindAllStringSubmatch(string(source), -1) {
			all[m[1]] = true
		}
	}
	return all
}
