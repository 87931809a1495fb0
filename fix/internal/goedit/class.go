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
