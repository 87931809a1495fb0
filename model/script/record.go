package script

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/token"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/internal/naming"
	"github.com/pawl-run/pawl/internal/wire"
)

// An Exchange is a request that a run sent, with the reply or the error that
// it got.
type Exchange struct {
	Request  pawl.Request
	Fallback int              // which of the agent's fallbacks got it; zero: its model
	Reply    *pawl.Reply      // nil: the request failed
	Err      *pawl.ModelError // why
}

// Record makes the strict script that gives a run and its children the same
// replies and errors again. The exchanges are in the order of the run's log.
// What providers attach to thinking for themselves is left out, as are attempts
// that were cut short, and those that failed before a fallback replied. Retries
// come after a millisecond. Record fails if a script cannot tell two requests
// apart.
func Record(run string, exchanges []Exchange) (*Script, error) {
	t := &tape{base: -1}
	for i := range exchanges {
		x := &exchanges[i]
		if x.Err != nil && slices.Contains([]pawl.Class{pawl.ClassCancelled, pawl.ClassLost, pawl.ClassPanic}, x.Err.Class) {
			continue
		}
		at := t
		if path, ok := strings.CutPrefix(x.Request.Run, run+"."); ok {
			for call := range strings.SplitSeq(path, ".") {
				at = at.child(call)
			}
		}
		if err := at.add(x); err != nil {
			return nil, fmt.Errorf("run %s: %w", x.Request.Run, err)
		}
	}
	return t.script()
}

// A tape collects the exchanges of one run.
type tape struct {
	base     int // replies that precede the run's own, in its thread; negative: not known yet
	slots    []*slot
	children map[string]*tape
}

// A slot is what one reply of a script answers: all attempts at one request.
type slot struct {
	purpose pawl.Purpose
	step    string
	index   int // among the replies of the purpose or step; a turn for other purposes
	all     []*Exchange
}

func (t *tape) child(call string) *tape {
	if t.children == nil {
		t.children = map[string]*tape{}
	}
	if t.children[call] == nil {
		t.children[call] = &tape{base: -1}
	}
	return t.children[call]
}

func (t *tape) add(x *Exchange) error {
	r := &x.Request
	s := &slot{purpose: r.Purpose, index: r.Turn}
	switch {
	case r.Step != "":
		var err error
		if s.step, s.index, err = roundOf(r, turnOf(r)); err != nil {
			return err
		}
	case r.Purpose == pawl.PurposeTurn:
		if t.base < 0 {
			t.base = turnOf(r)
		}
		s.index = turnOf(r) - t.base
	}
	i := slices.IndexFunc(t.slots, func(o *slot) bool {
		return o.step == s.step && o.index == s.index && (o.purpose == s.purpose || s.step != "")
	})
	if i < 0 {
		i = len(t.slots)
		t.slots = append(t.slots, s)
	}
	s = t.slots[i]
	if n := len(s.all); n > 0 && s.all[n-1].Reply != nil {
		return fmt.Errorf("turn %d has two replies for purpose %q, and a script cannot tell their requests apart", r.Turn, r.Purpose)
	}
	s.all = append(s.all, x)
	return nil
}

func (t *tape) script() (*Script, error) {
	doc := &Script{Strict: true}
	for _, s := range t.slots {
		last := s.all[len(s.all)-1]
		var attempts []Reply
		for _, x := range s.all {
			if x.Fallback != last.Fallback {
				continue
			}
			r, err := written(x)
			if err != nil {
				return nil, fmt.Errorf("run %s, turn %d: %w", x.Request.Run, x.Request.Turn, err)
			}
			attempts = append(attempts, r)
		}
		reply := attempts[0]
		if len(attempts) > 1 {
			reply = Reply{Attempts: attempts}
		}
		list := doc.Replies
		switch {
		case s.step != "":
			list = doc.Steps[s.step]
		case s.purpose != pawl.PurposeTurn:
			reply.Turn = s.index
			if doc.Purposes == nil {
				doc.Purposes = map[pawl.Purpose][]Reply{}
			}
			doc.Purposes[s.purpose] = append(doc.Purposes[s.purpose], reply)
			continue
		}
		if s.index != len(list) {
			return nil, fmt.Errorf("run %s: reply %d of the conversation is followed by reply %d; a script needs those in between", last.Request.Run, len(list), s.index+1)
		}
		if list = append(list, reply); s.step == "" {
			doc.Replies = list
			continue
		}
		if doc.Steps == nil {
			doc.Steps = map[string][]Reply{}
		}
		doc.Steps[s.step] = list
	}
	for call, child := range t.children {
		made, err := child.script()
		if err != nil {
			return nil, err
		}
		if doc.Children == nil {
			doc.Children = map[string]*Script{}
		}
		made.Strict = false // as the whole script is
		doc.Children[call] = made
	}
	return doc, nil
}

