package server

import (
	"context"
	"slices"
	"sync"

	"github.com/pawl-run/pawl"
)

// past reads a run's journal in pages for readers that come late or fall behind.
// Concurrent requests for the same page share one read.
type past struct {
	mu    sync.Mutex
	pages map[uint64]*page // by their first entry
	order []uint64         // by use, the latest last
}

// A page is some consecutive entries.
type page struct {
	ready  chan struct{}
	frames []frame
	err    error
}

// The size of a page, and how many are cached: more for more readers.
const (
	pastBytes  = 64 << 10
	pastFrames = 256
	leastPages = 4
	mostPages  = 128
)

// page reads the page that begins with an entry, or waits for another reader to do so.
func (p *past) page(ctx context.Context, b *broadcaster, from uint64) ([]frame, error) {
	for {
		p.mu.Lock()
		g := p.pages[from]
		mine := g == nil
		if mine {
			g = p.keep(from, int(b.count.Load()))
		} else {
			p.use(from)
		}
		p.mu.Unlock()
		if mine {
			g.read(ctx, b, from)
			if g.err != nil || !g.full() { // it may grow
				p.forget(from, g)
			}
			close(g.ready)
			return g.frames, g.err
		}
		select {
		case <-g.ready:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
		if g.err == nil {
			return g.frames, nil
		}
		// The goroutine that read it may only have been cancelled.
	}
}

// keep adds an empty page and evicts others. Callers hold the lock of past.
func (p *past) keep(from uint64, readers int) *page {
	if p.pages == nil {
		p.pages = map[uint64]*page{}
	}
	for len(p.order) >= min(leastPages+readers/8, mostPages) {
		delete(p.pages, p.order[0])
		p.order = p.order[1:]
	}
	g := &page{ready: make(chan struct{})}
	p.pages[from] = g
	p.order = append(p.order, from)
	return g
}

// use marks a page as used last. Callers hold the lock of past.
func (p *past) use(from uint64) {
	if n := slices.Index(p.order, from); n >= 0 && n < len(p.order)-1 {
		p.order = append(slices.Delete(p.order, n, n+1), from)
	}
}

func (p *past) forget(from uint64, g *page) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.pages[from] != g {
		return
	}
	delete(p.pages, from)
	p.order = slices.DeleteFunc(p.order, func(at uint64) bool { return at == from })
}

func (g *page) read(ctx context.Context, b *broadcaster, from uint64) {
	size := 0
	for row, err := range b.of.journal.Read(ctx, b.run, from) {
		if err != nil {
			g.err = err
			return
		}
		f := b.frame(ctx, row)
		g.frames = append(g.frames, f)
		if size += len(f.text); size >= pastBytes || len(g.frames) >= pastFrames {
			return
		}
	}
	if len(g.frames) == 0 {
		g.err = pawl.ErrUnknownRun // the run was removed
	}
}

func (g *page) full() bool {
	size := 0
	for _, f := range g.frames {
		size += len(f.text)
	}
	return size >= pastBytes || len(g.frames) >= pastFrames
}
