package provider

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"sync"
	"time"

	"github.com/pawl-run/pawl"
)

// loginTime is how long Ready waits for a login, for which an SDK may ask several services.
const loginTime = 20 * time.Second

// tokenEarly is how long before it expires a token is replaced.
const tokenEarly = 5 * time.Minute

// A Login gets the tokens of a cloud, and keeps one until shortly before it expires: not all SDKs
// do, and some ask a program for one.
type Login struct {
	Fetch  func(ctx context.Context) (token string, expires time.Time, err error) // a zero time is never
	Remedy string                                                                 // what to do if that fails

	mu      sync.Mutex
	token   string
	expires time.Time
}

// Token is the Options.Key of a model: a token that was refused is fetched again. It returns when
// ctx ends, even if the SDK does not heed that.
func (l *Login) Token(ctx context.Context, refused string) (token string, err error) {
	done := make(chan struct{})
	var fetched string
	var failed error
	go func() {
		defer close(done)
		fetched, failed = l.current(ctx, refused)
	}()
	select {
	case <-done:
		token, err = fetched, failed
	case <-ctx.Done():
		err = ctx.Err()
	}
	if err != nil {
		return "", fmt.Errorf("%s (%s)", l.Remedy, Clip(err.Error()))
	}
	return token, nil
}

func (l *Login) current(ctx context.Context, refused string) (string, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.token != "" && l.token != refused && (l.expires.IsZero() || time.Until(l.expires) > tokenEarly) {
		return l.token, nil
	}
	var err error
	l.token, l.expires, err = l.Fetch(ctx)
	return l.token, err
}

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

// Describe returns the name, the endpoint unless that is not known, and the price.
func (c *Cloud) Describe() pawl.ModelInfo {
	info := c.bare.Describe()
	if c.err != nil {
		info.Endpoint = ""
	}
	return info
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
