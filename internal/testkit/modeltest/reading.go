package modeltest

import (
	"fmt"
	"strings"

	"github.com/pawl-run/pawl"
)

// A turn is the part of a conversation that one side said, in a form in which
// what was sent and what was read compare: ids are replaced by the numbers of
// calls, and neighbours of one role are one.
type turn struct {
	role    pawl.Role
	texts   []string
	calls   []string
	results []answer
	images  []string
}

// An answer is a result.
type answer struct {
	call   int
	text   string
	failed bool
}

// turns reads a conversation. A result without an id is of the first call of
// its tool that has none yet.
func turns(msgs []pawl.Message) []turn {
	var list []turn
	var calls []pawl.Call
	answered := map[int]bool{}
	of := func(r pawl.ToolResult) int {
		for i, c := range calls {
			if !answered[i] && (r.Call != "" && c.ID == r.Call || r.Call == "" && c.Tool == r.Tool) {
				answered[i] = true
				return i
			}
		}
		return -1
	}
	for _, msg := range msgs {
		if n := len(list); n == 0 || list[n-1].role != msg.Role {
			list = append(list, turn{role: msg.Role})
		}
		t := &list[len(list)-1]
		for _, p := range msg.Parts {
			switch p := p.(type) {
			case pawl.Text:
				t.texts = append(t.texts, p.Text)
			case pawl.Call:
				calls = append(calls, p)
				t.calls = append(t.calls, saidIn([]pawl.Part{p}).Calls...)
			case pawl.ToolResult:
				t.results = append(t.results, answer{of(p), p.Text(), p.Failed})
				for _, img := range p.Images {
					t.images = append(t.images, picture(img))
				}
			case pawl.File:
				t.images = append(t.images, picture(p))
			}
		}
	}
	return list
}

func picture(i pawl.File) string { return fmt.Sprintf("%s %x", i.Type, i.Data) }

// reads insists that what a provider read is what was sent.
func (c *check) reads(sent, read []pawl.Message) {
	c.Helper()
	want, got := turns(sent), turns(read)
	if len(want) != len(got) {
		c.failf("%d turns were sent, and %d were read:\n%+v", len(want), len(got), got)
	}
	for i, w := range want {
		g := got[i]
		where := fmt.Sprintf("turn %d, of the %v", i+1, w.role)
		if g.role != w.role {
			c.failf("%s was read as of the %v", where, g.role)
		}
		rest := strings.Join(g.texts, "")
		for _, text := range w.texts {
			_, after, ok := strings.Cut(rest, text)
			if !ok {
				c.failf("%s: the text %q was not read in its place; what was read is %q", where, text, g.texts)
			}
			rest = after
		}
		c.same(w.calls, g.calls, where+": what was read of the calls")
		if len(w.results) != len(g.results) {
			c.failf("%s: of %d results %d were read", where, len(w.results), len(g.results))
		}
		for k, r := range w.results {
			if s := g.results[k]; s.call != r.call || !sameText(s.text, r.text) {
				c.failf("%s: result %d was read as %q, of call %d, where it is %q, of call %d", where, k+1, s.text, s.call+1, r.text, r.call+1)
			}
		}
		c.same(w.images, g.images, where+": what was read of the pictures")
	}
}
