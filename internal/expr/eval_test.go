package expr

import (
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/datadriven"

	"github.com/pawl-run/pawl/internal/testkit/check"
)

// TestEval reads testdata/eval: "data" sets the values that names have, "eval"
// evaluates an expression, "holds" takes it as a condition, "check" checks it.
func TestEval(t *testing.T) {
	env := Env{Funcs: testFuncs}
	datadriven.RunTest(t, "testdata/eval", func(t *testing.T, d *datadriven.TestData) string {
		if d.Cmd == "data" {
			env.Values = decode(t, d.Input)
			return ""
		}
		n, err := Parse(d.Input)
		must(t, err)
		var v Value
		switch d.Cmd {
		case "eval":
			v, err = Eval(n, env)
		case "holds":
			v, err = Holds(n, env)
		case "check":
			v, err = "ok", Check(n, env)
		default:
			d.Fatalf(t, "unknown command %s", d.Cmd)
		}
		if err != nil {
			return err.Error()
		}
		return fmt.Sprintf("%v (%s)", v, describe(v))
	})
}

var testFuncs = map[string]func([]Value) (Value, error){
	"len": func(args []Value) (Value, error) {
		if len(args) != 1 {
			return nil, errors.New("takes one list")
		}
		list, _ := args[0].([]any)
		return len(list), nil
	},
	"broken": func([]Value) (Value, error) { return nil, errors.New("it is broken") },
}

func decode(t *testing.T, source string) map[string]Value {
	t.Helper()
	d := json.NewDecoder(strings.NewReader(source))
	d.UseNumber()
	var v map[string]Value
	must(t, d.Decode(&v))
	return v
}

// Values that a program hands in need not be json.Numbers.
func TestEvalGoNumbers(t *testing.T) {
	env := Env{Values: map[string]Value{"f": 0.1, "i": 10, "l": int64(1) << 62, "d": 90 * time.Second}}
	for _, source := range []string{
		`f == 0.1`, `f == 1e-1`, `i == 10.0`, `i > f`, `l == 4611686018427387904`, `l < 4611686018427387905`, `d > 1m`, `d == 1m30s`, `d != 90`,
	} {
		n, err := Parse(source)
		must(t, err)
		if holds, err := Holds(n, env); err != nil || !holds {
			t.Errorf("%s: %v, %v", source, holds, err)
		}
	}
}

// compareNumbers agrees with big.Rat where big.Rat can follow.
func TestCompareNumbersExactly(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	digits := func(n int) string {
		var b strings.Builder
		for range 1 + random.IntN(n) {
			b.WriteByte(byte('0' + random.IntN(3)))
		}
		return b.String()
	}
	number := func() string {
		s := digits(3)
		if random.IntN(3) == 0 {
			s = "-" + s
		}
		if random.IntN(2) == 0 {
			s += "." + digits(4)
		}
		if random.IntN(2) == 0 {
			s += fmt.Sprintf("e%+d", random.IntN(9)-4)
		}
		return s
	}
	for range 20000 {
		a, b := number(), number()
		x, _ := new(big.Rat).SetString(a)
		y, _ := new(big.Rat).SetString(b)
		if got, want := compareNumbers(a, b), x.Cmp(y); got != want {
			t.Fatalf("compare %s with %s: %d, want %d", a, b, got, want)
		}
	}
}

// FuzzEval: evaluating any expression over any data never panics, fails only
// with an *Error, and keeps !(a == b) and a != b the same.
func FuzzEval(f *testing.F) {
	f.Add(`x.a[0] == x["b"]`, `{"a":[1,2.0],"b":1.0}`)
	f.Add(`x < 1e99999999999999999999 && !x.y || len(x) >= 2`, `3`)
	f.Add(`x == null || x != "s"`, `[{"k":[]},null,true]`)
	f.Fuzz(func(t *testing.T, source, data string) {
		n, err := Parse(source)
		if err != nil {
			return
		}
		d := json.NewDecoder(strings.NewReader(data))
		d.UseNumber()
		var x any
		if d.Decode(&x) != nil {
			return
		}
		env := Env{Values: map[string]Value{"x": x}, Funcs: testFuncs}
		v, err := Eval(n, env)
		var e *Error
		if err != nil && (!errors.As(err, &e) || e.Column < 1) {
			t.Fatalf("%q over %s: %v", source, data, err)
		}
		if c, ok := n.(*Compare); ok && err == nil && c.Op == Eq {
			unequal, err := Eval(&Compare{At: c.At, Op: Ne, X: c.X, Y: c.Y}, env)
			if err != nil || unequal == v {
				t.Fatalf("%q is %v, with != %v, %v", source, v, unequal, err)
			}
		}
	})
}

var must = check.Must

func TestDidYouMean(t *testing.T) {
	if got, want := DidYouMean("price", []string{"tokens", "cost"}), " (there is cost, tokens)"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if got := DidYouMean("price", nil); got != "" {
		t.Errorf("got %q, want nothing", got)
	}
}
