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
	"testing"

	"github.com/pawl-run/pawl"
)

// A streamer asks a model in a way that breaks one rule.
type streamer func(ctx context.Context, m pawl.Model, r pawl.Request) iter.Seq2[pawl.Chunk, error]

// A broken model is a sound one but for a single rule.
type broken struct {
	pawl.Model
	ask streamer
}

func (b broken) Stream(ctx context.Context, r pawl.Request) iter.Seq2[pawl.Chunk, error] {
	return b.ask(ctx, b.Model, r)
}

// requests changes each request, whose messages are the changer's own.
func requests(change func(r *pawl.Request)) streamer {
	return func(ctx context.Context, m pawl.Model, r pawl.Request) iter.Seq2[pawl.Chunk, error] {
		r.Messages = slices.Clone(r.Messages)
		for i := range r.Messages {
			r.Messages[i].Parts = slices.Clone(r.Messages[i].Parts)
		}
		change(&r)
		return m.Stream(ctx, r)
	}
}

// replies changes each part of a reply.
func replies(change func(p pawl.Part) pawl.Part) streamer {
	return func(ctx context.Context, m pawl.Model, r pawl.Request) iter.Seq2[pawl.Chunk, error] {
		return func(yield func(pawl.Chunk, error) bool) {
			for c, err := range m.Stream(ctx, r) {
				if c.Reply != nil {
					reply := *c.Reply
					reply.Parts = slices.Clone(reply.Parts)
					for i, p := range reply.Parts {
						reply.Parts[i] = change(p)
					}
					c.Reply = &reply
				}
				if !yield(c, err) {
					return
				}
			}
		}
	}
}

// whole asks a model and waits for its reply.
func whole(ctx context.Context, m pawl.Model, r pawl.Request) error {
	for _, err := range m.Stream(ctx, r) {
		if err != nil {
			return err
		}
	}
	return nil
}

// cases has one broken model for each group of rules, with the rule that has to notice it.
var cases = map[string]struct {
	notices string
	ask     streamer
}{
	"mixes results up": {"read/results", requests(func(r *pawl.Request) {
		for _, msg := range r.Messages {
			for i, p := range msg.Parts {
				if p, ok := p.(pawl.ToolResult); ok {
					p.Call = map[string]string{"c_1": "c_2", "c_2": "c_1"}[p.Call]
					msg.Parts[i] = p
				}
			}
		}
	})},
	"rounds arguments": {"reply/calls", replies(func(p pawl.Part) pawl.Part {
		if c, ok := p.(pawl.Call); ok {
			var v any
			_ = json.Unmarshal(c.Args, &v)
			c.Args, _ = json.Marshal(v)
			return c
		}
		return p
	})},
	"changes the seal": {"opaque/back", requests(func(r *pawl.Request) {
		for _, msg := range r.Messages {
			for i, p := range msg.Parts {
				if p, ok := p.(pawl.Thinking); ok {
					p.Opaque = json.RawMessage(strings.Replace(string(p.Opaque), "sealed First", "sealed first", 1))
					msg.Parts[i] = p
				}
			}
		}
	})},
	"replies twice": {"stream/last", func(ctx context.Context, m pawl.Model, r pawl.Request) iter.Seq2[pawl.Chunk, error] {
		return func(yield func(pawl.Chunk, error) bool) {
			for c, err := range m.Stream(ctx, r) {
				if !yield(c, err) || c.Reply != nil && !yield(c, err) {
					return
				}
			}
		}
	}},
	"tries again": {"fail/once", func(ctx context.Context, m pawl.Model, r pawl.Request) iter.Seq2[pawl.Chunk, error] {
		_ = whole(ctx, m, r)
		return m.Stream(ctx, r)
	}},
	"leaves the provider talking": {"life/cancel", func(ctx context.Context, m pawl.Model, r pawl.Request) iter.Seq2[pawl.Chunk, error] {
		return func(yield func(pawl.Chunk, error) bool) {
			go whole(context.WithoutCancel(ctx), m, r)
			<-ctx.Done()
			yield(pawl.Chunk{}, ctx.Err())
		}
	}},
	"numbers its requests": {"bytes/again", requests(func(r *pawl.Request) { r.System += fmt.Sprint(rand.Int64()) })},
	"cuts letters": {"odd/text", replies(func(p pawl.Part) pawl.Part {
		if text, ok := p.(pawl.Text); ok {
			return pawl.Text{Text: text.Text + "\xf0\x9f"}
		}
		return p
	})},
}

// TestSuiteNotices runs each rule in another process on a model that breaks it,
// since a test cannot survive the failure of its subtests.
func TestSuiteNotices(t *testing.T) {
	t.Parallel()
	if name := os.Getenv("PAWL_TEST_BROKEN"); name != "" {
		suite(t, func(m pawl.Model) pawl.Model { return broken{m, cases[name].ask} })
		return
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			group, rule, _ := strings.Cut(c.notices, "/")
			cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestSuiteNotices$/^"+group+"$/^"+rule+"$")
			cmd.Env = append(os.Environ(), "PAWL_TEST_BROKEN="+name)
			out, err := cmd.CombinedOutput()
			if exit := new(exec.ExitError); !errors.As(err, &exit) || !strings.Contains(string(out), "the rule: ") {
				t.Errorf("%s did not notice, or does not say which rule is broken: %v\n%s", c.notices, err, out)
			}
		})
	}
}
