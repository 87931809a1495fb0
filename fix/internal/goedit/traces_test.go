package goedit

import (
	"strings"
	"testing"
	"testing/fstest"
)

// proposals are the results of all edits of a file, with what the lines around
// it look like to gofmt.
func proposals(t *testing.T, src string, h Hints) (edits []Edit, after []string) {
	t.Helper()
	files := fstest.MapFS{
		"go.mod":    {Data: []byte("module m\n\ngo 1.26\n")},
		"m.go":      {Data: []byte(src)},
		"m_test.go": {Data: []byte("package m\n\nimport \"testing\"\n\nfunc Test(t *testing.T) { run(t) }\n\nfunc run(t *testing.T) { t.Log(Do(1, 2)) }\n")},
	}
	if h.Failures == nil {
		h.Failures = []Failure{{Package: "m", Test: "Test"}}
	}
	edits, err := Candidates(files, h, &Options{Importer: library()(t), Limit: 1000})
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range edits {
		text, err := Apply([]byte(src), e)
		if err != nil {
			t.Fatal(err)
		}
		after = append(after, string(text))
	}
	return edits, after
}

// leftOut are files without their first line, each with what is missing in it.
var leftOut = []struct{ name, src, want string }{
	{"the second of two steps", "func Do(n, m int) int {\n\ti, j := 0, 0\n\tfor i < n {\n\t\ti++\n\t}\n\treturn j\n}\n", "\t\ti++\n\t\tj++\n"},
	{"the second of two links", "type node struct{ next, prev *node }\n\nfunc Do(n, m int) *node {\n\tr := &node{}\n\tr.prev = r\n\treturn r\n}\n", "\tr.next = r\n"},
	{"the diagonal", "func Do(n, m int) (k int) {\n\tfor i := -1; i < n; i++ {\n\t\tfor j := -1; j < m; j++ {\n\t\t\tif i < 3 {\n\t\t\t\tk++\n\t\t\t}\n\t\t}\n\t}\n\treturn k\n}\n", "(i != 0 || j != 0) {"},
	{"an error with a reason", "import (\n\t\"errors\"\n\t\"fmt\"\n)\n\nvar ErrDone = errors.New(\"done\")\n\nfunc Do(n, m int) error {\n\terr := errors.New(fmt.Sprint(n))\n\tif err == nil {\n\t\treturn ErrDone\n\t}\n\treturn nil\n}\n", "return fmt.Errorf(\"%w: %w\", ErrDone, err)"},
}

// What was left out is proposed from what stands beside it.
func TestWhatIsLeftOut(t *testing.T) {
	for _, c := range leftOut {
		t.Run(c.name, func(t *testing.T) {
			_, after := proposals(t, "package m\n\n"+c.src, Hints{})
			for _, text := range after {
				if strings.Contains(text, c.want) {
					return
				}
			}
			t.Errorf("none of %d edits leads to %q", len(after), c.want)
		})
	}
}

// An edit after which a question has one answer only comes after all others,
// and a package's error is never assigned to.
func TestQuestionsAreKept(t *testing.T) {
	src := "package m\n\nimport \"errors\"\n\nvar ErrOdd = errors.New(\"odd\")\n\ntype point struct{ x, y int }\n\nfunc (p point) equal(o point) bool {\n\tif p.x != o.x {\n\t\treturn false\n\t}\n\treturn true\n}\n\n" +
		"func check(n int) error {\n\tif n%2 == 1 {\n\t\treturn ErrOdd\n\t}\n\treturn nil\n}\n\nfunc Do(n, m int) bool {\n\terr := check(n)\n\tlast := err\n\tlast = check(m)\n\treturn last == nil && point{n, m}.equal(point{m, n})\n}\n"
	edits, after := proposals(t, src, Hints{})
	weak, end := 0, 0.0
	for i, text := range after {
		_, rest, _ := strings.Cut(text, "equal(o point) bool {")
		body, rest, _ := strings.Cut(rest, "\n}\n")
		_, rest, _ = strings.Cut(rest, "check(n int) error {")
		body2, _, _ := strings.Cut(rest, "\n}\n")
		if strings.Count(body, "return") == strings.Count(body, "return true") || strings.Count(body2, "return") == strings.Count(body2, "return nil") {
			weak++
			end = max(end, edits[i].Weight)
		}
		if strings.Contains(text, "ErrOdd = check") {
			t.Errorf("an edit assigns to a package's error: %+v", edits[i])
		}
	}
	if weak < 2 {
		t.Fatalf("%d edits make a question constant, want the test to have some", weak)
	}
	if top := edits[0].Weight; end > top/10 {
		t.Errorf("an edit that makes a question constant weighs %.3f, the likeliest %.3f", end, top)
	}
}

// Where two functions have one body, one of them was copied and not changed.
func TestCopiesAreSuspected(t *testing.T) {
	base := "package m\n\nfunc left(i int) int { return 2*i + 1 }\n\nfunc right(i int) int { return BODY }\n\nfunc Do(n, m int) int { return left(n) * right(m) }\n"
	first := func(body, in string) int {
		edits, _ := proposals(t, strings.Replace(base, "BODY", body, 1), Hints{})
		for i, e := range edits {
			if strings.Contains(e.New, in) {
				return i
			}
		}
		t.Fatalf("no edit of %s", in)
		return 0
	}
	if copied, other := first("2*i + 1", "func right"), first("2*i + 2", "func right"); copied >= other {
		t.Errorf("the function that is a copy is edited first at place %d, one that is not at %d", copied, other)
	}
}
