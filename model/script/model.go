package script

import (
	"context"
	"fmt"
	"iter"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"time"
	"unicode/utf8"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/internal/display"
	"github.com/pawl-run/pawl/internal/retry"
)

// A Model answers from a script. What it answers depends on the request alone. It
// is safe for concurrent use.
type Model struct {
	name     string
	replies  [][]reply // by turn, then by attempt
	repeat   string
	purposes map[pawl.Purpose][][]reply
	steps    map[string][][]reply // by id, then by round, then by attempt
	children map[string]*Model    // by the call that started them
	strict   bool
	price    *pawl.Price
}

// landing is the default answer at a limit.
const landing = "This is as far as I got before the run met its limit."

// Replies returns a model that gives these replies, one per turn, and fails on
// the turn after the last.
func Replies(replies ...pawl.Reply) *Model {
	m := &Model{name: "replies"}
	for _, r := range replies {
		m.replies = append(m.replies, []reply{{given: &r}})
	}
	return m
}

// Describe returns the name script/NAME.
func (m *Model) Describe() pawl.ModelInfo {
	return pawl.ModelInfo{Name: "script/" + m.name, Price: m.price}
}

// Hosts implements tool.Host: a script says what any hosted tool did.
func (m *Model) Hosts([]pawl.ToolInfo) error { return nil }

// Strict reports whether the script is strict.
func (m *Model) Strict() bool { return m.strict }

// Stream yields the reply for the request's turn, purpose and attempt.
func (m *Model) Stream(ctx context.Context, r pawl.Request) iter.Seq2[pawl.Chunk, error] {
	m = m.of(r.Run)
	return func(yield func(pawl.Chunk, error) bool) {
		turn := turnOf(&r)
		var attempts []reply
		var err error
		if r.Step != "" { // a step's conversation begins with its request
			attempts, err = m.step(&r, turn)
			turn += max(r.Turn, 1) - 1
		}
		if attempts == nil && err == nil {
			attempts, err = m.find(&r, turn)
		}
		if err != nil {
			yield(pawl.Chunk{}, err)
			return
		}
		if attempts[0].asked != nil {
			attempts[0].asked.Store(true)
		}
		// A request from a test may have attempt zero.
		i := min(max(r.Attempt, 1), len(attempts)) - 1
		attempts[i].stream(ctx, r, attempts[i].at(turn, "script/"+m.name), turn, yield)
	}
}

// of returns the script of a run: that of a child, if there is one.
func (m *Model) of(run string) *Model {
	calls := strings.Split(run, ".")
	for i := range calls {
		child := m
		for _, call := range calls[i:] {
			if child = child.children[call]; child == nil {
				break
			}
		}
		if child != nil {
			return child
		}
	}
	return m
}

// turnOf counts the replies in a request, and the one it asks for.
func turnOf(r *pawl.Request) int {
	turn := 1
	for _, msg := range r.Messages {
		if msg.Role == pawl.RoleAssistant {
			turn++
		} else {
			turn += summarised(msg)
		}
	}
	return turn
}

// roundOf is the place of a step's request among the requests of that step.
func roundOf(r *pawl.Request, turn int) (id string, index int, err error) {
	id, rounds, _ := strings.Cut(r.Step, "@")
	round := 1
	if rounds != "" {
		if round, err = strconv.Atoi(rounds[strings.LastIndex(rounds, ".")+1:]); err != nil {
			return id, 0, invalid("step %q has no rounds", r.Step)
		}
	}
	return id, max(round+turn-2, 0), nil
}

// step returns the replies to a step of a workflow in its round; nil: the
// script has none for it.
func (m *Model) step(r *pawl.Request, again int) ([]reply, error) {
	id, index, err := roundOf(r, again)
	list := m.steps[id]
	switch {
	case list == nil || err != nil:
		return nil, err
	case m.strict && index >= len(list):
		return nil, invalid("script %s has %s for step %s and this is request %d", m.name, count(len(list)), id, index+1)
	}
	return list[min(index, len(list)-1)], nil
}

// summarised returns the number of replies that a summary replaces.
func summarised(m pawl.Message) (n int) {
	for _, p := range m.Parts {
		if t, ok := p.(pawl.Text); ok && strings.HasPrefix(t.Text, "[") {
			if _, err := fmt.Sscanf(t.Text, "[Replies left out here: %d.", &n); err == nil {
				return n
			}
		}
	}
	return 0
}

func (m *Model) find(r *pawl.Request, turn int) ([]reply, error) {
	if purpose := r.Purpose; purpose != pawl.PurposeTurn && purpose != "" {
		list := m.purposes[purpose]
		for _, attempts := range list {
			if attempts[0].turn != 0 && attempts[0].turn == r.Turn {
				return attempts, nil
			}
		}
		list = slices.DeleteFunc(slices.Clone(list), func(attempts []reply) bool { return attempts[0].turn != 0 })
		switch {
		case len(list) > 0:
			return list[min(max(turn-2, 0), len(list)-1)], nil
		case len(m.purposes[purpose]) > 0 || m.strict:
			return nil, invalid("script %s has no reply for purpose %q in turn %d", m.name, purpose, r.Turn)
		case purpose == pawl.PurposeFinal:
			return []reply{{parts: []part{{text: landing}}}}, nil
		}
		return nil, invalid("script %s has no replies for purpose %q; add purposes: {%s: […]}", m.name, purpose, purpose)
	}
	n := len(m.replies)
	switch {
	case turn <= n:
		return m.replies[turn-1], nil
	case n > 0 && m.repeat == "last":
		return m.replies[n-1], nil
	case n > 0 && m.repeat == "all":
		return m.replies[(turn-1)%n], nil
	}
	return nil, invalid("script %s has %s and this is turn %d; add one, or repeat: last or all", m.name, count(n), turn)
}

