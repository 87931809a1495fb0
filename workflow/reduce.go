package workflow

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"math/big"

	"github.com/pawl-run/pawl/internal/excerpt"
)

// merged returns one object with the members of all.
func merged(list []any) (any, error) {
	all := map[string]any{}
	for _, v := range list {
		m, ok := v.(map[string]any)
		if !ok && v != nil {
			return nil, fmt.Errorf("reduce merge: an output is no object: %s", brief(v))
		}
		maps.Copy(all, m)
	}
	return all, nil
}

// sum adds numbers without loss.
func sum(list []any) (any, error) {
	total := new(big.Rat)
	for _, v := range list {
		if v == nil { // of a node that was skipped
			continue
		}
		n, ok := v.(json.Number)
		f, err := n.Float64()
		if !ok || err != nil {
			return nil, fmt.Errorf("reduce sum: an output is no number: %s", brief(v))
		}
		if r, ok := new(big.Rat).SetString(n.String()); ok && math.Abs(f) > 1e-300 { // less would be a very long number
			total.Add(total, r)
		}
	}
	digits, _ := total.FloatPrec()
	return json.Number(total.FloatString(digits)), nil
}

// brief shows a value in an error.
func brief(v any) string {
	text, err := encode(v)
	if err != nil {
		return "?"
	}
	return excerpt.Clip(text, 80)
}
