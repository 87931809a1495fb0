package expr

import (
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

type kind int

const (
	end kind = iota + 1
	name
	number
	duration
	text
	sign
)

type token struct {
	kind  kind
	col   int
	src   string // as written
	value string // of a text, unescaped
	span  time.Duration
}

// describe names the token for an error.
func (t token) describe() string {
	switch t.kind {
	case end:
		return "the end"
	case text:
		return "the string " + t.src
	}
	return t.src
}

// signs are ordered so that no sign comes before a longer one with the same
// start.
var signs = []string{"&&", "||", "==", "!=", "<=", ">=", "<", ">", "!", "(", ")", "[", "]", ",", "."}

// slips maps operators of other languages to hints.
var slips = map[string]string{
	"=": `write == to compare`,
	"&": `write && for and`,
	"|": `write || for or`,
	"'": `strings are written in double quotes or backquotes`,
	"-": `there is no arithmetic`,
	"+": `there is no arithmetic`,
	"*": `there is no arithmetic`,
	"/": `there is no arithmetic`,
	"%": `there is no arithmetic`,
	"“": `strings are written in straight double quotes`,
	"”": `strings are written in straight double quotes`,
	"≥": `write >=`,
	"≤": `write <=`,
	"≠": `write !=`,
}

type lexer struct {
	src    []rune
	pos    int
	tokens []token
}

// lex splits source into tokens, the last of which is the end.
func lex(source string) ([]token, error) {
	l := &lexer{src: []rune(source)}
	for i, at := 0, 0; i < len(l.src); i++ {
		r, size := utf8.DecodeRuneInString(source[at:])
		if r == utf8.RuneError && size == 1 {
			return nil, Errorf(i+1, "invalid UTF-8")
		}
		at += size
	}
	for {
		for isBlank(l.peek(0)) {
			l.pos++
		}
		if l.pos == len(l.src) {
			return append(l.tokens, token{kind: end, col: l.pos + 1}), nil
		}
		t, err := l.next()
		if err != nil {
			return nil, err
		}
		l.tokens = append(l.tokens, t)
	}
}

// peek returns the rune n places ahead, or -1 beyond the end.
func (l *lexer) peek(n int) rune {
	if l.pos+n < len(l.src) {
		return l.src[l.pos+n]
	}
	return -1
}

func (l *lexer) next() (token, error) {
	switch r := l.peek(0); {
	case isStart(r):
		return l.name(), nil
	case isDigit(r), r == '-' && isDigit(l.peek(1)):
		return l.number()
	case r == '"':
		return l.quoted()
	case r == '`':
		return l.raw()
	}
	for _, s := range signs {
		if l.at(s) {
			t := token{kind: sign, col: l.pos + 1, src: s}
			l.pos += len(s)
			return t, nil
		}
	}
	r := string(l.src[l.pos])
	if hint, ok := slips[r]; ok {
		if r == "-" && l.peek(1) == '.' {
			hint = "write a zero before the point"
		}
		return token{}, Errorf(l.pos+1, "unexpected %s (%s)", r, hint)
	}
	return token{}, Errorf(l.pos+1, "unexpected character %s", strconv.QuoteRune(l.src[l.pos]))
}

func (l *lexer) at(s string) bool {
	for i := range len(s) {
		if l.peek(i) != rune(s[i]) {
			return false
		}
	}
	return true
}

func (l *lexer) name() token {
	start := l.pos
	for l.pos++; isPart(l.peek(0)) || l.peek(0) == '-' && isPart(l.peek(1)); {
		l.pos++
	}
	return token{kind: name, col: start + 1, src: string(l.src[start:l.pos])}
}

// number scans a JSON number, or a duration when letters follow the digits.
func (l *lexer) number() (token, error) {
	start := l.pos
	negative := l.peek(0) == '-'
	if negative {
		l.pos++
	}
	zero := l.peek(0) == '0' && isDigit(l.peek(1))
	l.digits()
	if l.peek(0) == '.' && isDigit(l.peek(1)) {
		l.pos++
		l.digits()
	}
	if e := l.peek(0); e == 'e' || e == 'E' {
		if s := l.peek(1); isDigit(s) || (s == '+' || s == '-') && isDigit(l.peek(2)) {
			l.pos += 2
			l.digits()
		}
	}
	if r := l.peek(0); !isPart(r) && r != '.' {
		t := token{kind: number, col: start + 1, src: string(l.src[start:l.pos])}
		if zero {
			return token{}, Errorf(t.col, "the number %s begins with a needless zero", t.src)
		}
		return t, nil
	}
	for isPart(l.peek(0)) || l.peek(0) == '.' {
		l.pos++
	}
	t := token{kind: duration, col: start + 1, src: string(l.src[start:l.pos])}
	span, err := time.ParseDuration(t.src)
	if err != nil {
		return token{}, Errorf(t.col, "%s is neither a number nor a duration (write 30, 0.5, 30s, 2m or 1h30m)", t.src)
	}
	if negative {
		return token{}, Errorf(t.col, "the duration %s is negative", t.src)
	}
	t.span = span
	return t, nil
}

func (l *lexer) digits() {
	for isDigit(l.peek(0)) {
		l.pos++
	}
}

// quoted scans a double-quoted string. Its escapes are those of JSON except \b
// and \f: these, and a backslash before any other character, stay unchanged. So
// a regular expression means the same with single or double backslashes.
func (l *lexer) quoted() (token, error) {
	start := l.pos
	var b strings.Builder
	for l.pos++; ; l.pos++ {
		switch r := l.peek(0); {
		case r == -1:
			return token{}, Errorf(start+1, `this string has no closing "`)
		case isControl(r):
			return token{}, Errorf(l.pos+1, `a string cannot hold a line break or control character (write \n, \t or \u%04x)`, r)
		case r == '"':
			l.pos++
			return token{kind: text, col: start + 1, src: string(l.src[start:l.pos]), value: b.String()}, nil
		case r == '\\':
			if err := l.escape(&b); err != nil {
				return token{}, err
			}
		default:
			b.WriteRune(r)
		}
	}
}

// escape leaves the position on the last rune of the escape.
func (l *lexer) escape(b *strings.Builder) error {
	switch r := l.peek(1); r {
	case '"', '\\', '/':
		b.WriteRune(r)
	case 'n':
		b.WriteByte('\n')
	case 'r':
		b.WriteByte('\r')
	case 't':
		b.WriteByte('\t')
	case 'u':
		return l.unicode(b)
	default:
		b.WriteByte('\\')
		return nil
	}
	l.pos++
	return nil
}

func (l *lexer) unicode(b *strings.Builder) error {
	column := l.pos + 1
	r, ok := l.hex()
	if !ok {
		return Errorf(column, `\u is followed by four hexadecimal digits (or write \\u)`)
	}
	l.pos += 5
	if utf16.IsSurrogate(r) {
		l.pos++
		low, ok := l.hex()
		r = utf16.DecodeRune(r, low)
		if !ok || r == unicode.ReplacementChar {
			return Errorf(column, "half of a surrogate pair")
		}
		l.pos += 5
	}
	b.WriteRune(r)
	return nil
}

// hex reads \uXXXX at the position without moving it.
func (l *lexer) hex() (rune, bool) {
	if !l.at(`\u`) || l.pos+6 > len(l.src) {
		return 0, false
	}
	n, err := strconv.ParseUint(string(l.src[l.pos+2:l.pos+6]), 16, 16)
	return rune(n), err == nil
}

func (l *lexer) raw() (token, error) {
	start := l.pos
	for l.pos++; ; l.pos++ {
		switch r := l.peek(0); {
		case r == -1:
			return token{}, Errorf(start+1, "this string has no closing `")
		case isControl(r):
			return token{}, Errorf(l.pos+1, "a string cannot hold a line break or control character (double quotes have escapes for them)")
		case r == '`':
			l.pos++
			src := string(l.src[start:l.pos])
			return token{kind: text, col: start + 1, src: src, value: src[1 : len(src)-1]}, nil
		}
	}
}

func isBlank(r rune) bool   { return r == ' ' || r == '\t' || r == '\n' || r == '\r' }
func isDigit(r rune) bool   { return '0' <= r && r <= '9' }
func isStart(r rune) bool   { return r == '_' || unicode.IsLetter(r) }
func isPart(r rune) bool    { return isStart(r) || unicode.IsDigit(r) || unicode.IsMark(r) }
func isControl(r rune) bool { return 0 <= r && r < ' ' || r == 0x7f }
