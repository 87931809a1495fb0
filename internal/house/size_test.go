package house

import (
	"path"
	"strings"
	"testing"
)

// The budgets of the repository. They only go down: when one is full, something leaves. What a sum
// adds is the lines that waiting, standing permissions, verified logs, cancelled calls, tool choices,
// notices, instructions, credentials, encryption, users of evaluations and files of tools were granted when they came.
const (
	mostLinesOfAll     = 120_163 + 4_289 // of Go, without tests and test kits
	mostLinesOfLibrary = 78_269 + 3_097  // of these, in the module of the library
	mostLinesOfFix     = 6_491           // of these, in the module fix
	mostLinesOfTests   = 89_414 + 2_474  // of tests and their kits
	mostWords          = 67_337 + 2_441  // of Markdown
)

// TestSize holds the budgets. A line of Go longer than 120 columns counts once for each
// hundred columns that it has begun.
func TestSize(t *testing.T) {
	tr := repository(t)
	modules := map[string]bool{}
	for _, file := range tr.files {
		if path.Base(file) == "go.mod" {
			modules[path.Dir(file)] = true
		}
	}
	lines, tests, words := map[string]int{}, 0, 0
	for _, file := range tr.files {
		switch dir := path.Dir(file); {
		case path.Ext(file) == ".md":
			words += len(strings.Fields(tr.read(t, file)))
		case path.Ext(file) != ".go":
		case strings.HasSuffix(file, "_test.go"), under(dir, "internal/testkit") && dir != "internal/testkit": // what pawltest reaches is no test
			tests += linesIn(tr.read(t, file))
		default:
			for !modules[dir] {
				dir = path.Dir(dir)
			}
			lines[dir] += linesIn(tr.read(t, file))
		}
	}
	all := 0
	for _, n := range lines {
		all += n
	}
	for _, b := range []struct {
		what      string
		now, most int
	}{
		{"lines of Go", all, mostLinesOfAll},
		{"lines of the library", lines["."], mostLinesOfLibrary},
		{"lines of fix", lines["fix"], mostLinesOfFix},
		{"lines of tests and kits", tests, mostLinesOfTests},
		{"words of Markdown", words, mostWords},
	} {
		t.Logf("%s: %d of %d", b.what, b.now, b.most)
		if b.now > b.most {
			t.Errorf("%s: %d, more than %d", b.what, b.now, b.most)
		}
	}
}

func linesIn(text string) (n int) {
	for line := range strings.Lines(text) {
		n++
		columns := len(strings.ReplaceAll(strings.TrimSuffix(line, "\n"), "\t", "    "))
		if columns > 120 {
			n += (columns - 1) / 100
		}
	}
	return n
}
