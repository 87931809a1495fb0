package naming

import (
	"fmt"
	"regexp"
	"regexp/syntax"
	"sync"
)

// The limits. An instruction takes up to 20 ns for each byte of a text, so a
// match takes about a second at most.
const (
	mostInstructions = 5000
	mostSteps        = 50_000_000
)

// A Pattern is a compiled regular expression from an untrusted source, whose work is bounded. Package regexp
// needs time proportional to the size of the expression times the length of the text, and a match cannot be
// interrupted: 9,900 instructions on 900 kB take minutes.
//
// A Pattern is safe for concurrent use.
type Pattern struct {
	re   *regexp.Regexp
	size int
}

// CompilePattern compiles an expression in the syntax of package regexp. An expression
// of more than 5,000 instructions is an error.
func CompilePattern(expr string) (*Pattern, error) {
	tree, err := syntax.Parse(expr, syntax.Perl)
	if err != nil {
		return nil, err
	}
	program, err := syntax.Compile(tree.Simplify())
	if err != nil {
		return nil, err
	}
	size := len(program.Inst)
	if size > mostInstructions {
		return nil, fmt.Errorf("the regular expression is too large: its %d instructions are more than %d; repeat less in it", size, mostInstructions)
	}
	re, err := regexp.Compile(expr)
	if err != nil {
		return nil, err
	}
	return &Pattern{re, size}, nil
}

// Size returns the number of instructions.
func (p *Pattern) Size() int { return p.size }

// Reach returns the length in bytes of the longest text that the pattern is
// matched against.
func (p *Pattern) Reach() int { return mostSteps / p.size }

// MatchString reports whether a text matches. A text longer than Reach does
// not.
func (p *Pattern) MatchString(text string) bool {
	return len(text) <= p.Reach() && p.re.MatchString(text)
}

// FindString returns the leftmost match in a text; empty: there is none, or the
// text is longer than Reach.
func (p *Pattern) FindString(text string) string {
	if len(text) > p.Reach() {
		return ""
	}
	return p.re.FindString(text)
}

// String returns the expression.
func (p *Pattern) String() string { return p.re.String() }

// Regexp is regexp.MustCompile at the first call: a process uses few of the hundred expressions that it has.
func Regexp(expr string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expr) })
}

// ToolName matches the names that tools may have.
var ToolName = Regexp(`^[a-zA-Z0-9_-]{1,64}$`)
