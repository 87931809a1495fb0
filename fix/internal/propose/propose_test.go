package propose_test

import (
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/pawl-run/pawl/fix/internal/gotest"
	"github.com/pawl-run/pawl/fix/internal/propose"
	"github.com/pawl-run/pawl/internal/testkit/check"
)

const code = `package m

import (
	"errors"
	"strings"
)

type node struct {
	left, right *node
	name        string
}

func Sum(list []int, from int) int {
	sum := 0
	for i := from; i < len(list); i++ {
		sum += list[i]
	}
	return sum - from
}

func Find(n *node, name string) (string, error) {
	if n.name == name && n.left != nil {
		return n.left.name, nil
	}
	err := check(name, n.name)
	if err != nil {
		name = strings.TrimLeft(name, "x")
	}
	return name, nil
}

func check(a, b string) error {
	if len(a) > 3 || a[:1] == b {
		return errors.New("no")
	}
	return nil
}

func Share(total, people int) (n int, ok bool) {
	if ok {
		n := total / people
		return n, true
	}
	return n, false
}
`

func load(t *testing.T, text string) *propose.Module {
	t.Helper()
	if _, err := exec.LookPath("go"); err != nil {
		if os.Getenv("CI") != "" {
			t.Fatal("the go command is not here, and CI must have it")
		}
		t.Skip("there is no go command to list packages with")
	}
	dir := t.TempDir()
	for name, text := range map[string]string{"go.mod": "module example.com/m\n\ngo 1.26\n", "m.go": text} {
		check.Must(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644))
	}
	list := exec.CommandContext(t.Context(), "go", append(slices.Clone(propose.ListFlags), "./...")...)
	list.Dir, list.Env = dir, append(os.Environ(), "GOWORK=off")
	out, err := list.Output()
	check.Must(t, err)
	m, err := propose.Load(string(out), dir, func(name string) ([]byte, error) { return os.ReadFile(filepath.Join(dir, name)) })
	check.Must(t, err)
	return m
}

// Each kind of edit is proposed where it fits, and its text parses.
func TestKinds(t *testing.T) {
	edits := load(t, code).Edits(propose.Hints{})
	var all strings.Builder
	for _, e := range edits {
		all.WriteString(e.String() + "\n")
		if _, err := parser.ParseFile(token.NewFileSet(), "", e.Apply([]byte(code)), 0); err != nil {
			t.Errorf("%s: %v", e, err)
		}
	}
	for _, want := range []string{
		"m.go:15 comparison: `<` → `<=`", "m.go:22 comparison: `==` → `!=`",
		"m.go:16 operator: `+=` → `-=`", "m.go:15 operator: `++` → `--`", "m.go:18 operator: `-` → `+`",
		"m.go:15 bound: nothing → `-1`", "m.go:16 bound: nothing → `+1`",
		"m.go:14 literal: `0` → `1`", "m.go:42 literal: `true` → `false`",
		"m.go:22 condition: `&&` → `||`", "m.go:40 condition: `ok` → `!(ok)`", "m.go:33 condition: `len(a) > 3 || a[:1] == b` → `a[:1] == b`",
		"m.go:15 name: `from` → `sum`", "m.go:23 name: `left` → `right`", "m.go:27 name: `TrimLeft` → `TrimRight`",
		"m.go:28 error: nothing → `return \"\", err`", "m.go:29 error: `nil` → `err`",
		"m.go:22 nil check: nothing → `if n == nil { return \"\", nil }`", "m.go:23 nil check: nothing → `if n.left == nil { return \"\", nil }`",
		"m.go:16 length check: nothing → `if i < 0 || i >= len(list) { return 0 }`", "m.go:41 length check: nothing → `if people == 0 { return 0, false }`",
		"m.go:18 operands: `sum - from` → `from - sum`",
		"m.go:25 arguments: `name, n.name` → `n.name, name`",
	} {
		if !strings.Contains(all.String(), want+"\n") {
			t.Errorf("lacks %s", want)
		}
	}
	if t.Failed() {
		t.Log(all.String())
	}
}

// What a failure names comes first, then what the test is named after. What the tests do not execute is left alone.
func TestOrder(t *testing.T) {
	m := load(t, code)
	h := propose.Hints{Failures: []gotest.Failure{{Package: "example.com/m", Test: "TestShare", Kind: gotest.KindPanic,
		Output: "panic: runtime error: integer divide by zero", Locations: []gotest.Location{{File: "m.go", Line: 41}}}}}
	edits := m.Edits(h)
	if first := edits[0].String(); first != "m.go:41 length check: nothing → `if people == 0 { return 0, false }`" {
		t.Errorf("the first edit is %s", first)
	}
	seen := 0
	for _, e := range edits {
		if inShare := e.Line > 38; inShare && seen > 0 {
			t.Errorf("%s comes after edits of other functions", e)
		} else if !inShare {
			seen++
		}
	}
	h.Covered = map[string][]propose.Lines{"m.go": {{From: 40, To: 42}}}
	for _, e := range m.Edits(h) {
		if e.Line < 40 || e.Line > 42 {
			t.Errorf("%s is not executed", e)
		}
	}
}

// A name that is not declared is replaced by one that is.
func TestUndeclared(t *testing.T) {
	edits := load(t, "package m\n\nfunc Twice(n int) int { return n + m }\n").Edits(propose.Hints{
		Failures: []gotest.Failure{{Package: "example.com/m", Kind: gotest.KindBuild, Locations: []gotest.Location{{File: "m.go", Line: 3}}}},
		Covered:  map[string][]propose.Lines{},
	})
	if !slices.ContainsFunc(edits, func(e propose.Edit) bool { return e.String() == "m.go:3 name: `m` → `n`" }) {
		t.Errorf("proposed: %v", edits)
	}
}
