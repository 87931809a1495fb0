package guard

import (
	"math"
	"strconv"
)

// factors are the words for parts and multiples of a number.
var factors = map[string]float64{"half": 0.5, "third": 1. / 3, "quarter": 0.25, "double": 2, "twice": 2, "triple": 3}

// part reports whether a number is a part or multiple, in people's words, of a
// number that they named, to the cent.
func (s *speech) part(number string) bool {
	n, err := strconv.ParseFloat(number, 64)
	if err != nil {
		return false
	}
	for word, factor := range factors {
		if s.words[word] == nil {
			continue
		}
		for of := range s.numbers {
			if whole, err := strconv.ParseFloat(of, 64); err == nil && math.Round(whole*factor*100) == math.Round(n*100) {
				return true
			}
		}
	}
	return false
}
