package expr

import (
	"fmt"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// precedence decides which operands need parentheses: those that bind less
// tightly than their position requires.
type precedence int

const (
	loose precedence = iota + 1
	conjunction
	comparison
	operand
)

func (*Number) precedence() precedence   { return operand }
func (*Duration) precedence() precedence { return operand }
func (*String) precedence() precedence   { return operand }
func (*Bool) precedence() precedence     { return operand }
func (*Null) precedence() precedence     { return operand }
func (*Path) precedence() precedence     { return operand }
func (*Call) precedence() precedence     { return operand }
func (*Not) precedence() precedence      { return operand }
func (*Compare) precedence() precedence  { return comparison }
func (*And) precedence() precedence      { return conjunction }
func (*Or) precedence() precedence       { return loose }

func (n *Number) String() string { return n.Text }

func (n *Duration) String() string {
	if n.Text != "" {
		return n.Text
	}
	return FormatDuration(n.Value)
}

func (n *String) String() string {
	if n.Text != "" {
		return n.Text
	}
	return Quote(n.Value)
}

func (n *Bool) String() string { return strconv.FormatBool(n.Value) }

func (n *Null) String() string { return "null" }

func (n *Path) String() string {
	var b strings.Builder
	b.WriteString(n.Root)
	for _, k := range n.Keys {
		switch {
		case k.IsIndex:
			fmt.Fprintf(&b, "[%d]", k.Index)
		case isName(k.Name):
			b.WriteString("." + k.Name)
		default:
			b.WriteString("[" + Quote(k.Name) + "]")
		}
	}
	return b.String()
}

func (n *Call) String() string { return n.Func + "(" + join(n.Args, ", ", loose) + ")" }

func (n *Not) String() string { return "!" + bracket(n.X, operand) }

func (n *Compare) String() string {
	return bracket(n.X, operand) + " " + n.Op.String() + " " + bracket(n.Y, operand)
}

func (n *And) String() string { return join(n.Terms, " && ", comparison) }

func (n *Or) String() string { return join(n.Terms, " || ", conjunction) }

func join(nodes []Node, between string, least precedence) string {
	var b strings.Builder
	for i, n := range nodes {
		if i > 0 {
			b.WriteString(between)
		}
		b.WriteString(bracket(n, least))
	}
	return b.String()
}

func bracket(n Node, least precedence) string {
	if n.precedence() < least {
		return "(" + n.String() + ")"
	}
	return n.String()
}

// Quoted returns a list of strings as source, with commas between them.
func Quoted(list []string) string {
	all := make([]string, len(list))
	for i, s := range list {
		all[i] = Quote(s)
	}
	return strings.Join(all, ", ")
}

// Quote writes a string as a literal: in backquotes if it has a backslash and
// they are possible, which is more readable for regular expressions, else in
// double quotes. Invalid UTF-8 becomes U+FFFD.
func Quote(s string) string {
	s = strings.ToValidUTF8(s, string(utf8.RuneError))
	if strings.Contains(s, `\`) && !strings.ContainsFunc(s, func(r rune) bool { return r == '`' || isControl(r) }) {
		return "`" + s + "`"
	}
	var b strings.Builder
	b.WriteByte('"')
	for _, r := range s {
		switch {
		case r == '"' || r == '\\':
			b.WriteByte('\\')
			b.WriteRune(r)
		case r == '\n':
			b.WriteString(`\n`)
		case r == '\r':
			b.WriteString(`\r`)
		case r == '\t':
			b.WriteString(`\t`)
		case isControl(r):
			fmt.Fprintf(&b, `\u%04x`, r)
		default:
			b.WriteRune(r)
		}
	}
	b.WriteByte('"')
	return b.String()
}

// FormatDuration returns the shortest spelling of a duration: 2m where
// [time.Duration.String] returns 2m0s.
func FormatDuration(d time.Duration) string {
	if d <= 0 {
		return d.String()
	}
	var b strings.Builder
	if h := d / time.Hour; h > 0 {
		fmt.Fprintf(&b, "%dh", h)
	}
	if m := d % time.Hour / time.Minute; m > 0 {
		fmt.Fprintf(&b, "%dm", m)
	}
	if s := d % time.Minute; s > 0 {
		b.WriteString(s.String())
	}
	return b.String()
}

// isName reports whether s can follow a point in a path.
func isName(s string) bool {
	r, _ := utf8.DecodeRuneInString(s)
	if !isStart(r) || !utf8.ValidString(s) {
		return false
	}
	l := &lexer{src: []rune(s)}
	return l.name().src == s
}
