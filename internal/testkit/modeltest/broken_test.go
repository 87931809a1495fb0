package modeltest_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"math/rand/v2"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/internal/testkit/modeltest"
)

// A broken model is a sound one but for a single rule.
type broken struct {
	pawl.Model

	request func(r *pawl.Request)           // what it makes of a request
	part    func(p pawl.Part) []pawl.Part   // of each part of the reply
	reply   func(r *pawl.Reply)             // of the whole of it
	chunk   func(c pawl.Chunk) []pawl.Chunk // of each piece of the stream
	err     func(err error) error           // of an error
	stream  func(ctx context.Context, m pawl.Model, r pawl.Request) iter.Seq2[pawl.Chunk, error]
}

func (b *broken) Stream(ctx context.Context, r pawl.Request) iter.Seq2[pawl.Chunk, error] {
	if b.stream != nil {
		return b.stream(ctx, b.Model, r)
	}
	if b.request != nil {
		b.request(&r)
	}
	return func(yield func(pawl.Chunk, error) bool) {
		for c, err := range b.Model.Stream(ctx, r) {
			if err != nil && b.err != nil {
				err = b.err(err)
			}
			if c.Reply != nil {
				c.Reply = b.whole(*c.Reply)
			}
			list := []pawl.Chunk{c}
			if b.chunk != nil {
				list = b.chunk(c)
			}
			for _, c := range list {
				if !yield(c, err) {
					return
				}
			}
		}
	}
}

func (b *broken) whole(r pawl.Reply) *pawl.Reply {
	if b.part != nil {
		var parts []pawl.Part
		for _, p := range r.Parts {
			parts = append(parts, b.part(p)...)
		}
		r.Parts = parts
	}
	if b.reply != nil {
		b.reply(&r)
	}
	return &r
}

// each makes a change to every part of a request of one kind; nil takes it out.
func each[P pawl.Part](change func(p P) pawl.Part) func(r *pawl.Request) {
	return func(r *pawl.Request) {
		r.Messages = slices.Clone(r.Messages)
		for i, msg := range r.Messages {
			var parts []pawl.Part
			for _, p := range msg.Parts {
				if k, ok := p.(P); ok {
					if p = change(k); p == nil {
						continue
					}
				}
				parts = append(parts, p)
			}
			r.Messages[i].Parts = parts
		}
	}
}

// one makes a change to every part of a reply of one kind; nil takes it out.
func one[P pawl.Part](change func(p P) pawl.Part) func(p pawl.Part) []pawl.Part {
	return func(p pawl.Part) []pawl.Part {
		if k, ok := p.(P); ok {
			if p = change(k); p == nil {
				return nil
			}
		}
		return []pawl.Part{p}
	}
}

func whole(ctx context.Context, m pawl.Model, r pawl.Request) (*pawl.Reply, error) {
	for c, err := range m.Stream(ctx, r) {
		if err != nil || c.Reply != nil {
			return c.Reply, err
		}
	}
	return nil, errors.New("no reply")
}

var latest struct {
	sync.Mutex
	r pawl.Request
}