func count(n int) string {
	if n == 1 {
		return "1 reply"
	}
	return fmt.Sprintf("%d replies", n)
}

// Unasked returns the places of the replies that no request has got, such as
// replies[2], if the script is strict. It is empty for other scripts.
func (m *Model) Unasked() (places []string) {
	if !m.strict {
		return nil
	}
	look := func(list [][]reply) {
		for _, attempts := range list {
			if asked := attempts[0].asked; asked != nil && !asked.Load() {
				places = append(places, attempts[0].path)
			}
		}
	}
	look(m.replies)
	for _, purpose := range slices.Sorted(maps.Keys(m.purposes)) {
		look(m.purposes[purpose])
	}
	for _, id := range slices.Sorted(maps.Keys(m.steps)) {
		look(m.steps[id])
	}
	for _, call := range slices.Sorted(maps.Keys(m.children)) {
		for _, place := range m.children[call].Unasked() {
			places = append(places, "children."+call+"."+place)
		}
	}
	return places
}

// A reply is one checked attempt of a scripted turn: either given in Go, or
// written in a document.
type reply struct {
	given *pawl.Reply

	path  string       // where it stands in the script
	turn  int          // of the run, that it answers; zero: any
	asked *atomic.Bool // shared by its attempts

	parts  []part
	hosted []pawl.HostedCall
	stop   pawl.StopReason
	usage  pawl.Usage
	delay  time.Duration
	chunks int
	expect string
	hang   bool
	fail   *pawl.ModelError
}

// at returns the reply for a turn. Its parts are copies, because many runs may
// get the same reply.
func (p *reply) at(turn int, model string) pawl.Reply {
	if p.given != nil {
		r := *p.given
		r.Parts = slices.Clone(r.Parts)
		return r
	}
	r := pawl.Reply{Stop: p.stop, Usage: p.usage, Hosted: slices.Clone(p.hosted)}
	for _, one := range p.parts {
		switch {
		case one.thinking != nil:
			r.Parts = append(r.Parts, pawl.Thinking{Text: fill(*one.thinking, turn), Model: model})
		case one.cites != nil:
			r.Parts = append(r.Parts, pawl.Citation{Title: one.cites.Title, URL: one.cites.URL, Quote: one.cites.Quote, Model: model})
		case one.call != nil:
			r.Parts = append(r.Parts, one.call.call(turn))
		default:
			r.Parts = append(r.Parts, pawl.Text{Text: fill(one.text, turn)})
		}
	}
	return r
}

func (p *reply) stream(ctx context.Context, r pawl.Request, whole pawl.Reply, turn int, yield func(pawl.Chunk, error) bool) {
	if p.expect != "" {
		if got := lastUser(r.Messages); !strings.Contains(got, p.expect) {
			yield(pawl.Chunk{}, invalid("turn %d expects the last user message to contain %q; it says %q", turn, p.expect, display.Clip(got, 500)))
			return
		}
	}
	pieces := split(whole.Parts, p.chunks)
	pause := p.delay / time.Duration(max(1, len(pieces)))
	if len(pieces) == 0 && !retry.Wait(ctx, pause) {
		yield(pawl.Chunk{}, ctx.Err())
		return
	}
	for _, c := range pieces {
		if !retry.Wait(ctx, pause) {
			yield(pawl.Chunk{}, ctx.Err())
			return
		}
		if !yield(c, nil) {
			return
		}
	}
	switch {
	case p.hang:
		<-ctx.Done()
		yield(pawl.Chunk{}, ctx.Err())
	case p.fail != nil:
		e := *p.fail
		yield(pawl.Chunk{}, &e)
	default:
		yield(pawl.Chunk{Reply: &whole}, nil)
	}
}

// split returns the chunks of parts, each text in n pieces of whole runes.
func split(parts []pawl.Part, n int) []pawl.Chunk {
	var chunks []pawl.Chunk
	for _, part := range parts {
		switch part := part.(type) {
		case pawl.Thinking:
			chunks = append(chunks, pawl.Chunk{Thinking: part.Text})
		case pawl.Call:
			chunks = append(chunks, pawl.Chunk{Call: part.Tool})
		case pawl.Text:
			rest, left := part.Text, utf8.RuneCountInString(part.Text)
			for k := min(max(1, n), left); k > 0; k-- {
				size, end := left/k, 0
				for range size {
					_, w := utf8.DecodeRuneInString(rest[end:])
					end += w
				}
				chunks = append(chunks, pawl.Chunk{Text: rest[:end]})
				rest, left = rest[end:], left-size
			}
		}
	}
	return chunks
}

// lastUser returns all text in the last user message.
func lastUser(msgs []pawl.Message) string {
	for _, msg := range slices.Backward(msgs) {
		if msg.Role != pawl.RoleUser {
			continue
		}
		var texts []string
		for _, part := range msg.Parts {
			switch part := part.(type) {
			case pawl.Text:
				texts = append(texts, part.Text)
			case pawl.ToolResult:
				texts = append(texts, part.Text())
			}
		}
		return strings.Join(texts, "\n")
	}
	return ""
}

func invalid(format string, a ...any) error {
	return &pawl.ModelError{Class: pawl.ClassInvalid, Message: fmt.Sprintf(format, a...)}
}
