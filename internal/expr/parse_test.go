package expr

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/datadriven"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// TestParse reads testdata/parse: each case shows the canonical source and the
// tree with its columns, or the error.
func TestParse(t *testing.T) {
	datadriven.RunTest(t, "testdata/parse", func(t *testing.T, d *datadriven.TestData) string {
		n, err := Parse(d.Input)
		if err != nil {
			return err.Error()
		}
		return n.String() + "\n" + tree(n)
	})
}

// tree writes a node as KIND@COLUMN(children).
func tree(n Node) string {
	label := ""
	switch n := n.(type) {
	case *String:
		label = fmt.Sprintf("%q", n.Value)
	case *Duration:
		label = n.Value.String()
	case *Call:
		label = n.Func
	case *Compare:
		label = n.Op.String()
	case *Number, *Bool, *Null, *Path:
		label = n.String()
	case *Not:
		label = "!"
	case *And:
		label = "&&"
	case *Or:
		label = "||"
	}
	s := fmt.Sprintf("%s@%d", label, n.Column())
	if c := children(n); len(c) > 0 {
		parts := make([]string, len(c))
		for i := range c {
			parts[i] = tree(c[i])
		}
		s += "(" + strings.Join(parts, " ") + ")"
	}
	return s
}

func TestParseBounds(t *testing.T) {
	deep := func(open string, n int, last string) string {
		return strings.Repeat(open, n) + "a" + strings.Repeat(last, n)
	}
	for _, c := range []struct {
		name, source, want string
	}{
		{"parentheses", deep("(", MaxDepth-1, ")"), ""},
		{"too many parentheses", deep("(", MaxDepth, ")"), "column 101: nested more than 100 deep"},
		{"negations", deep("!", MaxDepth-1, ""), ""},
		{"too many negations", deep("!", MaxDepth, ""), "column 101: nested more than 100 deep"},
		{"calls", deep("f(", MaxDepth-1, ")"), ""},
		{"too many calls", deep("f(", MaxDepth, ")"), "column 201: nested more than 100 deep"},
		{"a long chain is not deep", strings.Repeat("a && ", 5000) + "a", ""},
		{"long", `"` + strings.Repeat("x", MaxSource-2) + `"`, ""},
		{"too long", `"` + strings.Repeat("x", MaxSource-1) + `"`, "column 1: the expression has 65537 bytes (65536 are allowed)"},
		{"too long when printed", strings.Repeat("a<b&&", 12000) + "c", "column 1: the expression has 108001 bytes when blanks are added (65536 are allowed)"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := Parse(c.source)
			if got := message(err); got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

func message(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

// A tree that a program puts together prints what parses back to it.
func TestPrintBuilt(t *testing.T) {
	path := func(root string, keys ...Key) *Path { return &Path{Root: root, Keys: keys} }
	a, b, c := path("a"), path("b"), path("c")
	for want, n := range map[string]Node{
		"a && (b || c)":   &And{Terms: []Node{a, &Or{Terms: []Node{b, c}}}},
		"a && b || c":     &Or{Terms: []Node{&And{Terms: []Node{a, b}}, c}},
		"!(a == b)":       &Not{X: &Compare{Op: Eq, X: a, Y: b}},
		"!a == b":         &Compare{Op: Eq, X: &Not{X: a}, Y: b},
		"a < (b >= c)":    &Compare{Op: Lt, X: a, Y: &Compare{Op: Ge, X: b, Y: c}},
		"(a || b) != c":   &Compare{Op: Ne, X: &Or{Terms: []Node{a, b}}, Y: c},
		"f(a || b, !c)":   &Call{Func: "f", Args: []Node{&Or{Terms: []Node{a, b}}, &Not{X: c}}},
		`a.x-1["-"][2]`:   path("a", Key{Name: "x-1"}, Key{Name: "-"}, Key{Index: 2, IsIndex: true}),
		`a["1st"][""]`:    path("a", Key{Name: "1st"}, Key{Name: ""}),
		"f(`\\d`, \"é\")": &Call{Func: "f", Args: []Node{&String{Value: `\d`}, &String{Value: "é"}}},
		"f(1h5s, 1m, 0s)": &Call{Func: "f", Args: []Node{&Duration{Value: time.Hour + 5*time.Second}, &Duration{Value: time.Minute}, &Duration{}}},
	} {
		t.Run(want, func(t *testing.T) {
			if got := n.String(); got != want {
				t.Errorf("got %s", got)
			}
			back, err := Parse(want)
			must(t, err)
			if diff := cmp.Diff(n, back, ignoreSpelling, cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("parsed back (-built +parsed):\n%s", diff)
			}
		})
	}
}

// ignoreSpelling compares trees by what they mean, not by where they stood or
// how a literal was spelled.
var ignoreSpelling = cmp.Options{
	cmpopts.IgnoreTypes(At(0)),
	cmpopts.IgnoreFields(String{}, "Text"),
	cmpopts.IgnoreFields(Duration{}, "Text"),
}

func TestQuote(t *testing.T) {
	for in, want := range map[string]string{
		``:              `""`,
		`plain`:         `"plain"`,
		`say "hi"`:      `"say \"hi\""`,
		`\d+`:           "`\\d+`",
		"\\d`":          "\"\\\\d`\"",
		"\\d\n":         `"\\d\n"`,
		"\x00\x7f\t\r":  `"\u0000\u007f\t\r"`,
		"bad \xff utf8": "\"bad \uFFFD utf8\"",
	} {
		if got := Quote(in); got != want {
			t.Errorf("Quote(%q) = %s, want %s", in, got, want)
		}
	}
}

// FuzzParsePrint: parsing never panics, fails only with an *Error inside the
// source, and what a tree prints parses to the same tree and prints the same.
func FuzzParsePrint(f *testing.F) {
	for _, seed := range []string{
		`tool_called("submit_po", args.amount > 100) && confidence >= 0.9 || elapsed > 1h30m`,
		`!(a || b && c) == -1.5e+3`, "text_matches(`\\d\"`) || user_said(\"\\d\\u00e9\\ud83d\\ude00\\n\") > 2",
		`steps.fetch-data.output["a b"][0].x != null && true`, `((a < b)) == (c >= d)`, `f()`, `"\b\/\\"`, `0s <= 1.5h`,
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, source string) {
		n, err := Parse(source)
		if err != nil {
			var e *Error
			if !errors.As(err, &e) || e.Column < 1 || e.Column > len([]rune(source))+1 {
				t.Fatalf("error %v for %q", err, source)
			}
			return
		}
		printed := n.String()
		back, err := Parse(printed)
		if err != nil {
			t.Fatalf("%q printed %q: %v", source, printed, err)
		}
		if again := back.String(); again != printed {
			t.Fatalf("%q printed %q, then %q", source, printed, again)
		}
		if diff := cmp.Diff(n, back, cmpopts.IgnoreTypes(At(0))); diff != "" {
			t.Fatalf("%q printed %q, another tree:\n%s", source, printed, diff)
		}
	})
}
