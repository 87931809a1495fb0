package tool_test

import (
	"context"
	"encoding/json"
	"math"
	"math/big"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/tool"
)

func TestResults(t *testing.T) {
	type point struct {
		X int     `json:"x"`
		P *string `json:"p"`
	}
	var none *point
	for _, c := range []struct {
		name   string
		result any
		want   string
	}{
		{"string", "a <b> & \"c\"\n", `"a <b> & \"c\"\n"`},
		{"string that is no UTF-8", "a\xff\xfeb", `"a\ufffd\ufffdb"`},
		{"string that looks like JSON", `{"a":1}`, `"{\"a\":1}"`},
		{"empty string", "", `""`},
		{"raw", json.RawMessage(`{"n":1.0,"a":1e400}`), `{"n":1.0,"a":1e400}`},
		{"raw that is no UTF-8", json.RawMessage("\"a\xff\xfeb\""), `"a` + "\uFFFD" + `b"`},
		{"raw nothing", json.RawMessage(nil), `null`},
		{"nil", nil, `null`},
		{"nil pointer", none, `null`},
		{"struct", point{X: 1}, `{"x":1,"p":null}`},
		{"marshalled without escapes", map[string]string{"k": "<&>"}, `{"k":"<&>"}`},
		{"number", 1e21, `1e+21`},
		{"big number", new(big.Int).Lsh(big.NewInt(1), 80), `1208925819614629174706176`},
		{"bytes", []byte("hi"), `"aGk="`},
		{"output", pawl.Output{JSON: json.RawMessage(`1`), Files: []pawl.File{{Type: "image/png"}}}, `1`},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := tool.Func("f", "F.", func(context.Context, struct{}) (any, error) { return c.result, nil }, pawl.Read)
			out, err := f.Run(t.Context(), pawl.Invocation{Args: json.RawMessage(`{}`)})
			if err != nil || string(out.JSON) != c.want || out.Truncated {
				t.Errorf("got %s, %v, want %s", out.JSON, err, c.want)
			}
			if o, ok := c.result.(pawl.Output); ok && len(out.Files) != len(o.Files) {
				t.Error("images are lost")
			}
		})
	}
	for _, c := range []struct {
		name   string
		result any
		want   string
	}{
		{"raw that is not JSON", json.RawMessage(`{`), "json.RawMessage that is not JSON"},
		{"not a number", math.NaN(), "cannot be written as JSON: json: unsupported value: NaN"},
		{"channel", struct{ C chan int }{}, "cannot be written as JSON: json: unsupported type: chan int"},
		{"too deep for the log", json.RawMessage(strings.Repeat("[", 1000) + strings.Repeat("]", 1000)), "nests deeper than 900 levels"},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := tool.Func("f", "F.", func(context.Context, struct{}) (any, error) { return c.result, nil }, pawl.Read)
			if out, err := f.Run(t.Context(), pawl.Invocation{}); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %s, %v, want %s", out.JSON, err, c.want)
			}
		})
	}
}

type numbers struct {
	I   int         `json:"i,omitempty"`
	U   uint8       `json:"u,omitempty"`
	F   float64     `json:"f,omitempty"`
	Big *big.Int    `json:"big,omitempty"`
	N   json.Number `json:"n,omitempty"`
	A   any         `json:"a,omitempty"`
	S   string      `json:"s,omitempty"`
}

func TestArguments(t *testing.T) {
	a := func(v any) numbers { return numbers{A: v} }
	for _, c := range []struct {
		args string
		want numbers
	}{
		{``, numbers{}},
		{`{}`, numbers{}},
		{`{"i":-3}`, numbers{I: -3}},
		{`{"i":1.0}`, numbers{I: 1}},
		{`{"i":-1.5e1,"u":2.50E+2}`, numbers{I: -15, U: 250}},
		{`{"i":9007199254740993.0}`, numbers{I: 1<<53 + 1}},
		{`{"u":-0}`, numbers{}},
		{`{"i":0.0e9,"s":"1.0 \" 2.0 \\"}`, numbers{S: `1.0 " 2.0 \`}},
		{`{"i":100e-2,"f":0.5}`, numbers{I: 1, F: 0.5}},
		{`{"big":1e30}`, numbers{Big: new(big.Int).Exp(big.NewInt(10), big.NewInt(30), nil)}},
		{`{"n":1.0,"a":{"x":[1.0,12345678901234567890]}}`, numbers{N: "1.0", A: map[string]any{"x": []any{json.Number("1.0"), json.Number("12345678901234567890")}}}},
		{`{"a":"x"}`, a("x")},
	} {
		got, err := call[numbers](t, c.args)
		if err != nil {
			t.Errorf("%s: %v", c.args, err)
		}
		if diff := cmp.Diff(c.want, got, cmp.Comparer(func(a, b *big.Int) bool { return a == b || a != nil && b != nil && a.Cmp(b) == 0 })); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.args, diff)
		}
	}
	for args, want := range map[string]string{
		`{"i":1.5}`:              "argument i: number 1.5 does not fit type int",
		`{"u":300}`:              "argument u: number 300 does not fit type uint8",
		`{"u":3e2}`:              "argument u: number 3e2 does not fit type uint8",
		`{"i":1e999999999}`:      "argument i: number 1e999999999 does not fit type int",
		`{"i":1e99999999999999}`: "argument i: number 1e99999999999999 does not fit type int",
		`{"s":1}`:                "argument s: number does not fit type string",
		`{"what":1}`:             `arguments: json: unknown field "what"`,
		`[]`:                     "arguments: json: cannot unmarshal array",
		`{} {}`:                  "arguments: there is more after the object",
		`{"s":"a`:                "arguments: unexpected EOF",
	} {
		if _, err := call[numbers](t, args); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%s: got %v, want %s", args, err, want)
		}
	}
	if got, err := call[map[string]any](t, `{"a":[1.0,"x"],"b":null}`); err != nil || cmp.Diff(map[string]any{"a": []any{json.Number("1.0"), "x"}, "b": nil}, got) != "" {
		t.Errorf("%v, %v", got, err)
	}
	if got, err := call[*numbers](t, ``); err != nil || got == nil {
		t.Errorf("a pointer to no arguments: %v, %v", got, err)
	}
}

// call gives arguments to a function and returns what it was called with.
func call[In any](t *testing.T, args string) (got In, err error) {
	t.Helper()
	f := tool.Func("f", "F.", func(_ context.Context, in In) (string, error) {
		got = in
		return "", nil
	}, pawl.Read)
	_, err = f.Run(t.Context(), pawl.Invocation{Args: json.RawMessage(args)})
	return got, err
}
