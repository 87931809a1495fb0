package wire

// A Sum is the 64-bit FNV-1a hash of the bytes added to it. It tells apart
// what one run saw, where no attacker gains by a collision; Digest is for the rest.
type Sum uint64

// NewSum is the Sum of nothing.
const NewSum Sum = 14695981039346656037

// Add adds bytes to the sum.
func (s *Sum) Add(b []byte) {
	for _, c := range b {
		*s = (*s ^ Sum(c)) * 1099511628211
	}
}

// Unvaried appends an error's text to b without the parts that vary with the
// arguments of a call: digits, and text between quotes.
func Unvaried(b []byte, text string) []byte {
	var quote byte
	for i := range len(text) {
		switch c := text[i]; {
		case quote != 0:
			if c == quote {
				quote = 0
			}
		case c == '"' || c == '`' || c == '\'' && (i == 0 || text[i-1] == ' '):
			quote = c
		case c < '0' || c > '9':
			b = append(b, c)
		}
	}
	return b
}

// A Turn is what a turn's calls did, what they came to, and what went wrong. Each is
// NewSum before the first Add.
type Turn struct{ Did, All, Fault Sum }

// NewTurn returns a Turn without calls.
func NewTurn() Turn { return Turn{NewSum, NewSum, NewSum} }

// Add adds a call with how it ended; fault says whether its error counts.
func (t *Turn) Add(tool string, args []byte, status byte, result []byte, err string, fault bool) {
	if same, err := Canonical(args); err == nil {
		args = same
	}
	for _, sum := range []*Sum{&t.Did, &t.All} {
		sum.Add([]byte(tool))
		sum.Add([]byte{0})
		sum.Add(args)
	}
	t.All.Add([]byte{0, status})
	t.All.Add(result)
	t.All.Add([]byte{0})
	t.All.Add([]byte(err))
	if fault {
		t.Fault.Add(Unvaried(append([]byte(tool), 0), err))
	}
}
