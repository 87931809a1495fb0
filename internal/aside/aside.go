// Package aside keeps what was worked out of something that only grows, so that
// it need not be worked out anew each time there is more of it. What is kept is
// never needed: without it the same comes out, later.
package aside

import "sync"

// A Book has a page for each name. It is safe for concurrent use, and the zero
// Book is empty.
type Book[P any] struct {
	mu    sync.Mutex
	pages map[string]*P
}

// Open hands out the page of a name, which is the zero P at first, and has it to
// itself until read returns. read must not open the book again.
func (b *Book[P]) Open(name string, read func(*P)) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.pages == nil {
		b.pages = map[string]*P{}
	}
	p := b.pages[name]
	if p == nil {
		p = new(P)
		b.pages[name] = p
	}
	read(p)
}
