package meter

import "math"

// Dollars rounds an amount to billionths of a dollar, the least that a token can
// cost, so that a sum of prices prints as the decimal that it is.
func Dollars(amount float64) float64 {
	if math.Abs(amount) >= 1e6 { // beyond, a float has no such digits
		return amount
	}
	return math.Round(amount*1e9) / 1e9
}
