// Package modeltest is a conformance suite for implementations of [pawl.Model]. It checks that
// the provider gets what was asked, that the run gets what the provider replied, and that the
// stream between them ends correctly when either side goes away.
//
// The suite does not know the provider's API. The caller gives it a function that connects the
// model under test to a provider whose replies a given model, the brain, makes. That provider is
// usually a loopback server that decodes a request into a [pawl.Request], asks the brain, and
// encodes its reply. For the APIs of the big providers, use internal/testkit/fakeprovider:
//
//	func TestConformance(t *testing.T) {
//		modeltest.Run(t, func(t testing.TB, brain pawl.Model) pawl.Model {
//			fake := fakeprovider.New(brain, nil)
//			srv := httptest.NewServer(fake)
//			t.Cleanup(func() { fake.Close(); srv.Close() })
//			return mine.New("name", &mine.Options{BaseURL: srv.URL})
//		}, nil)
//	}
//
// The provider may wait for the brain's whole reply or stream it. It may give calls and results
// ids of its own, as long as they pair. It may refuse requests as strictly as the real one does:
// a refusal fails the rule that caused it.
package modeltest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/pawl-run/pawl"
)

// Options say what a wire cannot carry, and what more can be seen of it. Nil
// stands for a wire that can carry everything, and of which nothing is seen.
type Options struct {
	Lacks   Lacks
	Stops   []pawl.StopReason // what cannot be told from the end of the turn
	Classes []pawl.Class      // errors that cannot be told from others

	// Sent gives the bodies of the requests that the provider of the model made
	// last has got, in their order, without what does not count for its cache,
	// such as marks of where to keep it. Without it, what concerns bytes is not
	// checked.
	Sent func() [][]byte

	// Open is how many requests that provider is answering right now. Without
	// it, nothing is known of connections that are left.
	Open func() int
}

// Lacks are the things that a wire has no place for.
type Lacks struct {
	Failed      bool // that a result tells of an error
	Temperature bool
	Schema      bool // the schema of the reply
	Citations   bool // what it relies on
	CacheWrite  bool // and which was written to it
	Reasoning   bool // which part of the output was thinking
}

// Run checks every rule as a subtest of its own. Each gets a model of its own,
// behind which a provider answers as brain does; make cleans up through t. Only
// one model is in use at a time. The whole takes a few seconds.
func Run(t *testing.T, make func(t testing.TB, brain pawl.Model) pawl.Model, o *Options) {
	t.Helper()
	if o == nil {
		o = &Options{}
	}
	for _, part := range parts() {
		for _, r := range part {
			t.Run(r.name, func(t *testing.T) {
				r.test(&check{T: t, rule: r.says, make: make, options: o})
			})
		}
	}
}

func parts() [][]rule {
	return [][]rule{reads, replies, opaques, streams, failures, lives, bodies, odds}
}

// A rule is one sentence of the contract and what shows that it is kept.
type rule struct {
	name string
	says string
	test func(c *check)
}

// A check is one rule being tried on one model. Whatever fails says the rule.
type check struct {
	*testing.T

	rule    string
	make    func(t testing.TB, brain pawl.Model) pawl.Model
	options *Options
}

func (c *check) failf(format string, args ...any) {
	c.Helper()
	c.Fatalf("%s\nthe rule: %s", fmt.Sprintf(format, args...), c.rule)
}

func (c *check) ok(err error, doing string) {
	c.Helper()
	if err != nil {
		c.failf("%s: %v", doing, err)
	}
}

func (c *check) same(want, got any, what string) {
	c.Helper()
	if d := cmp.Diff(want, got, cmpopts.EquateEmpty()); d != "" {
		c.failf("%s is not as it should be (- wanted, + found):\n%s", what, d)
	}
}

// unless skips a rule of which a wire has nothing.
func (c *check) unless(lacks bool, what string) {
	c.Helper()
	if lacks {
		c.Skip("this wire has no place for " + what)
	}
}

