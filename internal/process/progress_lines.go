package process

import (
	"bytes"
	"io"
	"strings"
)

// mostLine is how many bytes of a line are read as progress. The rest is dropped.
const mostLine = 4 << 10

// ProgressLines is a writer that passes on everything but the lines of progress, which it reports. One
// goroutine uses it at a time.
type ProgressLines struct {
	to     io.Writer
	report Reporter
	held   []byte // the beginning of a line that is, or may be, of progress
	plain  bool   // the line that has begun is none
}

// NewProgressLines returns a writer in front of another. Without a reporter, it passes on everything.
func NewProgressLines(to io.Writer, report Reporter) *ProgressLines {
	return &ProgressLines{to: to, report: report}
}

// Write takes all of p, unless the writer behind fails.
func (l *ProgressLines) Write(p []byte) (int, error) {
	for rest := p; len(rest) > 0; {
		part := rest
		end := bytes.IndexByte(rest, '\n') + 1
		if end > 0 {
			part = rest[:end]
		}
		rest = rest[len(part):]
		if err := l.add(part, end > 0); err != nil {
			return 0, err
		}
	}
	return len(p), nil
}

// add takes a part of a line; whole says that it is the last part.
func (l *ProgressLines) add(part []byte, whole bool) error {
	if l.plain || l.report == nil {
		l.plain = !whole
		_, err := l.to.Write(part)
		return err
	}
	n := min(len(part), max(0, mostLine-len(l.held)))
	l.held = append(l.held, part[:n]...)
	switch {
	case reports(l.held):
		if whole {
			l.tell()
		}
		return nil
	case !whole && bytes.HasPrefix([]byte(progressPrefix), l.held):
		return nil
	}
	line := append(l.held, part[n:]...)
	l.held, l.plain = line[:0], !whole
	_, err := l.to.Write(line)
	return err
}

// reports reports whether a line begins as one of progress.
func reports(line []byte) bool {
	rest, found := bytes.CutPrefix(line, []byte(progressPrefix))
	return found && len(rest) > 0 && strings.ContainsRune(" \t\r\n", rune(rest[0]))
}

func (l *ProgressLines) tell() {
	l.report(ParseProgress(string(l.held[len(progressPrefix):])))
	l.held = l.held[:0]
}

// Close ends the last line. It closes nothing.
func (l *ProgressLines) Close() error {
	if line := append(l.held, '\n'); reports(line) {
		l.held = line
		l.tell()
		return nil
	}
	_, err := l.to.Write(l.held)
	return err
}
