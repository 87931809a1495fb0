package junit_test

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-run/pawl/fix/internal/gotest"
	"github.com/pawl-run/pawl/fix/internal/junit"
	"github.com/pawl-run/pawl/internal/testkit/check"
)

var rewrite = flag.Bool("rewrite", false, "write the golden files again")

// The files are pytest's own, of version 7.2, with its directory replaced.
func TestRecorded(t *testing.T) {
	files, err := filepath.Glob("testdata/*.xml")
	if err != nil || len(files) == 0 {
		t.Fatalf("no recorded files: %v", err)
	}
	for _, file := range files {
		f, err := os.Open(file)
		must(t, err)
		r, err := junit.Parse(f, "/project")
		must(t, f.Close())
		must(t, err)
		var b strings.Builder
		b.WriteString(strings.Join(verdicts(r), "\n") + "\n")
		for _, f := range r.Failures {
			fmt.Fprintf(&b, "%s (%v) at %v\n", f.ID, f.Kind, f.Locations)
			for l := range strings.Lines(f.Output) {
				b.WriteString(strings.TrimRight("| "+l, " \n") + "\n")
			}
		}
		golden := strings.TrimSuffix(file, ".xml") + ".golden"
		if *rewrite {
			must(t, os.WriteFile(golden, []byte(b.String()), 0o644))
		}
		want, err := os.ReadFile(golden)
		must(t, err)
		if d := cmp.Diff(string(want), b.String()); d != "" {
			t.Errorf("%s reads differently (-want +got):\n%s", file, d)
		}
	}
}

func TestParse(t *testing.T) {
	for _, c := range []struct{ name, xml, ids, err string }{
		{"another runner", `<testsuite><testcase classname="org.Sum" name="adds"/><testcase classname="org.Sum" name="halves"><failure message="no"/></testcase></testsuite>`,
			"pass org.Sum::adds, fail org.Sum::halves", ""},
		{"a class in a class", `<testsuite><testcase classname="t.test_a.A.B" name="test_c" file="t/test_a.py"/></testsuite>`, "pass t/test_a.py::A::B::test_c", ""},
		{"a failure after an error", `<testsuite><testcase file="a.py" classname="a" name="x"><error/></testcase><testcase file="a.py" classname="a" name="x"><failure/></testcase></testsuite>`,
			"fail a.py::x", ""},
		{"cut short", `<testsuite><testcase classname="a" name="x"/><testcase classname="a" na`, "pass a::x", "unexpected EOF"},
		{"empty", ``, "", "the file is empty"},
		{"something else", `{"no": "xml"}`, "", "the file is empty"},
	} {
		r, err := junit.Parse(strings.NewReader(c.xml), "")
		if got := strings.Join(verdicts(r), ", "); got != c.ids {
			t.Errorf("%s: %s, want %s", c.name, got, c.ids)
		}
		if (err == nil) != (c.err == "") || err != nil && !strings.Contains(err.Error(), c.err) {
			t.Errorf("%s: error %v, want %q", c.name, err, c.err)
		}
	}
}

// Whatever a file holds, reading it ends, each test is named once, and no text
// is longer than is promised.
func FuzzParse(f *testing.F) {
	for _, name := range []string{"mixed", "collect", "none"} {
		data, err := os.ReadFile("testdata/" + name + ".xml")
		must(f, err)
		f.Add(data)
	}
	f.Add([]byte(`<testsuite><testcase name="a" file="../x"><failure>` + strings.Repeat("ä\n", 9000) + `</failure></testcase></testsuite>`))
	f.Fuzz(func(t *testing.T, data []byte) {
		r, err := junit.Parse(strings.NewReader(string(data)), "/project")
		seen := map[string]bool{}
		for _, p := range r.Packages {
			for _, test := range p.Tests {
				if id := p.ID(test.Name); seen[id] {
					t.Errorf("%q is there twice (%v)", id, err)
				} else {
					seen[id] = true
				}
			}
		}
		for _, x := range r.Failures {
			if len(x.Output) > 9<<10 || len(x.Locations) > 20 {
				t.Errorf("%q has %d bytes of output and %d places", x.ID, len(x.Output), len(x.Locations))
			}
		}
	})
}

func verdicts(r gotest.Report) (list []string) {
	for _, p := range r.Packages {
		for _, t := range p.Tests {
			list = append(list, string(t.Status)+" "+p.ID(t.Name))
		}
	}
	return list
}

var must = check.Must
