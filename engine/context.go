package engine

import (
	"context"
	"sync"
)

// effectContext is the context of one effect: the run's values, and an end of
// its own. Effects in memory hardly ever look at theirs, so what it takes to
// have an end is made when somebody first asks for it, or when it comes.
type effectContext struct {
	context.Context // the run's values, without an end
	mu              sync.Mutex
	ending          context.Context // nil: nobody has asked yet
	end             context.CancelCauseFunc
	over            bool
}

// within gives the context the run's values.
func (c *effectContext) within(run context.Context) { c.Context = run }

// Done returns the channel that is closed when the effect is to stop.
func (c *effectContext) Done() <-chan struct{} {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.make().Done()
}

func (c *effectContext) make() context.Context {
	if c.ending == nil {
		c.ending, c.end = context.WithCancelCause(c.Context)
		if c.over {
			c.end(nil)
		}
	}
	return c.ending
}

// Err is nil until the effect is to stop.
func (c *effectContext) Err() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case c.ending != nil:
		return c.ending.Err()
	case c.over:
		return context.Canceled
	}
	return nil
}

// Value returns the run's value for a key. Package context finds by it what
// ends its own contexts, and so hangs contexts made of this one on the same.
func (c *effectContext) Value(key any) any {
	c.mu.Lock()
	from := c.ending
	c.mu.Unlock()
	if from == nil {
		from = c.Context
	}
	return from.Value(key)
}

// cancel ends the effect; a nil cause says only that it is over.
func (c *effectContext) cancel(cause error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if cause != nil {
		c.make()
	}
	c.over = true
	if c.ending != nil {
		c.end(cause)
	}
}
