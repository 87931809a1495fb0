package meter

import (
	"bytes"
	"errors"
	"math"
	"strconv"
)

// Dollars rounds an amount to billionths of a dollar, the lowest price of a
// token, so that a sum of prices prints as an exact decimal.
func Dollars(amount float64) float64 {
	if math.Abs(amount) >= 1e6 { // a larger float has no such digits
		return amount
	}
	return math.Round(amount*1e9)/1e9 + 0 // adding 0 removes a negative zero
}

// A Decimal is a number that prints, also in JSON, with at most nine decimals
// and never with an exponent.
type Decimal float64

// String returns the number in full.
func (d Decimal) String() string { return string(d.append(nil)) }

func (d Decimal) append(b []byte) []byte {
	was := len(b)
	b = strconv.AppendFloat(b, Dollars(float64(d)), 'f', -1, 64)
	if point := bytes.IndexByte(b[was:], '.'); point >= 0 && len(b)-was-point > 10 {
		b = strconv.AppendFloat(b[:was], float64(d), 'f', 9, 64)
	}
	return b
}

// MarshalJSON writes the number in full.
func (d Decimal) MarshalJSON() ([]byte, error) {
	if f := float64(d); math.IsNaN(f) || math.IsInf(f, 0) {
		return nil, errors.New("JSON has no number " + strconv.FormatFloat(f, 'g', -1, 64))
	}
	return d.append(nil), nil
}
