package redact

import "io"

// A Stream scrubs a text that comes in pieces, and holds back what may be the
// beginning of a secret until it is known whether it is one. It must be used
// from one goroutine at a time.
type Stream struct {
	secrets *Secrets
	held    string
}

// Stream begins a text.
func (s *Secrets) Stream() *Stream { return &Stream{secrets: s} }

// Add takes a piece in and returns what can be passed on.
func (s *Stream) Add(piece string) string {
	text := s.held + piece
	done, held := s.secrets.scrub(text, false)
	s.held = text[len(text)-held:]
	return done
}

// Close ends the text and returns what was held back.
func (s *Stream) Close() string {
	rest := s.secrets.Scrub(s.held)
	s.held = ""
	return rest
}

// A Writer scrubs what is written to another writer. Close passes on what was
// held back, and closes nothing.
type Writer struct {
	stream Stream
	to     io.Writer
}

// Writer scrubs what is written to w.
func (s *Secrets) Writer(w io.Writer) *Writer { return &Writer{Stream{secrets: s}, w} }

// Write scrubs p. It takes all of it, unless the writer behind fails.
func (w *Writer) Write(p []byte) (int, error) {
	if w.stream.secrets == nil { // without a copy
		return w.to.Write(p)
	}
	if _, err := io.WriteString(w.to, w.stream.Add(string(p))); err != nil {
		return 0, err
	}
	return len(p), nil
}

// Close passes on what was held back.
func (w *Writer) Close() error {
	_, err := io.WriteString(w.to, w.stream.Close())
	return err
}
