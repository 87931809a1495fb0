package junit_test

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-run/pawl/fix/internal/junit"
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
		if err != nil {
			t.Fatal(err)
		}
		r, err := junit.Parse(f, "/project")
		if err := f.Close(); err != nil {
			t.Fatal(err)
		}
		if err != nil {
			t.Fatal(err)
		}
		var b strings.Builder
		for _, c := range r.Cases {
			fmt.Fprintf(&b, "%v %s", c.Status, c.ID())
			if len(c.At) > 0 {
				fmt.Fprintf(&b, " at %v", c.At)
			}
			b.WriteString("\n")
			for l := range strings.Lines(c.Output) {
				b.WriteString(strings.TrimRight("| "+l, " \n") + "\n")
			}
		}
		golden := strings.TrimSuffix(file, ".xml") + ".golden"
		if *rewrite {
			if err := os.WriteFile(golden, []byte(b.String()), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(golden)
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(string(want), b.String()); d != "" {
			t.Errorf("%s reads differently (-want +got):\n%s", file, d)
		}
	}
}

func TestParse(t *testing.T) {
	for _, c := range []struct{ name, xml, ids, err string }{
		{"another runner", `<testsuite><testcase classname="org.Sum" name="adds"/><testcase classname="org.Sum" name="halves"><failure message="no"/></testcase></testsuite>`,
			"passed org.Sum::adds, failed org.Sum::halves", ""},
		{"a class in a class", `<testsuite><testcase classname="t.test_a.A.B" name="test_c" file="t/test_a.py"/></testsuite>`, "passed t/test_a.py::A::B::test_c", ""},
		{"a failure after an error", `<testsuite><testcase file="a.py" classname="a" name="x"><error/></testcase><testcase file="a.py" classname="a" name="x"><failure/></testcase></testsuite>`,
			"failed a.py::x", ""},
		{"cut short", `<testsuite><testcase classname="a" name="x"/><testcase classname="a" na`, "passed a::x", "unexpected EOF"},
		{"empty", ``, "", "the file is empty"},
		{"something else", `{"no": "xml"}`, "", "the file is empty"},
	} {
		r, err := junit.Parse(strings.NewReader(c.xml), "")
		var ids []string
		for _, x := range r.Cases {
			ids = append(ids, x.Status.String()+" "+x.ID())
		}
		if got := strings.Join(ids, ", "); got != c.ids {
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
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	f.Add([]byte(`<testsuite><testcase name="a" file="../x"><failure>` + strings.Repeat("ä\n", 9000) + `</failure></testcase></testsuite>`))
	f.Fuzz(func(t *testing.T, data []byte) {
		r, err := junit.Parse(strings.NewReader(string(data)), "/project")
		seen := map[string]bool{}
		for _, c := range r.Cases {
			if id := c.ID(); seen[id] {
				t.Errorf("%q is there twice (%v)", id, err)
			} else {
				seen[id] = true
			}
			if len(c.Output) > 9<<10 || len(c.At) > 20 {
				t.Errorf("%q has %d bytes of output and %d places", c.ID(), len(c.Output), len(c.At))
			}
			if c.Status < junit.Passed || c.Status > junit.Errored {
				t.Errorf("%q is %v", c.ID(), c.Status)
			}
		}
	})
}
