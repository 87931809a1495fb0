package script

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync/atomic"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/internal/wire"
)

// New checks a script and returns a model of it. It does not keep the document.
func New(doc *Script) (*Model, error) {
	m := &Model{name: doc.Name, repeat: doc.Repeat, strict: doc.Strict}
	m.name = cmp.Or(m.name, "unnamed")
	switch doc.Repeat {
	case "", "none", "last", "all":
	default:
		return nil, fmt.Errorf("script: repeat is %q; want last, all or none", doc.Repeat)
	}
	if len(doc.Replies)+len(doc.Purposes)+len(doc.Steps)+len(doc.Children) == 0 {
		return nil, errors.New("script: no replies; want at least one")
	}
	var err error
	if m.replies, err = compileAll("replies", doc.Replies); err != nil {
		return nil, err
	}
	if _, ok := doc.Purposes[pawl.PurposeTurn]; ok {
		return nil, fmt.Errorf("script: purposes.%s: the turns of the conversation belong under replies", pawl.PurposeTurn)
	}
	if m.purposes, err = compileEach("purposes", doc.Purposes); err != nil {
		return nil, err
	}
	if m.steps, err = compileEach("steps", doc.Steps); err != nil {
		return nil, err
	}
	m.children = map[string]*Model{}
	for call, child := range doc.Children {
		if child == nil {
			return nil, fmt.Errorf("script: children.%s: no script; want at least replies", call)
		}
		c := *child
		c.Name, c.Strict = doc.Name, child.Strict || doc.Strict
		made, err := New(&c)
		if err != nil {
			return nil, fmt.Errorf("children.%s: %w", call, err)
		}
		m.children[call] = made
	}
	if p := doc.Price; p != nil {
		if min(p.Input, p.Output, p.CacheRead, p.CacheWrite, p.CacheLong, p.Long.Input, p.Long.Output, p.Long.CacheRead, p.Long.CacheWrite, p.Long.CacheLong, float64(p.Long.From), p.Search, p.Session) < 0 {
			return nil, errors.New("script: price: want dollars a million tokens, none below zero")
		}
		m.price = new(*p)
	}
	return m, nil
}

// compileEach compiles lists of replies by what they answer.
func compileEach[K ~string](under string, lists map[K][]Reply) (map[K][][]reply, error) {
	all := make(map[K][][]reply, len(lists))
	for key, list := range lists {
		path := under + "." + string(key)
		if len(list) == 0 {
			return nil, fmt.Errorf("script: %s: no replies; want at least one", path)
		}
		var err error
		if all[key], err = compileAll(path, list); err != nil {
			return nil, err
		}
	}
	return all, nil
}

func compileAll(path string, list []Reply) ([][]reply, error) {
	turns := make([][]reply, len(list))
	for i, r := range list {
		at, turn := fmt.Sprintf("%s[%d]", path, i), r.Turn
		if turn < 0 || turn > 0 && !strings.HasPrefix(path, "purposes.") {
			return nil, fmt.Errorf("script: %s: turn: %d; want a turn from 1, and that only under purposes", at, turn)
		}
		r.Turn = 0
		attempts := []Reply{r}
		if r.Attempts != nil {
			attempts, r.Attempts = r.Attempts, nil
			if r.says() || r.Usage != (Usage{}) || r.Stop != 0 || r.Delay != 0 || r.Chunks != 0 || r.Expect != "" {
				return nil, fmt.Errorf("script: %s: attempts stands alone; put the other keys into its replies", at)
			}
			if len(attempts) == 0 {
				return nil, fmt.Errorf("script: %s.attempts: no replies; want at least one", at)
			}
		}
		asked := new(atomic.Bool)
		for k, a := range attempts {
			where := at
			if len(attempts) > 1 || list[i].Attempts != nil {
				where = fmt.Sprintf("%s.attempts[%d]", at, k)
			}
			one, err := compile(where, a)
			if err != nil {
				return nil, err
			}
			one.path, one.turn, one.asked = at, turn, asked
			turns[i] = append(turns[i], one)
		}
	}
	return turns, nil
}

func (r Reply) says() bool {
	return r.Text != nil || r.Thinking != "" || len(r.Calls) > 0 || len(r.Hosted) > 0 || len(r.Parts) > 0 || r.Hang || r.Error != nil
}

func compile(path string, r Reply) (reply, error) {
	bad := func(format string, a ...any) (reply, error) {
		return reply{}, fmt.Errorf("script: %s: %s", path, fmt.Sprintf(format, a...))
	}
	switch {
	case r.Attempts != nil:
		return bad("attempts do not nest")
	case r.Turn != 0:
		return bad("turn stands beside attempts, not in them")
	case !r.says():
		return bad("says nothing; want text, thinking, calls, error, hang or attempts (text: \"\" for an empty reply)")
	case r.Hang && r.Error != nil:
		return bad("has both hang and error; want one")
	case len(r.Parts) > 0 && (r.Text != nil || r.Thinking != "" || len(r.Calls) > 0):
		return bad("has parts beside text, thinking or calls; want one or the other")
	case r.Delay < 0 || r.Chunks < 0:
		return bad("delay and chunks must not be below zero")
	}
	p := reply{delay: r.Delay, chunks: r.Chunks, expect: r.Expect, hang: r.Hang, stop: r.Stop, usage: pawl.Usage(r.Usage)}
	if r.Thinking != "" {
		p.parts = append(p.parts, part{thinking: &r.Thinking})
	}
	if r.Text != nil && *r.Text != "" {
		p.parts = append(p.parts, part{text: *r.Text})
	}
	call := func(name string, c Call) error {
		src, err := newSource(c)
		if err != nil {
			return fmt.Errorf("script: %s: %s: %w", path, name, err)
		}
		p.parts = append(p.parts, part{call: &src})
		return nil
	}
	for i, c := range r.Calls {
		if err := call(fmt.Sprintf("calls[%d]", i), c); err != nil {
			return reply{}, err
		}
	}
	for i, one := range r.Parts {
		name := fmt.Sprintf("parts[%d]", i)
		set := 0
		for _, is := range []bool{one.Call != nil, one.Text != nil, one.Thinking != nil, one.Cites != nil} {
			if is {
				set++
			}
		}
		switch {
		case set != 1:
			return bad("%s: want one of text, thinking, call and cites", name)
		case one.Call != nil:
			if err := call(name, *one.Call); err != nil {
				return reply{}, err
			}
		case one.Text != nil:
			p.parts = append(p.parts, part{text: *one.Text})
		default:
			p.parts = append(p.parts, part{thinking: one.Thinking, cites: one.Cites})
		}
	}
	for i, h := range r.Hosted {
		args, err := wire.Marshal(numbers(h.Args))
		result, wrong := wire.Marshal(numbers(h.Result))
		if err = errors.Join(err, wrong); h.Tool == "" || err != nil {
			return bad("hosted[%d]: want a tool, and args and a result that have a JSON form", i)
		}
		if h.Error != "" || h.Result == nil {
			result = nil
		}
		p.hosted = append(p.hosted, pawl.HostedCall{Call: pawl.Call{Tool: h.Tool, Args: args}, Result: result, Error: h.Error})
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

// A part is a part of a reply as written: thinking, a call, a source, or else text.
type part struct {
	thinking *string
	cites    *Source
	text     string
	call     *source
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
	if err := wire.Unmarshal(raw, &s.args); err != nil { // which keeps large integers exact
		return s, fmt.Errorf("args have no JSON form: %w", err)
	}
	s.args = numbers(s.args)
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
