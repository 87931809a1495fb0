// Package markdown renders Markdown on a terminal while it is being written, as a
// model's answer is.
//
// It knows what models write: headings, lists, quotes, code, tables, emphasis and
// links. It reads line by line and shows a paragraph word by word: a parser of all of
// CommonMark needs a block's end before it can show its beginning.
package markdown

import (
	"bytes"
	"io"
	"regexp"
	"strings"

	"github.com/pawl-run/pawl/internal/display"
)

// The styles, as sequences of ECMA-48.
const (
	bold      = "\x1b[1m"
	dim       = "\x1b[2m"
	italic    = "\x1b[3m"
	underline = "\x1b[4m"
	struck    = "\x1b[9m"
	cyan      = "\x1b[36m"
	normal    = "\x1b[0m"
)

// A Writer renders the Markdown that is written to it. Characters that a terminal
// interprets are removed from the text, so that the output controls the terminal only
// as the Writer does. A Writer is not safe for concurrent use.
type Writer struct {
	w      io.Writer
	width  int
	colour bool
	err    error // the first of w

	text  []byte   // of the line that is not complete
	fence string   // closes the code block; empty: none is open
	table []string // the lines of the table that is not complete

	open  bool   // a line of text is partly shown
	style string // of that line
	hang  string // what its further lines begin with
	out   strings.Builder
	col   int
	space bool // a space comes before the next word, if that fits
}

// NewWriter returns a Writer to a terminal that is width columns wide; zero: unknown,
// so lines are not wrapped. Without colour it writes the Markdown as it is, only with
// the removed characters missing.
func NewWriter(w io.Writer, width int, colour bool) *Writer {
	return &Writer{w: w, width: width, colour: colour}
}

// Write renders as much as can be shown. Call Close for the rest.
func (m *Writer) Write(b []byte) (int, error) {
	m.text = append(m.text, b...)
	if !m.colour {
		m.asIs(bytes.LastIndexAny(m.text, " \n") + 1)
		return len(b), m.err
	}
	for {
		line, rest, ok := bytes.Cut(m.text, []byte("\n"))
		if !ok {
			break
		}
		m.text = rest
		m.line(clean(line))
	}
	// The last word of a partial line may not be complete.
	words := bytes.LastIndexByte(m.text, ' ') + 1
	if text := clean(m.text[:words]); len(m.table) == 0 && m.fence == "" && (m.open || beginnings.MatchString(text)) {
		m.text = append([]byte(m.inline(m.begin(text), false)), m.text[words:]...)
	}
	m.flush()
	return len(b), m.err
}

// asIs writes the first n bytes of what is held.
func (m *Writer) asIs(n int) {
	if n > 0 {
		m.open = m.text[n-1] != '\n'
		m.out.WriteString(clean(m.text[:n]))
		m.text = m.text[n:]
	}
	m.flush()
}

// Close renders what is left and ends the last line. It does not close the underlying
// writer.
func (m *Writer) Close() error {
	if !m.colour {
		if m.asIs(len(m.text)); m.open {
			m.out.WriteString("\n")
		}
		m.open = false
	} else if len(m.text) > 0 || m.open {
		line := clean(m.text)
		m.text = nil
		m.line(line)
	}
	m.endTable()
	m.flush()
	return m.err
}

func (m *Writer) flush() {
	if m.err == nil && m.out.Len() > 0 {
		_, m.err = io.WriteString(m.w, m.out.String())
	}
	m.out.Reset()
}

// clean removes or escapes what must not reach a terminal.
func clean(line []byte) string {
	return display.Without(display.Visible(string(line)), display.Unseen)
}

var (
	fences   = regexp.MustCompile("^ *(`{3,}|~{3,})[^`]*$")
	headings = regexp.MustCompile(`^ {0,3}(#{1,6})(?: +(.*?))?(?: +#+)? *$`)
	rules    = regexp.MustCompile(`^ {0,3}(?:(?:- *){3,}|(?:\* *){3,}|(?:_ *){3,})$`)
	items    = regexp.MustCompile(`^( *)([-*+]|\d{1,9}[.)])( +)(.*)$`)
	tasks    = regexp.MustCompile(`^\[([ xX])\] `)
	quotes   = regexp.MustCompile(`^ {0,3}((?:> ?)+)(.*)$`)
	// beginnings match a partial line that is known to be text or an item.
	beginnings = regexp.MustCompile(`^ *(?:[^\s#>|~*+\-_\d` + "`" + `]|\*\*[^*\s]|[-*+] +[^\s\-*_\[]|\d{1,9}[.)] +[^\s\[]|\d+[^\d.)]|` + "`[^`]" + `)`)
)

