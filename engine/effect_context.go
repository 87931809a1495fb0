package engine

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
)

// effectContext is the context of one effect: the run's values, and its own end. Effects in memory
// rarely use their context, so its channel is made on the first request for it, or when it ends.
type effectContext struct {
	context.Context // the run's values, without an end
	lease           *lease
	tool            string // empty if the effect is no tool call
	mu              sync.Mutex
	ending          *ending // nil: not requested yet
	over            atomic.Bool
}

// ending is a context with a function that ends it.
type ending struct {
	context.Context
	end context.CancelCauseFunc
}

// newEffectContext returns the context of an effect.
func newEffectContext(r *recorder, e *effect) *effectContext {
	c := &effectContext{Context: r.base, lease: &r.lease}
	if t, ok := e.work.(*toolCall); ok {
		c.tool = t.inv.Tool
	}
	if e.values != nil { // else no entry announces the effect, such as an observation
		c.Context = e.values
	}
	return c
}

// effectKey is the key of the effect in a context.
type effectKey struct{}

// outside returns a context with the values of an effect's, for a run that the effect's own run
// accounts for.
func outside(ctx context.Context) context.Context {
	return context.WithValue(ctx, effectKey{}, (*effectContext)(nil))
}

// nested returns an error if the code of an effect would drive another run. What such a run
// spends would not count against the limits of the effect's run.
func nested(ctx context.Context) error {
	c, _ := ctx.Value(effectKey{}).(*effectContext)
	switch {
	case c == nil:
		return nil
	case c.tool == "":
		return fmt.Errorf("run %s: a model, an observer or a judge cannot start or resume another run, whose cost would not count against the limits of this one", c.lease.Run)
	}
	return fmt.Errorf("tool %s of run %s cannot start or resume another run, whose cost would not count against the limits of this one; offer its agent to the model with tool.Agent", c.tool, c.lease.Run)
}

// Done returns the channel that is closed when the effect must stop.
func (c *effectContext) Done() <-chan struct{} {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.make().Done()
}

func (c *effectContext) make() context.Context {
	if c.ending == nil {
		ctx, end := context.WithCancelCause(c.Context)
		if c.ending = (&ending{ctx, end}); c.over.Load() {
			end(nil)
		}
	}
	return c.ending
}

// Err is nil until the effect must stop. A stream calls it for each chunk, so it takes no
// lock before that.
func (c *effectContext) Err() error {
	if !c.over.Load() {
		return nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.make().Err()
}

// Value returns the run's value for a key. Package context uses it to find the parent that can be
// cancelled, so contexts derived from this one end with it.
func (c *effectContext) Value(key any) any {
	if key == (effectKey{}) {
		return c
	}
	c.mu.Lock()
	from := c.ending
	c.mu.Unlock()
	if from == nil {
		return c.Context.Value(key)
	}
	return from.Value(key)
}

// cancel ends the effect. A nil cause means that the effect is over.
func (c *effectContext) cancel(cause error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if cause != nil {
		c.make()
	}
	c.over.Store(true)
	if c.ending != nil {
		c.ending.end(cause)
	}
}
