package tool

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// decode reads arguments into a value. They were validated, so what can still
// go wrong is what a schema does not know: the size of an int, a leap second.
func decode[In any](args json.RawMessage) (In, error) {
	if len(bytes.TrimSpace(args)) == 0 {
		args = json.RawMessage(`{}`)
	}
	in, err := strict[In](args)
	if err == nil {
		return in, nil
	}
	// encoding/json wants an integer without point and exponent. It is not done
	// beforehand, since it would change numbers that are kept as written.
	if plain := plainIntegers(args); !bytes.Equal(plain, args) {
		if in, err := strict[In](plain); err == nil {
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

// plainIntegers writes each whole number of a JSON text without point and
// exponent: 1.0 as 1 and 2e3 as 2000.
func plainIntegers(doc []byte) []byte {
	out := make([]byte, 0, len(doc))
	for i := 0; i < len(doc); {
		from := i
		switch c := doc[i]; {
		case c == '"':
			for i++; i < len(doc) && doc[i] != '"'; i++ {
				if doc[i] == '\\' {
					i++
				}
			}
			i = min(i+1, len(doc))
			out = append(out, doc[from:i]...)
		case c == '-' || '0' <= c && c <= '9':
			for i < len(doc) && strings.IndexByte("+-.eE0123456789", doc[i]) >= 0 {
				i++
			}
			out = append(out, plainInteger(string(doc[from:i]))...)
		default:
			out = append(out, c)
			i++
		}
	}
	return out
}

// mostDigits is where a number is left as it is. No integer type of Go but
// big.Int has more than 20 digits, and 1e999999999 must not become text.
const mostDigits = 1000

func plainInteger(number string) string {
	mantissa, exponent, _ := strings.Cut(strings.ToLower(number), "e")
	shift := 0
	if exponent != "" {
		n, err := strconv.Atoi(exponent)
		if err != nil || n > mostDigits || n < -mostDigits {
			return number
		}
		shift = n
	}
	mantissa, negative := strings.CutPrefix(mantissa, "-")
	whole, fraction, _ := strings.Cut(mantissa, ".")
	digits := strings.TrimRight(whole+fraction, "0")
	zeros := len(whole) + shift - len(digits) // to put after what is left of the digits
	digits = strings.TrimLeft(digits, "0")
	switch {
	case digits == "":
		return "0"
	case zeros < 0 || len(digits)+zeros > mostDigits:
		return number
	case negative:
		digits = "-" + digits
	}
	return digits + strings.Repeat("0", zeros)
}