// cases say which rule has to notice what.
var cases = map[string]struct {
	notices string
	broken  broken
}{
	"forgets the system prompt": {"read/system", broken{request: func(r *pawl.Request) { r.System = "" }}},
	"trims what it sends":       {"read/messages", broken{request: each(func(p pawl.Text) pawl.Part { return pawl.Text{Text: strings.TrimSpace(p.Text)} })}},
	"mixes results up": {"read/results", broken{request: each(func(p pawl.ToolResult) pawl.Part {
		p.Call = map[string]string{"c_1": "c_2", "c_2": "c_1"}[p.Call]
		return p
	})}},
	"hides failures":            {"read/failed", broken{request: each(func(p pawl.ToolResult) pawl.Part { p.Failed = false; return p })}},
	"drops pictures of results": {"read/images", broken{request: each(func(p pawl.ToolResult) pawl.Part { p.Images = nil; return p })}},
	"drops schemas": {"read/tools", broken{request: func(r *pawl.Request) {
		r.Tools = slices.Clone(r.Tools)
		for i := range r.Tools {
			r.Tools[i].Input = json.RawMessage(`{"type":"object"}`)
		}
	}}},
	"drops calls without tools": {"read/without tools", broken{request: func(r *pawl.Request) {
		if len(r.Tools) == 0 {
			each(func(pawl.Call) pawl.Part { return nil })(r)
			each(func(pawl.ToolResult) pawl.Part { return nil })(r)
		}
	}}},
	"has a ceiling of its own": {"read/ceiling", broken{request: func(r *pawl.Request) { r.MaxTokens = 1000 }}},
	"is always cold":           {"read/temperature", broken{request: func(r *pawl.Request) { r.Sampling.Temperature = 0 }}},
	"thinks as it likes":       {"read/effort", broken{request: func(r *pawl.Request) { r.Sampling.Effort = "" }}},
	"forgets the schema":       {"read/schema", broken{request: func(r *pawl.Request) { r.Output = nil }}},
	"forgets options":          {"read/options", broken{request: func(r *pawl.Request) { r.Sampling.Options = nil }}},
	"is refused for empty texts": {"read/empty", broken{stream: func(ctx context.Context, m pawl.Model, r pawl.Request) iter.Seq2[pawl.Chunk, error] {
		for _, msg := range r.Messages {
			if slices.Contains(msg.Parts, pawl.Part(pawl.Text{})) {
				return fail(&pawl.ModelError{Class: pawl.ClassInvalid, Message: "text content blocks must be non-empty"})
			}
		}
		return m.Stream(ctx, r)
	}}},

	"trims what it gets": {"reply/text", broken{part: one(func(p pawl.Text) pawl.Part { return pawl.Text{Text: strings.Join(strings.Fields(p.Text), " ")} })}},
	"rounds arguments": {"reply/calls", broken{part: one(func(p pawl.Call) pawl.Part {
		var v any
		_ = json.Unmarshal(p.Args, &v)
		p.Args, _ = json.Marshal(v)
		return p
	})}},
	"tells calls apart by their ids": {"reply/ids", broken{reply: func(r *pawl.Reply) {
		seen := map[string]bool{}
		r.Parts = slices.DeleteFunc(slices.Clone(r.Parts), func(p pawl.Part) bool {
			c, ok := p.(pawl.Call)
			again := ok && seen[c.Ref]
			seen[c.Ref] = true
			return again
		})
	}}},
	"drops thoughts":    {"reply/thinking", broken{part: one(func(pawl.Thinking) pawl.Part { return nil })}},
	"drops sources":     {"reply/citations", broken{part: one(func(pawl.Citation) pawl.Part { return nil })}},
	"forgets the cache": {"reply/usage", broken{reply: func(r *pawl.Reply) { r.Usage.CacheRead = 0 }}},
	"always means it":   {"reply/stop", broken{reply: func(r *pawl.Reply) { r.Stop = 0 }}},
	"changes the seal": {"opaque/back", broken{request: each(func(p pawl.Thinking) pawl.Part {
		p.Opaque = json.RawMessage(strings.Replace(string(p.Opaque), "sealed First", "sealed first", 1))
		return p
	})}},
	"turns the seals": {"opaque/back", broken{request: turned}},
	"drops silent ones": {"opaque/silent", broken{stream: func(ctx context.Context, m pawl.Model, r pawl.Request) iter.Seq2[pawl.Chunk, error] {
		last := r.Messages[max(0, len(r.Messages)-2)]
		if n := slices.IndexFunc(last.Parts, func(p pawl.Part) bool { t, ok := p.(pawl.Thinking); return ok && t.Text == "" }); n >= 0 {
			return fail(&pawl.ModelError{Class: pawl.ClassInvalid, Message: "thinking without text"})
		}
		return m.Stream(ctx, r)
	}}},
	"sends foreign ones": {"opaque/foreign", broken{request: each(func(p pawl.Thinking) pawl.Part { p.Model = directName; return p })}},

	"replies twice": {"stream/last", broken{chunk: func(c pawl.Chunk) []pawl.Chunk {
		if c.Reply != nil {
			return []pawl.Chunk{c, c}
		}
		return []pawl.Chunk{c}
	}}},
	"stutters": {"stream/chunks", broken{chunk: func(c pawl.Chunk) []pawl.Chunk { return []pawl.Chunk{{Text: c.Text}, c} }}},
	"announces every call twice": {"stream/calls", broken{chunk: func(c pawl.Chunk) []pawl.Chunk {
		return []pawl.Chunk{{Call: c.Call}, c}
	}}},
	"replies to errors": {"stream/error", broken{stream: func(ctx context.Context, m pawl.Model, r pawl.Request) iter.Seq2[pawl.Chunk, error] {
		return func(yield func(pawl.Chunk, error) bool) {
			for c, err := range m.Stream(ctx, r) {
				if !yield(c, err) || err != nil && !yield(pawl.Chunk{Reply: &pawl.Reply{}}, nil) {
					return
				}
			}
		}
	}}},

	"knows one class": {"fail/class", broken{err: func(err error) error { return &pawl.ModelError{Class: pawl.ClassNetwork, Err: err} }}},
	"is impatient": {"fail/after", broken{err: func(err error) error {
		if me := new(pawl.ModelError); errors.As(err, &me) {
			return &pawl.ModelError{Class: me.Class, Message: me.Message}
		}
		return err
	}}},
	"tries again": {"fail/once", broken{stream: func(ctx context.Context, m pawl.Model, r pawl.Request) iter.Seq2[pawl.Chunk, error] {
		if _, err := whole(ctx, m, r); err == nil {
			return m.Stream(ctx, r)
		}
		return m.Stream(ctx, r)
	}}},
	"takes nothing for an answer": {"fail/empty", broken{stream: func(ctx context.Context, m pawl.Model, r pawl.Request) iter.Seq2[pawl.Chunk, error] {
		return func(yield func(pawl.Chunk, error) bool) {
			for c, err := range m.Stream(ctx, r) {
				if me := new(pawl.ModelError); errors.As(err, &me) && me.Class == pawl.ClassEmpty {
					c, err = pawl.Chunk{Reply: &pawl.Reply{}}, nil
				}
				if !yield(c, err) {
					return
				}
			}
		}
	}}},
	"gives up for good": {"fail/then", broken{stream: func() func(ctx context.Context, m pawl.Model, r pawl.Request) iter.Seq2[pawl.Chunk, error] {
		var mu sync.Mutex
		failed := map[pawl.Model]error{}
		return func(ctx context.Context, m pawl.Model, r pawl.Request) iter.Seq2[pawl.Chunk, error] {
			mu.Lock()
			defer mu.Unlock()
			if failed[m] == nil {
				_, failed[m] = whole(ctx, m, r)
			}
			return fail(failed[m])
		}
	}()}},

	"appends to the request": {"life/request", broken{stream: func(ctx context.Context, m pawl.Model, r pawl.Request) iter.Seq2[pawl.Chunk, error] {
		r.Messages[0].Parts = append(slices.Clone(r.Messages)[0].Parts, pawl.Text{Text: "more"})
		return m.Stream(ctx, r)
	}}},
	"does not hear of cancels": {"life/cancel", broken{stream: func(ctx context.Context, m pawl.Model, r pawl.Request) iter.Seq2[pawl.Chunk, error] {
		return m.Stream(context.WithoutCancel(ctx), r)
	}}},
	"leaves the provider talking": {"life/cancel", broken{stream: func(ctx context.Context, m pawl.Model, r pawl.Request) iter.Seq2[pawl.Chunk, error] {
		return func(yield func(pawl.Chunk, error) bool) {
			go whole(context.WithoutCancel(ctx), m, r)
			<-ctx.Done()
			yield(pawl.Chunk{}, ctx.Err())
		}
	}}},
	"begins in spite of a cancel": {"life/cancelled", broken{stream: func(ctx context.Context, m pawl.Model, r pawl.Request) iter.Seq2[pawl.Chunk, error] {
		return m.Stream(context.WithoutCancel(ctx), r)
	}}},
	"goes on when left": {"life/leave", broken{stream: relentless}},
	"reads on when cancelled": {"life/middle", broken{stream: func(ctx context.Context, m pawl.Model, r pawl.Request) iter.Seq2[pawl.Chunk, error] {
		return func(yield func(pawl.Chunk, error) bool) {
			for c, err := range m.Stream(context.WithoutCancel(ctx), r) {
				time.Sleep(150 * time.Millisecond)
				if !yield(c, err) {
					return
				}
			}
		}
	}}},
	"keeps the request": {"life/crowd", broken{stream: func(ctx context.Context, m pawl.Model, r pawl.Request) iter.Seq2[pawl.Chunk, error] {
		latest.Lock()
		latest.r = r
		latest.Unlock()
		return func(yield func(pawl.Chunk, error) bool) {
			time.Sleep(time.Millisecond)
			latest.Lock()
			r := latest.r
			latest.Unlock()
			m.Stream(ctx, r)(yield)
		}
	}}},

	"numbers its requests": {"bytes/again", broken{request: func(r *pawl.Request) { r.System += fmt.Sprint(rand.Int64()) }}},
	"shortens old results": {"bytes/prefix", broken{request: func(r *pawl.Request) {
		n := len(r.Messages)
		head := pawl.Request{Messages: r.Messages[:n-1]}
		each(func(p pawl.ToolResult) pawl.Part { p.Content = json.RawMessage(`"…"`); return p })(&head)
		r.Messages = append(head.Messages, r.Messages[n-1])
	}}},

	"is poisoned by arguments": {"odd/arguments", broken{stream: poisoned(func(p pawl.Part) bool {
		c, ok := p.(pawl.Call)
		return ok && len(c.Args) > 0 && c.Args[0] != '{'
	})}},
	"is poisoned by names": {"odd/names", broken{stream: poisoned(func(p pawl.Part) bool {
		c, ok := p.(pawl.Call)
		return ok && strings.ContainsAny(c.Tool, " .")
	})}},
	"cuts letters": {"odd/text", broken{part: one(func(p pawl.Text) pawl.Part { return pawl.Text{Text: p.Text + "\xf0\x9f"} })}},
}

