package expr

import (
	"cmp"
	"encoding/json"
	"math"
	"math/big"
	"strconv"
	"strings"
)

// asNumber is the decimal text of a number from decoded JSON or from a
// program, false for what is no finite number.
func asNumber(v Value) (string, bool) {
	switch v := v.(type) {
	case json.Number:
		return string(v), true
	case float64:
		return strconv.FormatFloat(v, 'g', -1, 64), !math.IsNaN(v) && !math.IsInf(v, 0)
	case int:
		return strconv.Itoa(v), true
	case int64:
		return strconv.FormatInt(v, 10), true
	}
	return "", false
}

// compareNumbers orders two JSON numbers by value, exactly. Going through
// float64 would make 2^53 and 2^53+1 equal; going through big.Rat would let
// nine bytes such as 1e9999999 ask for a megabyte.
func compareNumbers(a, b string) int {
	if x, err := strconv.ParseInt(a, 10, 64); err == nil {
		if y, err := strconv.ParseInt(b, 10, 64); err == nil {
			return cmp.Compare(x, y)
		}
	}
	x, y := parseDecimal(a), parseDecimal(b)
	if x.sign != y.sign || x.sign == 0 {
		return cmp.Compare(x.sign, y.sign)
	}
	if c := x.exponent.Cmp(y.exponent); c != 0 {
		return x.sign * c
	}
	// Both are 0.DIGITS times the same power of ten, so that DIGITS order as
	// text does: the one that ends first goes on in zeros.
	return x.sign * strings.Compare(x.digits, y.digits)
}

// decimal is sign * 0.digits * 10^exponent, with neither a leading nor a
// trailing zero in digits.
type decimal struct {
	sign     int
	digits   string
	exponent *big.Int
}

func parseDecimal(s string) decimal {
	d := decimal{sign: 1, exponent: new(big.Int)}
	if rest, ok := strings.CutPrefix(s, "-"); ok {
		d.sign, s = -1, rest
	}
	if i := strings.IndexAny(s, "eE"); i >= 0 {
		d.exponent.SetString(strings.TrimPrefix(s[i+1:], "+"), 10)
		s = s[:i]
	}
	whole, fraction, _ := strings.Cut(s, ".")
	significant := strings.TrimLeft(whole+fraction, "0")
	leading := len(whole) + len(fraction) - len(significant)
	d.exponent.Add(d.exponent, big.NewInt(int64(len(whole)-leading)))
	d.digits = strings.TrimRight(significant, "0")
	if d.digits == "" {
		return decimal{exponent: new(big.Int)}
	}
	return d
}
