// Package prompt reads lines that a person types and edits on a terminal.
package prompt

import (
	"context"
	"errors"
	"io"
	"os"
	"strings"
	"sync"

	"golang.org/x/term"
)

// ErrInterrupted says that the person pressed Ctrl-C. What was typed is dropped.
var ErrInterrupted = errors.New("interrupted")

// An Editor reads lines from a terminal, with a history. Between two lines the
// terminal is in its usual mode, in which Ctrl-C is a signal. One goroutine at a
// time may call Line.
type Editor struct {
	in   *os.File
	keys *keys
	term *term.Terminal
	past history

	mu      sync.Mutex
	reading bool
	waiting chan read // who gets the line; nil: nobody
	out     *os.File
}

type read struct {
	line string
	err  error
}

// New returns an editor on the terminal in, which shows what is typed on out.
func New(in, out *os.File) *Editor {
	e := &Editor{in: in, keys: &keys{in: in}, out: out}
	e.term = term.NewTerminal(struct {
		io.Reader
		io.Writer
	}{e.keys, narrow{out}}, "")
	e.term.AutoCompleteCallback = edit
	e.term.History = &e.past
	return e
}

// Line asks for a line under a prompt. remember puts it into the history. The
// error is ErrInterrupted, io.EOF for Ctrl-D, or the cause of the end of ctx.
//
// A read of a terminal cannot be cancelled, so it outlives ctx and then serves
// the next call.
func (e *Editor) Line(ctx context.Context, text string, remember bool) (string, error) {
	before, err := term.MakeRaw(int(e.in.Fd()))
	if err != nil {
		return "", err
	}
	defer func() { _ = term.Restore(int(e.in.Fd()), before) }() // it was this mode before
	mine := make(chan read, 1)
	e.mu.Lock()
	e.waiting = mine
	was := e.reading
	e.reading = true
	e.mu.Unlock()
	e.past.add = remember
	e.term.SetPrompt(text)
	if w, h, err := term.GetSize(int(e.in.Fd())); err == nil && w > 0 {
		_ = e.term.SetSize(w, h) // the line is drawn as wide as the terminal is now
	}
	e.term.SetBracketedPasteMode(true)
	defer e.term.SetBracketedPasteMode(false)
	if was {
		_, _ = e.term.Write(nil) // shows the prompt
	} else {
		go e.read()
	}
	select {
	case r := <-mine:
		return r.line, r.err
	case <-ctx.Done():
		e.mu.Lock()
		defer e.mu.Unlock()
		if e.waiting == mine {
			e.waiting = nil
		}
		_, _ = io.WriteString(e.term, "\n")
		return "", context.Cause(ctx)
	}
}

// Write writes to the terminal. While a line is asked for, the text comes above it.
func (e *Editor) Write(b []byte) (int, error) {
	e.mu.Lock()
	asks := e.waiting != nil
	e.mu.Unlock()
	if asks {
		return e.term.Write(b)
	}
	return e.out.Write(b)
}

func (e *Editor) read() {
	line, err := e.term.ReadLine()
	line, cut := e.keys.whole(strings.ReplaceAll(line, string(filler), ""))
	if cut {
		line, err = "", ErrInterrupted
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	e.reading = false
	if e.waiting != nil {
		e.waiting <- read{line, err}
		e.waiting = nil
	}
}

// Drop drops what was typed and not read yet.
func (e *Editor) Drop() {
	e.mu.Lock()
	defer e.mu.Unlock()
	if !e.reading {
		e.keys.drop()
	}
}

// history is what was typed before, newest first.
type history struct {
	lines []string
	add   bool
}

// most is how many lines the history has.
const most = 500

// Add implements [term.History].
func (h *history) Add(line string) {
	if !h.add || strings.TrimSpace(line) == "" || len(h.lines) > 0 && h.lines[0] == line {
		return
	}
	h.lines = append([]string{line}, h.lines[:min(len(h.lines), most-1)]...)
}

// Len implements [term.History].
func (h *history) Len() int { return len(h.lines) }

// At implements [term.History].
func (h *history) At(i int) string { return h.lines[i] }
