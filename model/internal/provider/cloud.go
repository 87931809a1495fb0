package provider

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"time"

	"github.com/pawl-run/pawl"
)

// loginTime is how long Ready waits for a login, for which an SDK may ask several services.
const loginTime = 20 * time.Second

// A Wire is the model of an API, which a [Cloud] has behind its login.
type Wire interface {
	pawl.Model
	pawl.Describer
	Takes(files []pawl.File) error
}

type bare = Wire

// A Cloud is a model behind the login of a cloud.
type Cloud struct {
	bare
	name  string
	login func(ctx context.Context, refused string) (string, error)
	err   error
	role  string
}

// Behind returns a model that is called by its full name, behind a login; nil: it has a key. err
// is why it cannot be called, and role what an identity may lack that is refused.
func Behind(login func(ctx context.Context, refused string) (string, error), name string, w Wire, err error, role string) Cloud {
	return Cloud{w, name, login, err, role}
}

// Describe returns the name, the endpoint, and the price.
func (c *Cloud) Describe() pawl.ModelInfo {
	if c.err != nil {
		return pawl.ModelInfo{Name: c.name}
	}
	return c.bare.Describe()
}

// Ready returns an error if the model cannot be called, because something is not set, or there is
// no login. It may ask for one, but calls no model.
func (c *Cloud) Ready() error {
	if c.err != nil || c.login == nil {
		return c.err
	}
	ctx, cancel := context.WithTimeout(context.Background(), loginTime)
	defer cancel()
	if _, err := c.login(ctx, ""); err != nil {
		return fmt.Errorf("no key for %s: %w", c.name, err)
	}
	return nil
}

// Stream sends the request and yields the reply as it arrives.
func (c *Cloud) Stream(ctx context.Context, r pawl.Request) iter.Seq2[pawl.Chunk, error] {
	return func(yield func(pawl.Chunk, error) bool) {
		if c.err != nil {
			yield(pawl.Chunk{}, &pawl.ModelError{Class: pawl.ClassAuth, Message: c.err.Error(), Err: c.err})
			return
		}
		for chunk, err := range c.bare.Stream(ctx, r) {
			if e, ok := errors.AsType[*pawl.ModelError](err); ok && e.Class == pawl.ClassAuth && c.login != nil {
				e.Message += c.role
			}
			if !yield(chunk, err) {
				return
			}
		}
	}
}