// fail is a sequence of one error.
func fail(err error) iter.Seq2[pawl.Chunk, error] {
	return func(yield func(pawl.Chunk, error) bool) { yield(pawl.Chunk{}, err) }
}

// poisoned refuses requests that have a part of some kind.
func poisoned(by func(p pawl.Part) bool) func(ctx context.Context, m pawl.Model, r pawl.Request) iter.Seq2[pawl.Chunk, error] {
	return func(ctx context.Context, m pawl.Model, r pawl.Request) iter.Seq2[pawl.Chunk, error] {
		for _, msg := range r.Messages {
			if slices.ContainsFunc(msg.Parts, by) {
				return fail(&pawl.ModelError{Class: pawl.ClassInvalid, Message: "refused"})
			}
		}
		return m.Stream(ctx, r)
	}
}

// turned sends the first opaque part last, and the last first.
func turned(r *pawl.Request) {
	var all []pawl.Thinking
	each(func(p pawl.Thinking) pawl.Part { all = append(all, p); return p })(r)
	each(func(p pawl.Thinking) pawl.Part {
		p.Opaque = all[len(all)-1].Opaque
		all = all[:len(all)-1]
		return p
	})(r)
}

// relentless yields whatever its caller says.
func relentless(ctx context.Context, m pawl.Model, r pawl.Request) iter.Seq2[pawl.Chunk, error] {
	return func(yield func(pawl.Chunk, error) bool) {
		for c, err := range m.Stream(ctx, r) {
			yield(c, err)
		}
	}
}

