package modeltest

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/pawl-run/pawl"
)

// told are the classes that a provider can fail with. ClassUnknown is any
// error, and the rest are not a provider's.
var told = []pawl.Class{
	pawl.ClassRateLimit, pawl.ClassOverloaded, pawl.ClassNetwork, pawl.ClassEmpty, pawl.ClassTruncated,
	pawl.ClassQuota, pawl.ClassAuth, pawl.ClassInvalid, pawl.ClassNotFound, pawl.ClassRefused, pawl.ClassTooLong,
}

// classes are those that the wire can tell.
func (c *check) classes() []pawl.Class {
	return slices.DeleteFunc(slices.Clone(told), func(k pawl.Class) bool { return slices.Contains(c.options.Classes, k) })
}

// failing makes a model whose provider fails with a class.
func (c *check) failing(class pawl.Class) (pawl.Model, *brain) {
	c.Helper()
	return c.with(func(context.Context, pawl.Request) (pawl.Reply, error) {
		var said pawl.Reply
		if class == pawl.ClassTruncated {
			said = pawl.Say("Half of what was to be s")
		}
		return said, &pawl.ModelError{Class: class, Message: "the brain says so"}
	})
}

func typed(err error) *pawl.ModelError {
	me, _ := errors.AsType[*pawl.ModelError](err)
	return me
}

var failures = []rule{
	{"fail/class", "an error of the provider is a *pawl.ModelError of the class that says what helps", func(c *check) {
		for _, class := range c.classes() {
			m, _ := c.failing(class)
			if got := c.failure(m, hello("Hi.")); got.Class != class {
				c.failf("the provider failed with %v, and the error is %v", class, got)
			}
		}
	}},
	{"fail/after", "the error says when the provider wants to be asked again", func(c *check) {
		for _, class := range []pawl.Class{pawl.ClassRateLimit, pawl.ClassOverloaded} {
			if slices.Contains(c.options.Classes, class) {
				continue
			}
			want := 7 * time.Second
			m, _ := c.fails(&pawl.ModelError{Class: class, Message: "busy", RetryAfter: want})
			if got := c.failure(m, hello("Hi.")).RetryAfter; got < want || got > want+time.Second {
				c.failf("%v: the provider wants to be asked after %v, and the error says %v", class, want, got)
			}
		}
	}},
	{"fail/once", "a model sends one request and does not try again: the machine does, in the log", func(c *check) {
		for _, class := range c.classes() {
			m, b := c.failing(class)
			c.failure(m, hello("Hi."))
			if n := len(b.asked()); n != 1 {
				c.failf("after an error of class %v the provider was asked %d times", class, n)
			}
		}
		m, b := c.says(pawl.Say("Yes."))
		c.reply(m, hello("Hi."))
		if n := len(b.asked()); n != 1 {
			c.failf("for one reply the provider was asked %d times", n)
		}
	}},
	{"fail/empty", "a reply with neither text nor calls is a typed error that another attempt may fix, and never a success", func(c *check) {
		for name, reply := range map[string]pawl.Reply{
			"nothing at all": {}, "an empty text": pawl.Say(""), "nothing, though billed": {Usage: pawl.Usage{Input: 10, Output: 20}},
			"nothing but a thought": {Parts: []pawl.Part{pawl.Thinking{Text: "Hm."}}},
		} {
			m, _ := c.says(reply)
			if got := c.failure(m, thoughtful("Hi.")); !got.Class.Transient() {
				c.failf("%s: the error is %v, after which the machine does not try again", name, got)
			}
		}
	}},
	{"fail/then", "after any error the next request is answered", func(c *check) {
		for _, class := range c.classes() {
			failed := false
			m, _ := c.with(func(context.Context, pawl.Request) (pawl.Reply, error) {
				if failed {
					return pawl.Say("Yes."), nil
				}
				failed = true
				return pawl.Reply{}, &pawl.ModelError{Class: class, Message: "the brain says so"}
			})
			c.failure(m, hello("Hi."))
			if got := c.reply(m, hello("Hi.")).Text(); got != "Yes." {
				c.failf("after an error of class %v the reply is %q", class, got)
			}
		}
	}},
}
