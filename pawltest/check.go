package pawltest

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/internal/testkit"
	"github.com/pawl-run/pawl/tool"
)

// A Checked model passes requests on to another model and checks each one first: every call stands
// before its result, all results of one reply are at the front of the one user turn that follows, a
// user speaks first and last, and the turns of a run share their prefix byte for byte, unless a
// request was too long or the conversation was shortened. It is safe for concurrent use.
type Checked struct {
	t     testing.TB
	model pawl.Model

	mu   sync.Mutex
	last map[string]pawl.Request // the latest turn by run
}

// Check wraps a model. Problems with a request are errors of t.
func Check(t testing.TB, model pawl.Model) *Checked {
	return &Checked{t: t, model: model, last: map[string]pawl.Request{}}
}

// Describe returns the wrapped model's description.
func (c *Checked) Describe() pawl.ModelInfo {
	if d, ok := c.model.(pawl.Describer); ok {
		return d.Describe()
	}
	return pawl.ModelInfo{Name: "func"}
}

// Hosts implements tool.Host, as the wrapped model does.
func (c *Checked) Hosts(tools []pawl.ToolInfo) error { return tool.Hosts(c.model, tools) }

// Stream checks the request and passes it on.
func (c *Checked) Stream(ctx context.Context, r pawl.Request) iter.Seq2[pawl.Chunk, error] {
	c.mu.Lock()
	if err := wellFormed(r.Messages); err != nil {
		c.t.Errorf("run %s, %s request: %v\n%s", r.Run, r.Purpose, err, testkit.Conversation(r.Messages))
	}
	if r.Purpose == pawl.PurposeTurn {
		if last, ok := c.last[r.Run]; ok && omitted(last.Messages) == omitted(r.Messages) {
			if err := extends(last, r); err != nil {
				c.t.Errorf("run %s: the request does not extend the one before: %v\n%s\nafter\n%s",
					r.Run, err, testkit.Conversation(r.Messages), testkit.Conversation(last.Messages))
			}
		}
		c.last[r.Run] = r
	}
	c.mu.Unlock()
	return func(yield func(pawl.Chunk, error) bool) {
		for chunk, err := range c.model.Stream(ctx, r) {
			if me, ok := errors.AsType[*pawl.ModelError](err); ok && me.Class == pawl.ClassTooLong {
				c.mu.Lock()
				delete(c.last, r.Run)
				c.mu.Unlock()
			}
			if !yield(chunk, err) {
				return
			}
		}
	}
}

// wellFormed returns an error that a provider would report.
func wellFormed(messages []pawl.Message) error {
	n := len(messages)
	if n == 0 || messages[0].Role != pawl.RoleUser {
		return fmt.Errorf("a user does not speak first")
	}
	seen := map[string]bool{}
	for i, m := range messages {
		var calls, results []string
		for k, p := range m.Parts {
			switch p := p.(type) {
			case pawl.Call:
				calls = append(calls, p.ID)
				if seen[p.ID] {
					return fmt.Errorf("message %d: call %s stands twice", i, p.ID)
				}
				seen[p.ID] = true
			case pawl.ToolResult:
				results = append(results, p.Call)
				if k != len(results)-1 {
					return fmt.Errorf("message %d: the result of %s does not stand in front", i, p.Call)
				}
			}
		}
		switch {
		case len(m.Parts) == 0:
			return fmt.Errorf("message %d is empty", i)
		case m.Role == pawl.RoleUser && len(calls) > 0, m.Role == pawl.RoleAssistant && len(results) > 0:
			return fmt.Errorf("message %d: calls or results in the wrong mouth", i)
		case m.Role == pawl.RoleUser && len(results) > 0 && i == 0:
			return fmt.Errorf("message 0 has results of nothing")
		case m.Role == pawl.RoleUser && i > 0 && messages[i-1].Role == pawl.RoleUser:
			return fmt.Errorf("messages %d and %d are two user turns in a row", i-1, i)
		case m.Role == pawl.RoleAssistant && len(calls) > 0 && i == n-1:
			return fmt.Errorf("calls %v have no results", calls)
		}
		if m.Role == pawl.RoleUser && i > 0 {
			if want := callsOf(messages[i-1]); !reflect.DeepEqual(want, results) {
				return fmt.Errorf("message %d has results of %v, want %v", i, results, want)
			}
		}
	}
	return nil
}

// omitted counts what is left out of a conversation: results, and replies that a
// summary stands for. It grows when the conversation is shortened, and only then.
func omitted(messages []pawl.Message) (n int) {
	for _, m := range messages {
		for _, p := range m.Parts {
			switch p := p.(type) {
			case pawl.Text:
				var replies int
				if _, err := fmt.Sscanf(p.Text, "[Replies left out here: %d.", &replies); err == nil && m.Role == pawl.RoleUser {
					n += 1000 * replies
				}
				if m.Role == pawl.RoleUser && strings.HasPrefix(p.Text, "Result of ") && strings.Contains(p.Text, "\n[") && strings.Contains(p.Text, noteOfMask) {
					n++
				}
			case pawl.ToolResult:
				if strings.Contains(p.Text(), noteOfMask) {
					n++
				}
			}
		}
	}
	return n
}

const noteOfMask = " bytes are left out here, because the conversation was too long."

func callsOf(m pawl.Message) (ids []string) {
	for _, p := range m.Parts {
		if c, ok := p.(pawl.Call); ok {
			ids = append(ids, c.ID)
		}
	}
	return ids
}

// extends checks that a cache that has the older request can serve the newer
// one: only the last user turn may have grown. Tools that were found come after the
// others, and cost the cache.
func extends(older, newer pawl.Request) error {
	switch {
	case older.System != newer.System:
		return fmt.Errorf("the system prompt changed")
	case len(newer.Tools) < len(older.Tools) || !reflect.DeepEqual(older.Tools, newer.Tools[:len(older.Tools)]) ||
		slices.ContainsFunc(newer.Tools[len(older.Tools):], func(t pawl.ToolInfo) bool { return !t.Deferred }):
		return fmt.Errorf("the tools changed")
	case len(newer.Messages) < len(older.Messages):
		return fmt.Errorf("%d messages became %d", len(older.Messages), len(newer.Messages))
	}
	for i, m := range older.Messages {
		now := newer.Messages[i]
		parts := now.Parts
		if i == len(older.Messages)-1 && len(parts) >= len(m.Parts) {
			parts = parts[:len(m.Parts)]
		}
		if now.Role != m.Role || !reflect.DeepEqual(parts, m.Parts) {
			return fmt.Errorf("message %d changed", i)
		}
	}
	return nil
}
