//go:build !unix

package prompt

import "golang.org/x/term"

// resize sets the editor's size to that of the terminal.
func (e *Editor) resize() (stop func()) {
	if w, h, err := term.GetSize(int(e.in.Fd())); err == nil && w > 0 {
		_ = e.term.SetSize(w, h)
	}
	return func() {}
}
