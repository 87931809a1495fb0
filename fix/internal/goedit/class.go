package goedit

// class is a family of rules.
type class int

const (
	comparison class = iota + 1
	arithmetic
	boolean
	bounds
	negation
	step
	truth
	variable
	member
	function
	args
	guard
	dependent
	term
	jump
	missing
	order
	shadow
	literal
	alias
	wrong
)

// usual corrects the weights of the rules by how often an edit of a class was
// the right one among faults that chance had sown into the right texts of the
// modules of testdata/faults: set on a half of them, it held for the other.
func usual(c class) float64 {
	switch c {
	case truth, member:
		return 1.5
	case bounds, negation:
		return 1.2
	case guard, missing, alias:
		return 0.7
	}
	return 1
}

// leaning is what the runtime's messages say of the kind of fault: a factor for each class.
func (c *clues) leaning() map[class]float64 {
	out := map[class]float64{}
	for k := comparison; k <= wrong; k++ {
		out[k] = 1
	}
	for _, t := range []struct {
		said  bool
		times map[class]float64
	}{
		{c.outside, map[class]float64{bounds: 1.5, comparison: 1.5, step: 1.2, guard: 1.5, missing: 0.6}},
		{c.hangs, map[class]float64{comparison: 1.4, step: 1.5, negation: 1.2, bounds: 1.2}},
		{c.nilPointer || c.nilMap, map[class]float64{comparison: 1.5, negation: 1.4, boolean: 1.3, guard: 2, missing: 0.5}},
	} {
		if t.said {
			for k, by := range t.times {
				out[k] *= by
			}
		}
	}
	return out
}
