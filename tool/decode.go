package tool

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/big"
	"strconv"
	"strings"
)

// decode decodes arguments into a value. They were validated, so only what a schema does not
// express can still fail: the size of an int, a leap second.
func decode[In any](args json.RawMessage) (In, error) {
	if len(bytes.TrimSpace(args)) == 0 {
		args = json.RawMessage(`{}`)
	}
	in, err := strict[In](args)
	if err == nil {
		return in, nil
	}
	// encoding/json wants an integer without point and exponent. Rewriting is the
	// second choice, since it would change numbers that are kept as written.
	if plain, bad := plainIntegers(args); bad == nil {
		if in, bad := strict[In](plain); bad == nil {
			return in, nil
		}
	}
	var zero In
	var wrong *json.UnmarshalTypeError
	if errors.As(err, &wrong) && wrong.Field != "" {
		return zero, fmt.Errorf("argument %s: %s does not fit type %s", wrong.Field, wrong.Value, wrong.Type)
	}
	return zero, fmt.Errorf("arguments: %w", err)
}

func strict[In any](args []byte) (in In, err error) {
	d := json.NewDecoder(bytes.NewReader(args))
	d.DisallowUnknownFields()
	d.UseNumber()
	if err := d.Decode(&in); err != nil {
		return in, err
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return in, errors.New("there is more after the object")
	}
	return in, nil
}

// plainIntegers writes each integer of a document without point and exponent: 1.0 as 1 and 2e3
// as 2000.
func plainIntegers(doc []byte) ([]byte, error) {
	tree, err := strict[any](doc)
	if err != nil {
		return nil, err
	}
	return json.Marshal(plainly(tree))
}

func plainly(v any) any {
	switch v := v.(type) {
	case json.Number:
		_, exponent, _ := strings.Cut(strings.ToLower(string(v)), "e")
		if len(v) > mostDigits || len(strings.TrimLeft(exponent, "+-0")) >= len(strconv.Itoa(mostDigits)) {
			return v
		}
		if n, ok := new(big.Rat).SetString(string(v)); ok && n.IsInt() {
			return json.Number(n.Num().String())
		}
	case map[string]any:
		for key, value := range v {
			v[key] = plainly(value)
		}
	case []any:
		for i, value := range v {
			v[i] = plainly(value)
		}
	}
	return v
}

// mostDigits bounds the digits of a number that is rewritten. No integer type of Go but big.Int
// has more than 20 digits, and 1e999999999 must not be written out.
const mostDigits = 1000
