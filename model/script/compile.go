package script

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/internal/wire"
)

// New checks a script and returns a model of it. It does not keep the document.
func New(doc *Script) (*Model, error) {
	m := &Model{name: doc.Name, repeat: doc.Repeat}
	if m.name == "" {
		m.name = "unnamed"
	}
	switch doc.Repeat {
	case "", "none", "last", "all":
	default:
		return nil, fmt.Errorf("script: repeat is %q; want last, all or none", doc.Repeat)
	}
	if len(doc.Replies) == 0 && len(doc.Purposes) == 0 && len(doc.Steps) == 0 {
		return nil, errors.New("script: no replies; want at least one")
	}
	var err error
	if m.replies, err = compileAll("replies", doc.Replies); err != nil {
		return nil, err
	}
	for purpose, list := range doc.Purposes {
		path := "purposes." + string(purpose)
		if purpose == pawl.PurposeTurn {
			return nil, fmt.Errorf("script: %s: the turns of the conversation belong under replies", path)
		}
		if len(list) == 0 {
			return nil, fmt.Errorf("script: %s: no replies; want at least one", path)
		}
		turns, err := compileAll(path, list)
		if err != nil {
			return nil, err
		}
		if m.purposes == nil {
			m.purposes = map[pawl.Purpose][][]reply{}
		}
		m.purposes[purpose] = turns
	}
	for step, list := range doc.Steps {
		path := "steps." + step
		if len(list) == 0 {
			return nil, fmt.Errorf("script: %s: no replies; want at least one", path)
		}
		turns, err := compileAll(path, list)
		if err != nil {
			return nil, err
		}
		if m.steps == nil {
			m.steps = map[string][][]reply{}
		}
		m.steps[step] = turns
	}
	if p := doc.Price; p != nil {
		if min(p.Input, p.Output, p.CacheRead, p.CacheWrite, p.Long.Input, p.Long.Output, p.Long.CacheRead, p.Long.CacheWrite, float64(p.Long.From)) < 0 {
			return nil, errors.New("script: price: want dollars a million tokens, none below zero")
		}
		m.price = &pawl.Price{Input: p.Input, Output: p.Output, CacheRead: p.CacheRead, CacheWrite: p.CacheWrite, Long: pawl.Tier(p.Long)}
	}
	return m, nil
}

func compileAll(path string, list []Reply) ([][]reply, error) {
	turns := make([][]reply, len(list))
	for i, r := range list {
		at := fmt.Sprintf("%s[%d]", path, i)
		if r.Attempts == nil {
			one, err := compile(at, r)
			if err != nil {
				return nil, err
			}
			turns[i] = []reply{one}
			continue
		}
		attempts := r.Attempts
		r.Attempts = nil
		if r.says() || r.Usage != (Usage{}) || r.Stop != 0 || r.Delay != 0 || r.Chunks != 0 || r.Expect != "" {
			return nil, fmt.Errorf("script: %s: attempts stands alone; put the other keys into its replies", at)
		}
		if len(attempts) == 0 {
			return nil, fmt.Errorf("script: %s.attempts: no replies; want at least one", at)
		}
		for k, a := range attempts {
			one, err := compile(fmt.Sprintf("%s.attempts[%d]", at, k), a)
			if err != nil {
				return nil, err
			}
			turns[i] = append(turns[i], one)
		}
	}
	return turns, nil
}

func (r Reply) says() bool {
	return r.Text != nil || r.Thinking != "" || len(r.Calls) > 0 || r.Hang || r.Error != nil
}

func compile(path string, r Reply) (reply, error) {
	bad := func(format string, a ...any) (reply, error) {
		return reply{}, fmt.Errorf("script: %s: %s", path, fmt.Sprintf(format, a...))
	}
	switch {
	case r.Attempts != nil:
		return bad("attempts do not nest")
	case !r.says():
		return bad("says nothing; want text, thinking, calls, error, hang or attempts (text: \"\" for an empty reply)")
	case r.Hang && r.Error != nil:
		return bad("has both hang and error; want one")
	case r.Delay < 0 || r.Chunks < 0:
		return bad("delay and chunks must not be below zero")
	}
	p := reply{thinking: r.Thinking, delay: r.Delay, chunks: r.Chunks, expect: r.Expect, hang: r.Hang, stop: r.Stop, usage: pawl.Usage(r.Usage)}
	if r.Text != nil {
		p.text = *r.Text
	}
	for i, c := range r.Calls {
		src, err := newSource(c)
		if err != nil {
			return bad("calls[%d]: %v", i, err)
		}
		p.calls = append(p.calls, src)
	}
	if e := r.Error; e != nil {
		if e.Class == 0 {
			return bad("error has no class")
		}
		p.fail = &pawl.ModelError{Class: e.Class, Message: e.Message, RetryAfter: e.RetryAfter}
		if e.Usage != nil {
			p.fail.Usage, p.fail.Billed = pawl.Usage(*e.Usage), true
		}
	}
	return p, nil
}

// A source is a call as written, which yields the call of a turn.
type source struct {
	tool, id string
	raw      *string
	args     any // of the types of encoding/json
}

func newSource(c Call) (source, error) {
	s := source{tool: c.Tool, id: c.ID, raw: c.Raw, args: map[string]any{}}
	switch {
	case c.Tool == "":
		return s, errors.New("names no tool")
	case c.Raw != nil && c.Args != nil:
		return s, errors.New("has both args and raw; want one")
	case c.Args == nil:
		return s, nil
	}
	raw, err := wire.Marshal(c.Args)
	if err != nil {
		return s, fmt.Errorf("args have no JSON form: %w", err)
	}
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber() // keeps large integers exact
	if err := dec.Decode(&s.args); err != nil {
		return s, fmt.Errorf("args have no JSON form: %w", err)
	}
	return s, nil
}

const mark = "{{turn}}"

func (s source) call(turn int) pawl.Call {
	call := pawl.Call{Ref: s.id, Tool: s.tool}
	if s.raw == nil {
		call.Args, _ = wire.Marshal(replace(s.args, turn)) // these types always marshal
		return call
	}
	text := fill(*s.raw, turn)
	if call.Args = json.RawMessage(text); !json.Valid(call.Args) {
		call.Args, _ = wire.Marshal(text)
	}
	return call
}

func fill(text string, turn int) string {
	return strings.ReplaceAll(text, mark, strconv.Itoa(turn))
}

func replace(v any, turn int) any {
	switch v := v.(type) {
	case string:
		if v == mark {
			return turn
		}
		return fill(v, turn)
	case []any:
		out := make([]any, len(v))
		for i, e := range v {
			out[i] = replace(e, turn)
		}
		return out
	case map[string]any:
		out := make(map[string]any, len(v))
		for k, e := range v {
			out[k] = replace(e, turn)
		}
		return out
	}
	return v
}
