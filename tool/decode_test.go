package tool

import (
	"bytes"
	"encoding/json"
	"math/big"
	"reflect"
	"strings"
	"testing"
)

// FuzzPlainIntegers checks that a document keeps its meaning when its whole
// numbers are written plainly, and that they are.
func FuzzPlainIntegers(f *testing.F) {
	for _, seed := range []string{
		`{"a":1.0,"b":[2e3,-0.0,0.5,1.50E+1,12e-1,120e-1]}`, `"1.0 \" 2.0"`, `-0`, `1e-999999999`, `0e999999999`, `{"1.0":"\\"}`,
		`100000000000000000000.000`, `1e1000`, `1e1001`, `5e-1`, `0.1e1`, `"é1.0"`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, doc []byte) {
		plain, err := plainIntegers(doc)
		if !json.Valid(doc) {
			return // only that it comes to an end
		}
		if err != nil || !json.Valid(plain) {
			t.Fatalf("%s became %s (%v)", doc, plain, err)
		}
		if a, b := meaning(t, doc), meaning(t, plain); !reflect.DeepEqual(a, b) {
			t.Fatalf("%s became %s: %v, %v", doc, plain, a, b)
		}
		if again, _ := plainIntegers(plain); !bytes.Equal(again, plain) {
			t.Fatalf("%s became %s and then %s", doc, plain, again)
		}
	})
}

// meaning decodes a document with numbers as the fractions they are.
func meaning(t *testing.T, doc []byte) any {
	d := json.NewDecoder(bytes.NewReader(doc))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		t.Fatal(err)
	}
	var exact func(any) any
	exact = func(v any) any {
		switch v := v.(type) {
		case json.Number:
			if _, exponent, _ := strings.Cut(strings.ToLower(string(v)), "e"); len(strings.TrimLeft(exponent, "+-0")) > 4 {
				if mantissa, _, _ := strings.Cut(strings.ToLower(string(v)), "e"); strings.Trim(mantissa, "-.0") == "" {
					return "0" // whatever the exponent
				}
				return string(v) // too much to write out, and so left as it is
			}
			r, ok := new(big.Rat).SetString(string(v))
			if !ok {
				t.Fatalf("%s is no number", v)
			}
			return strings.TrimSuffix(r.RatString(), "/1")
		case []any:
			for i := range v {
				v[i] = exact(v[i])
			}
		case map[string]any:
			for k := range v {
				v[k] = exact(v[k])
			}
		}
		return v
	}
	return exact(v)
}
