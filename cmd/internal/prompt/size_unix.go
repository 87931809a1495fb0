//go:build unix

package prompt

import (
	"os"
	"os/signal"
	"syscall"

	"golang.org/x/term"
)

// resize keeps the editor's size that of the terminal until stop is called.
func (e *Editor) resize() (stop func()) {
	measure := func() {
		if w, h, err := term.GetSize(int(e.in.Fd())); err == nil && w > 0 {
			_ = e.term.SetSize(w, h) // it draws the line again
		}
	}
	measure()
	changed, done := make(chan os.Signal, 1), make(chan struct{})
	signal.Notify(changed, syscall.SIGWINCH)
	go func() {
		for {
			select {
			case <-changed:
				measure()
			case <-done:
				return
			}
		}
	}()
	return func() {
		signal.Stop(changed)
		close(done)
	}
}
