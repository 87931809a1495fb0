package server

import (
	"context"
	"slices"
	"sync"

	"github.com/pawl-run/pawl"
)

// past is what the journal holds of a run for those who come late or fell behind,
// in chapters. Who asks for the same chapter at the same time, as a thousand do who come
// at once, gets the same one.
type past struct {
	mu    sync.Mutex
	pages map[uint64]*chapter // by the entry that they begin with
	order []uint64            // by use, the latest last
}

// A chapter is some entries that follow each other.
type chapter struct {
	ready  chan struct{}
	frames []frame
	err    error
}

// The bounds of a chapter, and how many are kept: more where more read.
const (
	pastBytes     = 64 << 10
	pastFrames    = 256
	leastChapters = 4
	mostChapters  = 128
)

// chapter reads the chapter that begins with an entry, or waits until somebody has.
func (p *past) chapter(ctx context.Context, b *hub, from uint64) ([]frame, error) {
	for {
		p.mu.Lock()
		g := p.pages[from]
		mine := g == nil
		if mine {
			g = p.keep(from, int(b.crowd.Load()))
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
		// Whoever read it may only have gone away.
	}
}

// keep makes room for a chapter; past is locked.
func (p *past) keep(from uint64, crowd int) *chapter {
	if p.pages == nil {
		p.pages = map[uint64]*chapter{}
	}
	for len(p.order) >= min(leastChapters+crowd/8, mostChapters) {
		delete(p.pages, p.order[0])
		p.order = p.order[1:]
	}
	g := &chapter{ready: make(chan struct{})}
	p.pages[from] = g
	p.order = append(p.order, from)
	return g
}

// use puts a chapter behind those that go first; past is locked.
func (p *past) use(from uint64) {
	if n := slices.Index(p.order, from); n >= 0 && n < len(p.order)-1 {
		p.order = append(slices.Delete(p.order, n, n+1), from)
	}
}

func (p *past) forget(from uint64, g *chapter) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.pages[from] != g {
		return
	}
	delete(p.pages, from)
	p.order = slices.DeleteFunc(p.order, func(at uint64) bool { return at == from })
}

func (g *chapter) read(ctx context.Context, b *hub, from uint64) {
	size := 0
	for row, err := range b.of.journal.Read(ctx, b.run, from) {
		if err != nil {
			g.err = err
			return
		}
		f := entryFrame(pawl.Row{Seq: row.Seq, Data: row.Data})
		g.frames = append(g.frames, f)
		if size += len(f.text); size >= pastBytes || len(g.frames) >= pastFrames {
			return
		}
	}
	if len(g.frames) == 0 {
		g.err = pawl.ErrUnknownRun // it was there and is removed
	}
}

func (g *chapter) full() bool {
	size := 0
	for _, f := range g.frames {
		size += len(f.text)
	}
	return size >= pastBytes || len(g.frames) >= pastFrames
}
