package sqlite

import (
	"context"
	"errors"
	"sync"
)

// readers is the number of connections for reading. No connection is kept while the caller
// looks at the data, so a few are enough, and nested reads cannot wait for each other.
const readers = 4

// A pool opens connections for reading when they are first needed. Readers and the writer
// do not wait for each other.
type pool struct {
	path  string
	o     *Options
	slots chan struct{}

	mu     sync.Mutex
	idle   []*reader
	closed bool
}

// A reader is a connection for reading.
type reader struct {
	*conn

	view view // the state of the file when it was opened
}

func newPool(path string, o *Options) *pool {
	return &pool{path: path, o: o, slots: make(chan struct{}, readers)}
}

// read lends a connection to f.
func (p *pool) read(ctx context.Context, f func(r *reader) error) error {
	select {
	case p.slots <- struct{}{}:
		defer func() { <-p.slots }()
	case <-ctx.Done():
		return ctx.Err()
	}
	r, err := p.take(ctx)
	if err != nil {
		return err
	}
	r.ctx = ctx
	r.SetInterrupt(ctx)
	err = f(r)
	r.SetInterrupt(context.Background())
	if err != nil && ctx.Err() != nil {
		err = ctx.Err()
	}
	return errors.Join(err, p.put(r))
}

func (p *pool) take(ctx context.Context) (*reader, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return nil, errClosed
	}
	var now view
	if p.o.ReadOnly {
		var err error
		if now, err = look(p.path); err != nil {
			return nil, err
		}
	}
	for n := len(p.idle); n > 0; n = len(p.idle) {
		r := p.idle[n-1]
		p.idle = p.idle[:n-1]
		if r.view == now {
			return r, nil
		}
		if err := r.close(); err != nil {
			return nil, err
		}
	}
	c, err := connect(ctx, p.path, p.o, now)
	if err != nil {
		return nil, err
	}
	if err := c.Exec(`PRAGMA query_only = ON`); err != nil {
		return nil, errors.Join(err, c.close())
	}
	return &reader{conn: c, view: now}, nil
}

func (p *pool) put(r *reader) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return r.close()
	}
	p.idle = append(p.idle, r)
	return nil
}

// close closes idle connections; those in use are closed when they are returned.
func (p *pool) close() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.closed = true
	var errs []error
	for _, r := range p.idle {
		errs = append(errs, r.close())
	}
	p.idle = nil
	return errors.Join(errs...)
}
