package explain

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/internal/figure"
	"github.com/pawl-run/pawl/internal/jsonin"
	"github.com/pawl-run/pawl/internal/terminal"
)

// A phrase is a line of this package's text with foreign text in it. Control
// characters, which clean removes from foreign text, mark where it begins and
// ends. The output format decides how to render the marks.
type phrase string

const (
	openName = '\x01' // a name or data
	openText = '\x02' // prose
	closing  = '\x03'
)

// name marks short foreign text: a tool, an id, arguments.
func name(s string) string { return mark(openName, s, 120) }

// said marks foreign prose.
func said(s string) string { return mark(openText, s, 240) }

// data marks JSON.
func data(raw json.RawMessage) string { return mark(openName, jsonin.Plain(raw), 160) }

func mark(open rune, s string, most int) string {
	return string(open) + shorten(oneLine(s), most) + string(closing)
}

func phrasef(format string, args ...any) phrase { return phrase(fmt.Sprintf(format, args...)) }

// plain renders the phrase for JSON: names bare, prose in quotes.
func (p phrase) plain() string {
	var b strings.Builder
	b.Grow(len(p))
	quoted := false
	for i := range len(p) {
		switch p[i] {
		case openName:
			quoted = false
		case openText:
			quoted = true
			b.WriteString("“")
		case closing:
			if quoted {
				b.WriteString("”")
			}
			quoted = false
		default:
			b.WriteByte(p[i])
		}
	}
	return b.String()
}

// markdown renders the phrase with all foreign text in code spans.
func (p phrase) markdown() string {
	var b strings.Builder
	rest := string(p)
	for {
		i := strings.IndexAny(rest, string(openName)+string(openText))
		if i < 0 {
			b.WriteString(rest)
			return b.String()
		}
		b.WriteString(rest[:i])
		body, after, _ := strings.Cut(rest[i+1:], string(closing))
		b.WriteString(span(body))
		rest = after
	}
}

// span returns a code span with the text, whatever backticks it contains.
func span(text string) string {
	if strings.TrimSpace(text) == "" {
		return "(empty)"
	}
	ticks := strings.Repeat("`", longestRun(text)+1)
	if strings.HasPrefix(text, "`") || strings.HasSuffix(text, "`") {
		text = " " + text + " "
	}
	return ticks + text + ticks
}

// fence returns a code block with the text, whatever fences it contains.
func fence(text string) string {
	ticks := strings.Repeat("`", max(3, longestRun(text)+1))
	return ticks + "text\n" + strings.TrimRight(text, "\n") + "\n" + ticks + "\n"
}

func longestRun(text string) (longest int) {
	run := 0
	for i := range len(text) {
		if text[i] != '`' {
			run = 0
			continue
		}
		run++
		longest = max(longest, run)
	}
	return longest
}

// clean removes characters that act on a terminal or deceive the reader: escape
// sequences, control characters, direction marks and invisible characters,
// except the two joiners that scripts and emoji need.
func clean(s string) string {
	return terminal.Without(terminal.Clean(breaks.Replace(s)), func(r rune) bool {
		return unicode.Is(unicode.Cf, r) && r != '\u200c' && r != '\u200d'
	})
}

// breaks are the characters that end a line.
var breaks = strings.NewReplacer("\r\n", "\n", "\r", "\n", "\u2028", "\n", "\u2029", "\n", "\u0085", "\n")

func oneLine(s string) string {
	if isLine(s) {
		return s
	}
	return strings.Join(strings.Fields(clean(s)), " ")
}

// isLine reports whether a text consists of printable ASCII words with single
// spaces, as most do.
func isLine(s string) bool {
	space := true
	for i := range len(s) {
		if s[i] < ' ' || s[i] > '~' || space && s[i] == ' ' {
			return false
		}
		space = s[i] == ' '
	}
	return !space || s == ""
}

// shorten keeps the beginning and the end of a text of more than most
// characters.
func shorten(s string, most int) string {
	if len(s) <= most || utf8.RuneCountInString(s) <= most {
		return s
	}
	r := []rune(s)
	head := most * 3 / 4
	return string(r[:head]) + " … " + string(r[len(r)-(most-head):])
}

func names(ids []string, most int) string {
	marked := make([]string, 0, min(len(ids), most+1))
	for _, id := range ids[:min(len(ids), most)] {
		marked = append(marked, name(id))
	}
	text := strings.Join(marked, ", ")
	if n := len(ids) - most; n > 0 {
		text += fmt.Sprintf(" and %s more", figure.Group(n))
	}
	return text
}

func stamp(t time.Time) string { return t.UTC().Format("2006-01-02 15:04:05 UTC") }

func dollars(v pawl.Decimal) string { return figure.Dollars(float64(v)) }
