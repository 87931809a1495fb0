package journaltest

import (
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/pawl-run/pawl"
)

// box is the journal's inbox; a journal without one has no rules to keep.
func (c *check) box() pawl.Inbox {
	c.Helper()
	box, ok := c.Journal.(pawl.Inbox)
	if !ok {
		c.Skip("this journal has no mailbox")
	}
	return box
}

func (c *check) mail(run string, after int64) []pawl.Signal {
	c.Helper()
	out := []pawl.Signal{}
	for l, err := range c.box().Signals(c.Context(), run, after) {
		c.ok(err, "reading letters")
		out = append(out, l)
	}
	return out
}

func (c *check) post(l pawl.Signal, doing string) pawl.Signal {
	c.Helper()
	got, err := c.box().Send(c.Context(), l)
	c.ok(err, doing)
	return got
}

func signal(run, request, body string) pawl.Signal {
	return pawl.Signal{Run: run, Kind: pawl.SignalDecision, Request: request, By: "ann", Body: json.RawMessage(body), Time: day}
}

var letters = []rule{
	{"mail/post", "a letter comes back with an ID, every field as it was posted", func(c *check) {
		c.claim("r")
		last := int64(0)
		want := []pawl.Signal{}
		for kind := pawl.SignalDecision; kind <= pawl.SignalDelivery; kind++ {
			l := pawl.Signal{Run: "r", Kind: kind, Request: "q", By: "ann\x00", Body: json.RawMessage(`{"n": 1}`), Time: day}
			got := c.post(l, "posting")
			if got.ID <= last {
				c.failf("the letter after %d has the ID %d", last, got.ID)
			}
			last, l.ID = got.ID, got.ID
			c.same(l, got, "the letter posted")
			want = append(want, l)
		}
		c.same(want, c.mail("r", 0), "the mail")
	}},
	{"mail/unknown", "a letter for a run that does not exist is ErrUnknownRun, and its mailbox is empty", func(c *check) {
		_, err := c.box().Send(c.Context(), signal("r", "q", `1`))
		c.is(err, pawl.ErrUnknownRun, "posting")
		c.same([]pawl.Signal{}, c.mail("r", 0), "the mail")
		c.same([]pawl.Signal{}, c.mail("", 0), "all mail")
	}},
	{"mail/again", "the same letter again is the first one, from any sender at any time", func(c *check) {
		c.claim("r")
		first := c.post(signal("r", "q", `{"allow":true}`), "posting")
		again := signal("r", "q", `{"allow":true}`)
		again.By, again.Time = "bob", day.Add(time.Hour)
		got := c.post(again, "posting again")
		c.same(first, got, "the letter posted again")
		c.same([]pawl.Signal{first}, c.mail("r", 0), "the mail")
	}},
	{"mail/conflict", "another body for the same run, kind and request is a conflict that names the first", func(c *check) {
		c.claim("r")
		c.claim("s")
		first := c.post(signal("r", "q", `{"allow":true}`), "posting")
		other := signal("r", "q", `{"allow":false}`)
		other.By = "bob"
		_, err := c.box().Send(c.Context(), other)
		conflict, ok := errors.AsType[*pawl.SignalConflictError](err)
		if !ok {
			c.failf("posting another body: the error is %v, not a *SignalConflictError", err)
		}
		c.same(first, conflict.First, "the first letter in the error")
		for _, l := range []pawl.Signal{signal("s", "q", `2`), signal("r", "p", `2`), {Run: "r", Kind: pawl.SignalAnswer, Request: "q", Body: json.RawMessage(`2`), Time: day}} {
			c.post(l, "posting for another run, request or kind")
		}
		if got := len(c.mail("", 0)); got != 4 {
			c.failf("there are %d letters, not 4", got)
		}
	}},
	{"mail/race", "of many conflicting letters exactly one wins, and the others are told which", func(c *check) {
		c.claim("r")
		box := c.box()
		errs := race(crowd, func(i int) error {
			_, err := box.Send(c.Context(), signal("r", "q", fmt.Sprint(i)))
			return err
		})
		won := c.winner(errs, func(err error) bool {
			conflict := new(pawl.SignalConflictError)
			return errors.As(err, &conflict)
		})
		for _, err := range errs {
			if conflict := new(pawl.SignalConflictError); errors.As(err, &conflict) && string(conflict.First.Body) != fmt.Sprint(won) {
				c.failf("%d won, but a loser was told of %s", won, conflict.First.Body)
			}
		}
		got := c.mail("r", 0)
		if len(got) != 1 || string(got[0].Body) != fmt.Sprint(won) {
			c.failf("%d won, but the mail is %+v", won, got)
		}
	}},
	{"mail/after", "letters come in order of ID, for one run or all, from after an ID on", func(c *check) {
		c.claim("r")
		c.claim("s")
		var all, own []pawl.Signal
		for i := range 20 {
			l := c.post(signal([]string{"r", "s"}[i%2], fmt.Sprint(i), `true`), "posting")
			if all = append(all, l); l.Run == "r" {
				own = append(own, l)
			}
		}
		for i := range all {
			c.same(append([]pawl.Signal{}, all[i+1:]...), c.mail("", all[i].ID), "all mail after a letter")
			c.same(append([]pawl.Signal{}, own[i/2+1:]...), c.mail("r", all[i].ID), "a run's mail after a letter")
		}
		c.same(all, c.mail("", 0), "all mail")
	}},
	{"mail/follow", "a follower that asks from the last ID it saw misses no letter, however many post at once", func(c *check) {
		c.claim("r")
		box := c.box()
		const each = 5
		var posters sync.WaitGroup
		errs := make([]error, 16)
		for i := range errs {
			posters.Go(func() {
				for n := range each {
					if _, err := box.Send(c.Context(), signal("r", fmt.Sprint(i, "-", n), `0`)); err != nil {
						errs[i] = err
					}
				}
			})
		}
		done := make(chan struct{})
		go func() { posters.Wait(); close(done) }()
		seen, last := 0, int64(0)
		for ended := false; !ended; {
			select {
			case <-done:
				ended = true
			default:
			}
			for _, l := range c.mail("r", last) {
				seen, last = seen+1, l.ID
			}
		}
		c.ok(errors.Join(errs...), "posting")
		if seen != each*len(errs) {
			c.failf("of %d letters the follower saw %d", each*len(errs), seen)
		}
	}},
	{"mail/reopened", "letters outlive a restart, and IDs go on rising", func(c *check) {
		c.claim("r")
		first := c.post(signal("r", "q", `1`), "posting")
		c.reopen()
		c.same([]pawl.Signal{first}, c.mail("r", 0), "the mail after a restart")
		again := c.post(signal("r", "q", `1`), "posting again")
		c.same(first, again, "the letter posted again")
		next := c.post(signal("r", "p", `1`), "posting another")
		if next.ID <= first.ID {
			c.failf("the letter after %d has the ID %d", first.ID, next.ID)
		}
	}},
}
