package testfix

import (
	"go/parser"
	"go/token"
	"strings"
	"testing"
)

// Every edit within a function that can be called again has a copy there, and
// what is left out is left to a build of its own.
func TestSchemata(t *testing.T) {
	const text = `package m

func Sum(list ...int) (n int) {
	for _, v := range list {
		n += v
	}
	return n
}

func (s *set[K]) Add(k K, n int) { s.m[k] += n }

func Max[K int | string](a, b K) K {
	if a > b {
		return a
	}
	return b
}

var limit = 10

func ignores(_ int) int { return 1 }

func (set[K]) unnamed() int { return 2 }

func init() { limit = 11 }
`
	edits := []struct {
		from, to, want string // want is the call; empty when there is none
	}{
		{"n += v", "n -= v", "return Sum_pawlTried1(list...)"},
		{"return n", "return n + 1", "return Sum_pawlTried2(list...)"},
		{"+= n", "-= n", "s.Add_pawlTried3(k, n); return"},
		{"a > b", "a < b", "return Max_pawlTried4[K](a, b)"},
		{"limit = 10", "limit = 9", ""},
		{"return 1", "return 0", ""},
		{"return 2", "return 0", ""},
		{"limit = 11", "limit = 9", ""},
		{"(n int)", "(n int64)", ""},
	}
	var list []*candidate
	number := map[*candidate]int{}
	for i, e := range edits {
		if strings.Count(text, e.from) != 1 && e.from != "return n" {
			t.Fatalf("%q occurs more than once", e.from)
		}
		c := &candidate{files: map[string]string{"m.go": strings.Replace(text, e.from, e.to, 1)}}
		list = append(list, c)
		number[c] = i + 1
	}
	out, where, pkg, in := schemata(text, list, number, "m.go")
	if _, err := parser.ParseFile(token.NewFileSet(), "m.go", out, parser.SkipObjectResolution); err != nil || pkg != "m" {
		t.Fatalf("package %s: %v:\n%s", pkg, err, out)
	}
	copied := strings.Split(out, "\n")
	for i, e := range edits {
		if in[list[i]] != (e.want != "") {
			t.Errorf("edit %d is in: %v", i+1, in[list[i]])
		}
		if e.want != "" && !strings.Contains(out, " "+e.want+";") {
			t.Errorf("edit %d is not called by %q:\n%s", i+1, e.want, out)
		}
		for _, l := range where {
			if l.of == list[i] && !strings.Contains(strings.Join(copied[l.from-1:l.to], "\n"), e.to) {
				t.Errorf("edit %d is not on lines %d to %d:\n%s", i+1, l.from, l.to, out)
			}
		}
	}
	if strings.Count(out[:strings.Index(out, "pawlTried1(list ...int)")], "\n") < strings.Count(text, "\n") {
		t.Error("lines have moved")
	}
}
