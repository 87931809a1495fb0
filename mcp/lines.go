package mcp

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
)

// lines passes on the messages in a program's output, one a line, and keeps other lines
// apart: many servers print a greeting on standard output, which is no reason to fail.
type lines struct {
	to    *io.PipeWriter
	noise io.Writer
	line  []byte
}

func (l *lines) Write(p []byte) (int, error) {
	written := len(p)
	for len(p) > 0 {
		part := p
		end := bytes.IndexByte(p, '\n')
		if end >= 0 {
			part = p[:end]
		}
		if len(l.line)+len(part) > mostMessage {
			err := fmt.Errorf("it sent a line of more than %d MiB", mostMessage>>20)
			l.to.CloseWithError(err)
			return 0, err
		}
		l.line = append(l.line, part...)
		if end < 0 {
			break
		}
		p = p[end+1:]
		if err := l.pass(); err != nil {
			return 0, err
		}
	}
	return written, nil
}

// pass passes on a whole line.
func (l *lines) pass() error {
	text := bytes.TrimSpace(bytes.TrimPrefix(l.line, []byte("\ufeff")))
	var err error
	switch {
	case len(text) > 0 && (text[0] == '{' || text[0] == '[') && json.Valid(text):
		_, err = l.to.Write(append(readable(text), '\n'))
	case len(text) > 0:
		_, err = l.noise.Write(append(text, '\n'))
	}
	const keep = 64 << 10
	if l.line = l.line[:0]; cap(l.line) > keep {
		l.line = nil
	}
	return err
}
