package engine

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
)

// effectContext is the context of one effect: the run's values, and an end of
// its own. Effects in memory hardly ever look at theirs, so what it takes to
// have an end is made when somebody first asks for it, or when it comes.
type effectContext struct {
	context.Context        // the run's values, without an end
	run, tool       string // tool is empty if the effect is no tool call
	mu              sync.Mutex
	ending          context.Context // nil: not asked for yet
	end             context.CancelCauseFunc
	over            atomic.Bool
}

// newEffectContext is the context of an effect.
func newEffectContext(r *recorder, e *effect) *effectContext {
	c := &effectContext{Context: r.base, run: r.lease.Run}
	if t, ok := e.work.(*toolCall); ok {
		c.tool = t.inv.Tool
	}
	if e.values != nil { // else no entry announces it, such as a look at the world
		c.Context = e.values
	}
	return c
}

// effectKey is the key under which a context has the effect that it was made of.
type effectKey struct{}

// outside is a context with the values of an effect's, for a run that the
// effect's own run accounts for.
func outside(ctx context.Context) context.Context {
	return context.WithValue(ctx, effectKey{}, (*effectContext)(nil))
}

// nested is the error of a run that the code of an effect would drive. Nothing
// that such a run spends would count against the limits of the effect's run.
func nested(ctx context.Context) error {
	c, _ := ctx.Value(effectKey{}).(*effectContext)
	switch {
	case c == nil:
		return nil
	case c.tool == "":
		return fmt.Errorf("run %s: a model, an observer or a judge cannot drive another run, whose cost would escape the limits of this one", c.run)
	}
	return fmt.Errorf("tool %s of run %s cannot drive another run, whose cost would escape the limits of this one; offer its agent to the model with tool.Agent", c.tool, c.run)
}

// Done returns the channel that is closed when the effect is to stop.
func (c *effectContext) Done() <-chan struct{} {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.make().Done()
}

func (c *effectContext) make() context.Context {
	if c.ending == nil {
		c.ending, c.end = context.WithCancelCause(c.Context)
		if c.over.Load() {
			c.end(nil)
		}
	}
	return c.ending
}

// Err is nil until the effect is to stop. A stream asks for it at each chunk, so
// it takes no lock before.
func (c *effectContext) Err() error {
	if !c.over.Load() {
		return nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.make().Err()
}

// Value returns the run's value for a key. Package context finds by it what
// ends its own contexts, and so hangs contexts made of this one on the same.
func (c *effectContext) Value(key any) any {
	if key == (effectKey{}) {
		return c
	}
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
	c.over.Store(true)
	if c.ending != nil {
		c.end(cause)
	}
}
