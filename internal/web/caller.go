package web

import "context"

// A Caller is for whom a tool call makes requests.
type Caller struct {
	Labels  map[string]string         // of the topmost run
	Err     error                     // why they are not known; nil: they are
	Answers map[string]string         // see pawl.Invocation
	Learn   func(name, secret string) // keeps a secret out of the log of the run
}

// CallerKey is the key of a *Caller in a context.
type CallerKey struct{}

// CallerFrom returns the caller of a context; nil: there is none.
func CallerFrom(ctx context.Context) *Caller {
	c, _ := ctx.Value(CallerKey{}).(*Caller)
	return c
}
