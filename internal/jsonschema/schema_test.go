package jsonschema

import (
	"fmt"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"

	"github.com/pawl-run/pawl/internal/wire"
)

// TestValidate reads testdata/*: "compile" (with the argument closed) sets the
// schema, "validate" checks one document per line, and "loosen" loosens one schema per line.
func TestValidate(t *testing.T) {
	datadriven.Walk(t, "testdata", func(t *testing.T, path string) {
		var schema *Schema
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			var out strings.Builder
			switch d.Cmd {
			case "compile":
				var err error
				if schema, err = Compile([]byte(d.Input), &Options{Closed: d.HasArg("closed")}); err != nil {
					return err.Error() + "\n"
				}
				return "ok\n"
			case "validate":
				for line := range strings.Lines(d.Input) {
					line = strings.TrimSuffix(line, "\n")
					problems := schema.Validate([]byte(line))
					if problems == nil {
						fmt.Fprintf(&out, "ok\n")
					}
					for i, p := range problems {
						fmt.Fprintf(&out, "%s%s\n", strings.Repeat("  ", min(i, 1)), p)
					}
				}
				return out.String()
			case "loosen":
				for line := range strings.Lines(d.Input) {
					value, problem := decode([]byte(line))
					if problem != nil {
						t.Fatal(problem)
					}
					loose, _ := value.(map[string]any)
					removed := Loosen(loose)
					_, err := Compile([]byte(literal(loose)), nil)
					fmt.Fprintf(&out, "%v %s %v\n", removed, literal(loose), err)
				}
				return out.String()
			}
			t.Fatalf("unknown command %q", d.Cmd)
			return ""
		})
	})
}

func mustCompile(t testing.TB, schema string, o *Options) *Schema {
	t.Helper()
	s, err := Compile([]byte(schema), o)
	if err != nil {
		t.Fatalf("Compile(%s): %v", schema, err)
	}
	return s
}

func TestDepth(t *testing.T) {
	nest := func(n int) []byte {
		return []byte(strings.Repeat("[", n) + strings.Repeat("]", n))
	}
	s := mustCompile(t, `true`, nil)
	if p := s.Validate(nest(wire.MaxDepth)); p != nil {
		t.Errorf("at the limit: %v", p)
	}
	for _, n := range []int{wire.MaxDepth + 1, 100_000} {
		p := s.Validate(nest(n))
		if len(p) != 1 || !strings.Contains(p[0].Message, "deeper than 1000") {
			t.Errorf("%d levels: got %v", n, p)
		}
	}
	if p := s.Validate([]byte(`"` + strings.Repeat("[", 5000) + `"`)); p != nil {
		t.Errorf("brackets in a string: %v", p)
	}
}

func TestNumbers(t *testing.T) {
	// 1e9999999 makes the library dereference nil if it gets there.
	s := mustCompile(t, `{"minimum":0}`, nil)
	for _, doc := range []string{"1e9999999", "1e1001", "1e-1001", strings.Repeat("9", maxDigits+1), "1e99999999999999999999"} {
		if p := s.Validate([]byte(doc)); len(p) != 1 || !strings.Contains(p[0].Message, "1000 digits") {
			t.Errorf("%.20s: got %v", doc, p)
		}
	}
	for _, doc := range []string{"1e1000", strings.Repeat("9", maxDigits)} {
		if p := s.Validate([]byte(doc)); p != nil {
			t.Errorf("%.20s: got %v", doc, p)
		}
	}
	// Beyond the precision of a float64.
	s = mustCompile(t, `{"const":9007199254740993}`, nil)
	if p := s.Validate([]byte("9007199254740992")); p == nil {
		t.Error("9007199254740992 passes for 9007199254740993")
	}
}
