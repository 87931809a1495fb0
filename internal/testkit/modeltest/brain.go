package modeltest

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/internal/wire"
)

// A brain is what stands behind the provider. It keeps what it was asked.
type brain struct {
	answer func(ctx context.Context, r pawl.Request) (pawl.Reply, error)

	mu   sync.Mutex
	seen []pawl.Request
}

// Stream answers, a few signals at a time.
func (b *brain) Stream(ctx context.Context, r pawl.Request) iter.Seq2[pawl.Chunk, error] {
	return func(yield func(pawl.Chunk, error) bool) {
		b.mu.Lock()
		b.seen = append(b.seen, r)
		b.mu.Unlock()
		reply, err := b.answer(ctx, r)
		for _, p := range reply.Parts {
			for _, chunk := range chunks(p) {
				if !yield(chunk, nil) {
					return
				}
			}
		}
		if err != nil {
			yield(pawl.Chunk{}, err)
			return
		}
		yield(pawl.Chunk{Reply: &reply}, nil)
	}
}

// chunks are a part as it is written.
func chunks(p pawl.Part) []pawl.Chunk {
	var list []pawl.Chunk
	add := func(text string, chunk func(s string) pawl.Chunk) {
		for piece := range slices.Chunk([]rune(text), max(5, len(text)/32)) {
			list = append(list, chunk(string(piece)))
		}
	}
	switch p := p.(type) {
	case pawl.Text:
		add(p.Text, func(s string) pawl.Chunk { return pawl.Chunk{Text: s} })
	case pawl.Thinking:
		add(p.Text, func(s string) pawl.Chunk { return pawl.Chunk{Thinking: s} })
	case pawl.Call:
		list = append(list, pawl.Chunk{Call: p.Tool})
	}
	return list
}

// asked is what the provider read, once for each request.
func (b *brain) asked() []pawl.Request {
	b.mu.Lock()
	defer b.mu.Unlock()
	return append([]pawl.Request(nil), b.seen...)
}

// last is the request that was read last.
func (c *check) last(b *brain) pawl.Request {
	c.Helper()
	seen := b.asked()
	if len(seen) == 0 {
		c.failf("the provider was asked nothing")
	}
	return seen[len(seen)-1]
}

// says makes a model whose provider gives these replies, the last one for ever.
func (c *check) says(replies ...pawl.Reply) (pawl.Model, *brain) {
	c.Helper()
	var mu sync.Mutex
	n := 0
	return c.with(func(context.Context, pawl.Request) (pawl.Reply, error) {
		mu.Lock()
		defer mu.Unlock()
		n++
		return replies[min(n, len(replies))-1], nil
	})
}

// fails makes a model whose provider fails.
func (c *check) fails(err error) (pawl.Model, *brain) {
	c.Helper()
	return c.with(func(context.Context, pawl.Request) (pawl.Reply, error) { return pawl.Reply{}, err })
}

func (c *check) with(answer func(context.Context, pawl.Request) (pawl.Reply, error)) (pawl.Model, *brain) {
	c.Helper()
	b := &brain{answer: answer}
	return c.make(c.T, b), b
}

func user(parts ...pawl.Part) pawl.Message { return pawl.Message{Role: pawl.RoleUser, Parts: parts} }

func assistant(parts ...pawl.Part) pawl.Message {
	return pawl.Message{Role: pawl.RoleAssistant, Parts: parts}
}

var runs atomic.Int64

// hello is the plainest request, of a run of its own.
func hello(text string) pawl.Request {
	return pawl.Request{Run: fmt.Sprint("run ", runs.Add(1)), Purpose: pawl.PurposeTurn, Attempt: 1, MaxTokens: 1000, Messages: []pawl.Message{user(pawl.Text{Text: text})}}
}

func call(id, tool, args string) pawl.Call {
	return pawl.Call{ID: id, Ref: "ref_" + id, Tool: tool, Args: json.RawMessage(args)}
}

func result(id, tool, content string) pawl.ToolResult {
	return pawl.ToolResult{Call: id, Ref: "ref_" + id, Tool: tool, Content: json.RawMessage(content)}
}

var toolbox = []pawl.ToolInfo{
	{Name: "add", Description: "Add two numbers.", Input: json.RawMessage(`{"type":"object","properties":{"a":{"type":"number","description":"the first"},"b":{"type":"number"}},"required":["a","b"],"additionalProperties":false}`), Effect: pawl.Read},
	{Name: "look_up", Description: "Look \"it\" up: <é>.", Input: json.RawMessage(`{"type":"object","properties":{"q":{"type":"string","enum":["x","y"]},"deep":{"type":"object","properties":{"n":{"type":"integer","minimum":0}},"additionalProperties":false}},"required":["q"],"additionalProperties":false}`), Effect: pawl.Read},
}

// onward is the conversation after a reply, as a run keeps it: with the run's
// own ids, from c_FROM on, and with arguments that no log or request chokes on.
func (c *check) onward(msgs []pawl.Message, reply *pawl.Reply, from int) []pawl.Message {
	c.Helper()
	machine, err := pawl.NewMachine(pawl.Agent{Name: "a", Model: pawl.ModelFunc(nil)})
	c.ok(err, "making a machine")
	e, err := machine.Replied(new(pawl.State), pawl.Think{Purpose: pawl.PurposeTurn}, *reply)
	c.ok(err, "taking a reply as a run does")
	var results []pawl.Part
	parts := append([]pawl.Part(nil), e.Reply.Parts...)
	for i, p := range parts {
		if call, ok := p.(pawl.Call); ok {
			call.ID = fmt.Sprintf("c_%d", from)
			from++
			parts[i] = call
			results = append(results, pawl.ToolResult{Call: call.ID, Ref: call.Ref, Tool: call.Tool, Content: json.RawMessage(fmt.Sprintf(`"result of %s"`, call.ID))})
		}
	}
	msgs = append(append([]pawl.Message(nil), msgs...), assistant(parts...))
	if len(results) > 0 {
		return append(msgs, user(results...))
	}
	return append(msgs, user(pawl.Text{Text: "Go on."}))
}

func sameJSON(a, b []byte) bool { return wire.Equal(a, b) }

// sameText reports whether two results say the same: the same text, or the
// same JSON.
func sameText(a, b string) bool { return a == b || sameJSON([]byte(a), []byte(b)) }

// said is what a reply says, in the form in which two are compared.
type said struct {
	Text, Thought string
	Calls         []string
}

func saidIn(parts []pawl.Part) said {
	var s said
	var text, thought strings.Builder
	for _, p := range parts {
		switch p := p.(type) {
		case pawl.Text:
			text.WriteString(p.Text)
		case pawl.Thinking:
			thought.WriteString(p.Text)
		case pawl.Call:
			args, err := wire.Canonical(p.Args)
			if err != nil {
				args = p.Args
			}
			s.Calls = append(s.Calls, p.Tool+" "+string(args))
		}
	}
	s.Text, s.Thought = text.String(), thought.String()
	return s
}