// TestSuiteNotices runs each rule in another process on a model that breaks it,
// since a test cannot survive the failure of its subtests.
func TestSuiteNotices(t *testing.T) {
	t.Parallel()
	if name := os.Getenv("PAWL_TEST_BROKEN"); name != "" {
		suite(t, func(m pawl.Model) pawl.Model {
			b := cases[name].broken
			b.Model = m
			return &b
		})
		return
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	// Most of them wait rather than work, so more than t.Parallel allows run at once.
	type attempt struct {
		done chan struct{}
		out  []byte
		err  error
	}
	attempts, places := map[string]*attempt{}, make(chan struct{}, 8)
	for name, c := range cases {
		group, rule, _ := strings.Cut(c.notices, "/")
		cmd := exec.CommandContext(t.Context(), self, "-test.run=^TestSuiteNotices$/^"+group+"$/^"+strings.ReplaceAll(rule, " ", "_")+"$")
		cmd.Env = append(os.Environ(), "PAWL_TEST_BROKEN="+name)
		a := &attempt{done: make(chan struct{})}
		attempts[name] = a
		go func() {
			defer close(a.done)
			places <- struct{}{}
			a.out, a.err = cmd.CombinedOutput()
			<-places
		}()
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			a := attempts[name]
			<-a.done
			if exit := new(exec.ExitError); !errors.As(a.err, &exit) {
				t.Fatalf("%s did not notice: %v\n%s", c.notices, a.err, a.out)
			}
			if !strings.Contains(string(a.out), "the rule: ") {
				t.Errorf("the failure does not say which rule is broken:\n%s", a.out)
			}
		})
	}
}

// TestEveryRuleIsProved shows that no rule is without a model that breaks it.
func TestEveryRuleIsProved(t *testing.T) {
	if os.Getenv("PAWL_TEST_BROKEN") != "" {
		return
	}
	proved := map[string]bool{}
	for _, c := range cases {
		proved[c.notices] = true
	}
	for _, name := range modeltest.Rules() {
		if !proved[name] {
			t.Errorf("no broken model shows that %s notices anything", name)
		}
	}
}