// line renders a complete line.
func (m *Writer) line(text string) {
	switch {
	case m.open: // its beginning is shown
	case m.fence != "":
		if closes(text, m.fence) {
			m.fence = ""
			return
		}
		m.out.WriteString("  " + cyan + text + normal + "\n")
		return
	case strings.HasPrefix(strings.TrimSpace(text), "|"):
		m.table = append(m.table, text)
		return
	default:
		m.endTable()
		if f := fences.FindStringSubmatch(text); f != nil {
			m.fence = f[1]
			return
		}
		if rules.MatchString(text) {
			m.out.WriteString(dim + strings.Repeat("─", m.most(40)) + normal + "\n")
			return
		}
		text = m.begin(text)
	}
	m.inline(text, true)
	m.out.WriteString("\n")
	m.open, m.style, m.hang, m.col, m.space = false, "", "", 0, false
}

// most is a width, but not more than the terminal's.
func (m *Writer) most(columns int) int {
	if m.width > 0 {
		return min(columns, m.width)
	}
	return columns
}

// closes reports whether a line ends a code block.
func closes(text, fence string) bool {
	text = strings.TrimSpace(text)
	return len(text) >= len(fence) && strings.Trim(text, fence[:1]) == ""
}

// begin shows what stands before the text of a line, and returns the text.
func (m *Writer) begin(text string) string {
	if m.open {
		return text
	}
	m.open = true
	before := ""
	if q := quotes.FindStringSubmatch(text); q != nil {
		before, text = strings.Repeat("│ ", strings.Count(q[1], ">")), q[2]
		m.out.WriteString(dim + before + normal)
		m.hang = before
	}
	if h := headings.FindStringSubmatch(text); h != nil {
		m.style, text = bold, h[2]
		if len(h[1]) == 1 {
			m.style += underline
		}
	} else if i := items.FindStringSubmatch(text); i != nil {
		sign := i[2]
		if sign == "-" || sign == "*" || sign == "+" {
			sign = "•"
		}
		text = i[4]
		if t := tasks.FindStringSubmatch(text); t != nil {
			sign, text = map[bool]string{true: "☐", false: "☑"}[t[1] == " "], text[len(t[0]):]
		}
		lead := i[1] + sign + " "
		m.out.WriteString(lead)
		m.hang += strings.Repeat(" ", display.Width(lead))
		before += lead
	} else if rest := strings.TrimLeft(text, " "); rest != text {
		lead := text[:len(text)-len(rest)]
		m.out.WriteString(lead)
		m.hang, before, text = m.hang+lead, before+lead, rest
	}
	m.col = display.Width(before)
	return text
}

// put shows text in a style and wraps it between words.
func (m *Writer) put(style, text string) {
	text = display.Without(text, func(r rune) bool { return r == '\n' || display.Acts(r) || display.Unseen(r) })
	words := strings.Split(text, " ")
	if strings.HasSuffix(style, cyan) { // code stays in one piece, so that a command can be copied
		words = []string{text}
	}
	for i, word := range words {
		if i > 0 {
			m.space = m.col > 0
		}
		if word == "" {
			continue
		}
		size := display.Width(word)
		switch {
		case m.space && m.width > 0 && m.col+1+size > m.width && m.col > display.Width(m.hang):
			m.out.WriteString("\n")
			if m.hang != "" {
				m.out.WriteString(dim + m.hang + normal)
			}
			m.col = display.Width(m.hang)
		case m.space:
			m.out.WriteString(" ")
			m.col++
		}
		m.space = false
		m.col += size
		if style == "" {
			m.out.WriteString(word)
			continue
		}
		m.out.WriteString(style + word + normal)
	}
}