// written is an attempt as a script has it.
func written(x *Exchange) (r Reply, err error) {
	if x.Reply == nil {
		r.Error = &Error{Class: x.Err.Class, Message: x.Err.Message}
		if x.Err.Class.Transient() {
			r.Error.RetryAfter = time.Millisecond
		}
		if u := Usage(x.Err.Usage); u != (Usage{}) {
			r.Error.Usage = &u
		}
		return r, nil
	}
	if x.Reply.Repaired {
		return r, errors.New("the reply was not UTF-8, which a script cannot say")
	}
	r.Usage = Usage(x.Reply.Usage)
	natural := pawl.StopEnd
	ordered, stage := true, 0
	for _, p := range x.Reply.Parts {
		rank, empty := 0, false
		switch p := p.(type) {
		case pawl.Thinking:
			r.Parts, rank, empty = append(r.Parts, Part{Thinking: &p.Text}), 1, p.Text == ""
		case pawl.Text:
			r.Parts, rank, empty = append(r.Parts, Part{Text: &p.Text}), 2, p.Text == ""
		case pawl.Citation:
			r.Parts = append(r.Parts, Part{Cites: &Source{p.Title, p.URL, p.Quote}}) // which has no rank: parts with it stand as parts
		case pawl.Call:
			c, err := writtenCall(p)
			if err != nil {
				return r, err
			}
			r.Parts, rank, natural = append(r.Parts, Part{Call: &c}), 3, pawl.StopCalls
		}
		ordered = ordered && !empty && (rank > stage || rank == 3)
		stage = rank
	}
	for _, h := range x.Reply.Hosted {
		one := Hosted{Tool: h.Call.Tool, Error: h.Error}
		one.Args, one.Result = document(h.Call.Args), document(h.Result)
		r.Hosted = append(r.Hosted, one)
	}
	for _, p := range r.Parts {
		if p.Text != nil && strings.Contains(*p.Text, mark) || p.Thinking != nil && strings.Contains(*p.Thinking, mark) {
			return r, fmt.Errorf("the reply contains %s, which a script replaces", mark)
		}
	}
	if x.Reply.Stop != natural {
		r.Stop = x.Reply.Stop
	}
	if !ordered {
		return r, nil
	}
	for _, p := range r.Parts {
		switch {
		case p.Thinking != nil:
			r.Thinking = *p.Thinking
		case p.Text != nil:
			r.Text = p.Text
		default:
			r.Calls = append(r.Calls, *p.Call)
		}
	}
	if r.Parts = nil; !r.says() {
		r.Text = new(string)
	}
	return r, nil
}

// writtenCall is a call with its arguments as a value where that says them
// exactly, else as the model's text.
func writtenCall(p pawl.Call) (Call, error) {
	if bytes.Contains(p.Args, []byte(mark)) {
		return Call{}, fmt.Errorf("the arguments of %s contain %s, which a script replaces", p.Tool, mark)
	}
	c := Call{Tool: p.Tool}
	if wire.Unmarshal(p.Args, &c.Args) == nil && c.Args != nil {
		c.Args = plain(c.Args)
		if again, err := newSource(c); err == nil && bytes.Equal(again.call(1).Args, p.Args) {
			if fields, ok := c.Args.(map[string]any); ok && len(fields) == 0 {
				c.Args = nil
			}
			return c, nil
		}
	}
	text := string(p.Args)
	c.Args, c.Raw = nil, &text
	return c, nil
}

// document is a JSON value as a script has it; nil: there is none.
func document(raw json.RawMessage) (v any) {
	_ = wire.Unmarshal(raw, &v) // those of a log are valid
	return plain(v)
}

// plain has numbers as YAML writes them.
func plain(v any) any {
	switch v := v.(type) {
	case json.Number:
		if n, err := v.Int64(); err == nil {
			return n
		}
		if f, err := v.Float64(); err == nil {
			return f
		}
	case []any:
		for i := range v {
			v[i] = plain(v[i])
		}
	case map[string]any:
		for k := range v {
			v[k] = plain(v[k])
		}
	}
	return v
}

// YAML returns the document as people edit it. [Parse] of it makes the same model.
func (doc *Script) YAML() ([]byte, error) {
	want, err := New(doc)
	if err != nil {
		return nil, err
	}
	node, err := yaml.ValueToNode(doc, yaml.Indent(2), yaml.IndentSequence(true))
	if err != nil {
		return nil, fmt.Errorf("script: %w", err)
	}
	ast.Walk(quoter{}, node)
	data := []byte(node.String() + "\n")
	got, err := Parse(doc.Name, data)
	if err != nil {
		return nil, fmt.Errorf("its YAML cannot be read again: %w", err)
	}
	if got.name = want.name; !reflect.DeepEqual(got, want) { //nolint:govet // the errors in replies are data
		return nil, errors.New("script: its YAML says something else")
	}
	return data, nil
}

// A quoter quotes the texts that the YAML library would write in a way that it
// reads differently.
type quoter struct{}

var (
	// bare matches texts that need no quotes, unless they are words like true.
	bare = naming.Regexp(`^(\pL[\pL\pN ,.;!?()/_'-]*|\d+ms)$`)
	// block matches texts of several lines that can be a block of lines.
	block = naming.Regexp(`^[^\s\pC][^\pC]*(\n[^\pC]*)*\n[^\pC]*[^\s\pC]\n?$`)
	// line matches what fits between single quotes.
	line = naming.Regexp(`^[^\pC]+$`)
)

func (q quoter) Visit(n ast.Node) ast.Visitor {
	quote := func(s *ast.StringNode, key bool) {
		if text, err := strconv.Unquote(s.Value); err == nil { // the library has quoted it
			s.Value = text
		}
		switch {
		case !key && block().MatchString(s.Value), bare().MatchString(s.Value) && !strings.HasSuffix(s.Value, " ") && !token.IsNeedQuoted(s.Value):
		case strings.ContainsAny(s.Value, `"\`) && line().MatchString(s.Value):
			s.Token.Type = token.SingleQuoteType
		default:
			s.Token.Type = token.DoubleQuoteType
		}
	}
	switch n := n.(type) {
	case *ast.MappingValueNode:
		if s, ok := n.Key.(*ast.StringNode); ok {
			quote(s, true)
		}
		ast.Walk(q, n.Value)
		return nil
	case *ast.StringNode:
		quote(n, false)
	}
	return q
}
