package screen

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"regexp"
	"strings"
	"sync"

	"github.com/pawl-run/pawl/internal/display"
)

// Writer is a writer for several goroutines. It hides write errors: a reader
// that stops watching must not end the run.
type Writer struct {
	mu     sync.Mutex
	w      io.Writer
	status string    // the status lines below the output; see SetStatus
	asking bool      // the status is the mark of a question; see Ask
	strict bool      // it is a terminal: see inert
	prompt io.Writer // takes the output while w has a prompt; nil: w does
	part   []byte
	open   bool          // the last line has no end yet, as while a model speaks
	held   *bytes.Buffer // takes the output while a person is asked; nil: nobody is
}

// NewWriter returns a writer to a terminal, or to anything else.
func NewWriter(w io.Writer) *Writer {
	f, ok := w.(*os.File)
	return &Writer{w: w, strict: ok && Columns(f) > 0}
}

// Disable drops what is written from now on.
func (l *Writer) Disable() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.w = io.Discard
}

// Write implements io.Writer.
func (l *Writer) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	n := len(b)
	if l.strict {
		b, l.part = inert(append(l.part, b...))
		l.part = append([]byte(nil), l.part...)
	}
	l.shown(b)
	return n, nil
}

// shown puts b above the status, or keeps it until the person has answered.
func (l *Writer) shown(b []byte) {
	if l.held != nil {
		l.held.Write(b)
		return
	}
	if len(b) > 0 {
		l.open = l.status == "" && b[len(b)-1] != '\n'
	}
	l.put(l.above(b))
}

// Prompt has a prompt take the output while it reads a line.
func (l *Writer) Prompt(to io.Writer) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.prompt = to
}

// Hold removes the status and keeps what others write, so that nothing comes between a question
// and its answer, until release. The question is written with Tell.
func (l *Writer) Hold() (release func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.held != nil {
		return func() {}
	}
	l.show("")
	if l.open { // a question begins a line
		l.put([]byte("\n"))
		l.open = false
	}
	l.held = &bytes.Buffer{}
	return func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		b := l.held.Bytes()
		l.held = nil
		l.put(l.above(b))
	}
}

// Tell writes a question, or a part of it, while others are held.
func (l *Writer) Tell(text string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	b := []byte(text)
	if l.strict {
		b, _ = inert(b)
	}
	l.put(l.above(b))
}

// Paint is Write for text that holds colours.
func (l *Writer) Paint(text string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.shown([]byte(text))
}

// Under returns the underlying writer.
func (l *Writer) Under() io.Writer {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.w
}

func (l *Writer) put(b []byte) {
	w := l.w
	if l.prompt != nil && w != io.Discard {
		w = l.prompt
	}
	if _, err := w.Write(b); err != nil {
		l.w = io.Discard
	}
}

// The status is a few lines below all other output, redrawn in place. Other output goes
// above it in the same write, so that the screen does not flicker.

// The sequences of ECMA-48 that the status uses.
const (
	clearRest  = "\x1b[K" // EL: from the cursor to the end of the line
	clearBelow = "\x1b[J" // ED: from the cursor to the end of the screen
	cursorUp   = "\x1b[%dA"
)

// SetStatus shows the status, lines that may hold colours; empty: removes it.
func (l *Writer) SetStatus(lines string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.asking && l.held == nil {
		l.show(lines)
	}
}

// Ask shows a mark where a person types, instead of the status, until Asked.
func (l *Writer) Ask(mark string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.asking = true
	l.show(mark)
}

// Typed says that the person has ended the line of the mark, so that it stays.
func (l *Writer) Typed() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.status = ""
}

// Asked ends Ask, and removes a mark that nobody typed at.
func (l *Writer) Asked() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.asking = false
	l.show("")
}

func (l *Writer) show(lines string) {
	if lines == l.status {
		return
	}
	text := l.home() + strings.ReplaceAll(lines, "\n", clearRest+"\n") + clearRest
	if l.rows(l.status) > l.rows(lines) {
		text += clearBelow
	}
	l.status = lines
	l.put([]byte(text))
}

// home moves the cursor to the beginning of the status.
func (l *Writer) home() string {
	if n := l.rows(l.status); n > 1 {
		return "\r" + fmt.Sprintf(cursorUp, n-1)
	}
	return "\r"
}

// rows is how many screen rows the status takes at the present width: lines that were
// written on a wider screen are wrapped.
func (l *Writer) rows(status string) int {
	cols := 0
	if f, ok := l.w.(*os.File); ok {
		cols = Columns(f)
	}
	n := 0
	for line := range strings.SplitSeq(status, "\n") {
		n++
		if w := display.Width(colours.ReplaceAllString(line, "")); cols > 0 && w > cols {
			n += (w - 1) / cols
		}
	}
	return n
}

var colours = regexp.MustCompile("\x1b\\[[0-9;]*m")

// above returns b with the sequences that put it above the status.
func (l *Writer) above(b []byte) []byte {
	if l.status == "" || len(b) == 0 {
		return b
	}
	text := l.home() + strings.ReplaceAll(string(b), "\n", clearRest+"\n")
	if !strings.HasSuffix(text, "\n") {
		text += clearRest + "\n"
	}
	return []byte(text + strings.ReplaceAll(l.status, "\n", clearRest+"\n") + clearRest)
}

// fit cuts a line to a width in columns.
func fit(line string, most int) string {
	if most <= 0 || display.Width(line) <= most {
		return line
	}
	col := 0
	for i, r := range line {
		if col += display.RuneWidth(r); col > most-1 {
			return line[:i] + "…"
		}
	}
	return line
}