// bodies are what was sent, or the end of a rule that needs them.
func (c *check) bodies() [][]byte {
	c.Helper()
	if c.options.Sent == nil {
		c.Skip("what is sent cannot be seen; Options.Sent would show it")
	}
	return c.options.Sent()
}

// patience is how long an undisturbed stream may take; soon is how long one may
// take to end when it is cancelled or left.
const (
	patience = time.Minute
	soon     = 3 * time.Second
)

// An outcome is everything that a sequence yielded.
type outcome struct {
	chunks []pawl.Chunk // with those of errors
	errs   []error      // beside each chunk
}

// stream ranges over a model's sequence to its end, which must come soon enough.
func (c *check) stream(ctx context.Context, m pawl.Model, r pawl.Request) *outcome {
	c.Helper()
	return c.within(patience, func(o *outcome) { o.collect(m.Stream(ctx, r)) })
}

func (o *outcome) collect(seq iter.Seq2[pawl.Chunk, error]) {
	for chunk, err := range seq {
		o.chunks, o.errs = append(o.chunks, chunk), append(o.errs, err)
	}
}

// within insists that f comes to an end in some time, without a panic.
func (c *check) within(d time.Duration, f func(o *outcome)) *outcome {
	c.Helper()
	o, done := &outcome{}, make(chan any, 1)
	go func() {
		defer func() { done <- recover() }()
		f(o)
	}()
	select {
	case panicked := <-done:
		if panicked != nil {
			c.failf("the model panicked: %v", panicked)
		}
	case <-time.After(d):
		c.failf("the sequence has not ended after %v", d)
	}
	return o
}

// end is the whole reply, or else the error of a sequence.
func (o *outcome) end() (*pawl.Reply, error) {
	for i, chunk := range o.chunks {
		if o.errs[i] != nil {
			return nil, o.errs[i]
		}
		if chunk.Reply != nil {
			return chunk.Reply, nil
		}
	}
	return nil, errors.New("the sequence ended without a reply")
}

// reply insists on one.
func (c *check) reply(m pawl.Model, r pawl.Request) *pawl.Reply {
	c.Helper()
	got, err := c.stream(c.Context(), m, r).end()
	c.ok(err, "asking")
	return got
}

// failure insists on an error that says of which class it is.
func (c *check) failure(m pawl.Model, r pawl.Request) *pawl.ModelError {
	c.Helper()
	got, err := c.stream(c.Context(), m, r).end()
	if err == nil {
		c.failf("the reply is %+v, where an error was due", *got)
	}
	me := typed(err)
	if me == nil {
		c.failf("the error is not a *pawl.ModelError: %v", err)
	}
	return me
}

// Ask returns the reply to a request, or the error that the stream ends with.
func Ask(t testing.TB, m pawl.Model, r pawl.Request) (reply *pawl.Reply, failed error) {
	t.Helper()
	for c, err := range m.Stream(t.Context(), r) {
		if failed = err; c.Reply != nil {
			reply = c.Reply
		}
	}
	return reply, failed
}

// Call is a call of a tool. Its arguments are strings and numbers.
func Call(tool string, args map[string]any) pawl.Call {
	raw, err := json.Marshal(args)
	if err != nil {
		panic(err)
	}
	return pawl.Call{Tool: tool, Args: raw}
}

// Turns is a model that makes the calls of one turn after the other, and then only talks. It
// leaves the latest request in last, unless that is nil.
func Turns(last *pawl.Request, turns ...[]pawl.Call) pawl.Model {
	return pawl.ModelFunc(func(_ context.Context, r pawl.Request) (pawl.Reply, error) {
		if last != nil {
			*last = r
		}
		turn := 0
		for _, m := range r.Messages {
			if m.Role == pawl.RoleAssistant {
				turn++
			}
		}
		if turn < len(turns) {
			return pawl.Do(turns[turn]...), nil
		}
		return pawl.Say("I found nothing."), nil
	})
}
