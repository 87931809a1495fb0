package modeltest

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-run/pawl"
)

var lives = []rule{
	{"life/request", "the request is shared, so it is not changed, nor what stands behind its slices", func(c *check) {
		said := talk()
		r, want := roomy(said), roomy(said)
		m, _ := c.says(full())
		for range 2 {
			c.reply(m, r)
			if d := cmp.Diff(want, r); d != "" {
				c.failf("the request was changed (- before, + after):\n%s", d)
			}
			if d := cmp.Diff(want.Messages[:cap(want.Messages)], r.Messages[:cap(r.Messages)]); d != "" {
				c.failf("what stands behind the messages was changed (- before, + after):\n%s", d)
			}
			for i, msg := range r.Messages {
				if d := cmp.Diff(want.Messages[i].Parts[:cap(want.Messages[i].Parts)], msg.Parts[:cap(msg.Parts)]); d != "" {
					c.failf("what stands behind the parts of message %d was changed (- before, + after):\n%s", i+1, d)
				}
			}
		}
	}},
	{"life/cancel", "when the context ends, the sequence ends soon with the context's error, and the provider sees the connection go", func(c *check) {
		asked, gone := make(chan struct{}), make(chan struct{})
		m, _ := c.with(func(ctx context.Context, _ pawl.Request) (pawl.Reply, error) {
			close(asked)
			select {
			case <-ctx.Done():
				close(gone)
			case <-time.After(patience):
			}
			return pawl.Reply{}, &pawl.ModelError{Class: pawl.ClassOverloaded, Message: "late"}
		})
		ctx, cancel := context.WithCancel(c.Context())
		defer cancel()
		go func() {
			select {
			case <-asked:
			case <-ctx.Done():
			}
			cancel()
		}()
		o := c.within(soon, func(o *outcome) { o.collect(m.Stream(ctx, hello("Hi."))) })
		_, err := o.end()
		c.cancelled(err)
		select {
		case <-gone:
		case <-time.After(soon):
			c.failf("the sequence has ended, but the provider still answers after %v", soon)
		}
	}},
	{"life/cancelled", "with a context that has ended, the sequence ends at once with its error", func(c *check) {
		m, _ := c.says(pawl.Say("Yes."))
		ctx, cancel := context.WithCancel(c.Context())
		cancel()
		o := c.within(soon, func(o *outcome) { o.collect(m.Stream(ctx, hello("Hi."))) })
		_, err := o.end()
		c.cancelled(err)
	}},
	{"life/leave", "a loop that breaks gets nothing more, and the connection is given up", func(c *check) {
		m, _ := c.says(pawl.Say(allKinds()))
		c.within(patience, func(*outcome) {
			for range m.Stream(c.Context(), hello("Tell me everything.")) {
				break
			}
		})
		c.closed()
	}},
	{"life/middle", "when the context ends in the middle of a reply, the sequence ends soon and the connection is given up", func(c *check) {
		m, _ := c.says(pawl.Say(allKinds()))
		ctx, cancel := context.WithCancel(c.Context())
		defer cancel()
		var at, end time.Time
		c.within(patience, func(*outcome) {
			for range m.Stream(ctx, hello("Tell me everything.")) {
				if cancel(); at.IsZero() {
					at = time.Now()
				}
			}
			end = time.Now()
		})
		if d := end.Sub(at); !at.IsZero() && d > soon {
			c.failf("the sequence went on for %v", d)
		}
		c.closed()
	}},
	{"life/crowd", "many runs may use one model at once, and each gets its own reply", func(c *check) {
		m, _ := c.with(func(_ context.Context, r pawl.Request) (pawl.Reply, error) {
			word := r.Messages[0].Text()
			return pawl.Reply{Parts: []pawl.Part{pawl.Text{Text: "You said " + word}, call("", "add", fmt.Sprintf(`{"word":%q}`, word))}}, nil
		})
		var all sync.WaitGroup
		errs := make([]error, 24)
		for i := range errs {
			all.Go(func() {
				for n := range 3 {
					word := fmt.Sprintf("word-%d-%d", i, n)
					o := &outcome{}
					o.collect(m.Stream(c.Context(), hello(word)))
					reply, err := o.end()
					if err == nil {
						if d := cmp.Diff(said{Text: "You said " + word, Calls: []string{fmt.Sprintf(`add {"word":%q}`, word)}}, saidIn(reply.Parts)); d != "" {
							err = errors.New("the reply is another's (- wanted, + found):\n" + d)
						}
					}
					if err != nil {
						errs[i] = err
						return
					}
				}
			})
		}
		c.within(patience, func(*outcome) { all.Wait() })
		c.ok(errors.Join(errs...), "asking all at once")
	}},
}

// cancelled insists on an error that says that the context has ended.
func (c *check) cancelled(err error) {
	c.Helper()
	if me := typed(err); !errors.Is(err, context.Canceled) && (me == nil || me.Class != pawl.ClassCancelled) {
		c.failf("the context was cancelled, and the sequence ended with %v", err)
	}
}

// closed insists that the provider no longer answers.
func (c *check) closed() {
	c.Helper()
	if c.options.Open == nil {
		return
	}
	for end := time.Now().Add(soon); ; time.Sleep(time.Millisecond) {
		n := c.options.Open()
		if n == 0 {
			return
		}
		if time.Now().After(end) {
			c.failf("the sequence is over, but the provider still answers %d requests after %v", n, soon)
		}
	}
}

// allKinds is more than any buffer on the way takes, 16 MiB; in a short test, as
// under the race detector, where that takes many seconds, it is 1 MiB.
func allKinds() string {
	if testing.Short() {
		return strings.Repeat("0123456789abcdef", 1<<16)
	}
	return strings.Repeat("0123456789abcdef", 1<<20)
}

// roomy gives every slice of a request some room, with something in it.
func roomy(r pawl.Request) pawl.Request {
	msgs := append(append([]pawl.Message{}, r.Messages...), user(pawl.Text{Text: "behind"}))
	for i, msg := range msgs {
		msgs[i].Parts = append(append([]pawl.Part{}, msg.Parts...), pawl.Text{Text: "behind"})[:len(msg.Parts)]
	}
	r.Messages = msgs[: len(msgs)-1 : len(msgs)]
	for i := range r.Messages {
		r.Messages[i].Parts = r.Messages[i].Parts[: len(r.Messages[i].Parts) : len(r.Messages[i].Parts)+1]
	}
	return r
}
