package explain

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/internal/display"
	"github.com/pawl-run/pawl/internal/naming"
	"github.com/pawl-run/pawl/internal/wire"
)

// A Phrase is a line of a report with text of models, tools and people in it.
// Control characters, which clean removes from that text, mark where it begins
// and ends: names and data differ from prose.
type Phrase string

const (
	openName, closeName = "\x01", "\x02" // a name or data
	openText, closeText = "\x03", "\x04" // prose
)

// name marks short foreign text: a tool, an id, arguments.
func name(s string) string { return openName + shorten(oneLine(s), 120) + closeName }

// said marks foreign prose.
func said(s string) string { return openText + shorten(oneLine(s), 240) + closeText }

// data marks JSON.
func data(raw json.RawMessage) string {
	return openName + shorten(oneLine(wire.Plain(raw)), 160) + closeName
}

// undecided marks the arguments of a call that somebody is to decide: each value is cut
// by itself.
func undecided(args json.RawMessage) string {
	return openName + display.Values(args, 120) + closeName
}

// phrasef formats a phrase, and keeps the marks in those among its arguments.
func phrasef(format string, args ...any) Phrase {
	for i, a := range args {
		if p, ok := a.(Phrase); ok {
			args[i] = string(p)
		}
	}
	return Phrase(fmt.Sprintf(format, args...))
}

var quotes = strings.NewReplacer(openName, "", closeName, "", openText, "“", closeText, "”")

// String returns the phrase with names bare and prose in quotes.
func (p Phrase) String() string { return quotes.Replace(string(p)) }

// MarshalText returns the phrase as String does.
func (p Phrase) MarshalText() ([]byte, error) { return []byte(p.String()), nil }

var foreign = naming.Regexp(`[\x01\x03]([^\x02\x04]*)[\x02\x04]`)

// markdown returns the phrase with all foreign text in code spans.
func (p Phrase) markdown() string {
	return foreign().ReplaceAllStringFunc(string(p), func(m string) string { return span(m[1 : len(m)-1]) })
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

// code returns the text, on one line, as a code span.
func code(text string) string { return span(oneLine(text)) }

// fence returns a code block with the text, whatever fences it contains.
func fence(text string) string {
	ticks := strings.Repeat("`", max(3, longestRun(text)+1))
	return ticks + "text\n" + strings.TrimRight(text, "\n") + "\n" + ticks + "\n"
}

func longestRun(text string) (longest int) {
	for strings.Contains(text, strings.Repeat("`", longest+1)) {
		longest++
	}
	return longest
}

// clean is [display.Visible] with line feeds for everything that ends a line.
func clean(s string) string { return display.Visible(breaks.Replace(s)) }

// breaks are the characters that end a line.
var breaks = strings.NewReplacer("\r\n", "\n", "\r", "\n", "\u2028", "\n", "\u2029", "\n", "\u0085", "\n")

func oneLine(s string) string { return strings.Join(strings.Fields(clean(s)), " ") }

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
	var marked []string
	for _, id := range ids[:min(len(ids), most)] {
		marked = append(marked, name(id))
	}
	text := strings.Join(marked, ", ")
	if n := len(ids) - most; n > 0 {
		text += fmt.Sprintf(" and %s more", display.Group(n))
	}
	return text
}

func stamp(t time.Time) string { return t.UTC().Format("2006-01-02 15:04:05 UTC") }

func dollars(v pawl.Decimal) string { return display.Dollars(float64(v)) }

// once adds a phrase that is not in the list yet.
func once(list []Phrase, p Phrase) []Phrase {
	if p == "" || slices.Contains(list, p) {
		return list
	}
	return append(list, p)
}

func join(parts []Phrase) (out Phrase) {
	for i, p := range parts {
		if i > 0 {
			out += "; "
		}
		out += p
	}
	return out
}

// by names who did something; empty: it is not known.
func by(who string) Phrase {
	if who == "" {
		return ""
	}
	return Phrase(" by " + name(person(who)))
}

// person formats an owner for people. An owner is opaque text, or JSON with a user, a
// host and a process id.
func person(owner string) string {
	if strings.HasPrefix(owner, "{") {
		return display.Holder(owner)
	}
	return cmp.Or(owner, "unknown")
}

// bare matches a word that needs no quoting in a shell.
var bare = naming.Regexp(`^[A-Za-z0-9_.:/@%+=,-]+$`)

// shell quotes a word for a POSIX shell.
func shell(word string) string {
	word = oneLine(word)
	if bare().MatchString(word) && !strings.HasPrefix(word, "-") {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}
