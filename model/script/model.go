package script

import (
	"context"
	"fmt"
	"iter"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/pawl-run/pawl"
)

// A Model answers from a script. It holds no state and is safe for concurrent
// use.
type Model struct {
	name     string
	replies  [][]reply // by turn, then by attempt
	repeat   string
	purposes map[pawl.Purpose][][]reply
	steps    map[string][][]reply // by id, then by round, then by attempt
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

// Stream yields the reply for the request's turn, purpose and attempt.
func (m *Model) Stream(ctx context.Context, r pawl.Request) iter.Seq2[pawl.Chunk, error] {
	return func(yield func(pawl.Chunk, error) bool) {
		turn := 1
		for _, msg := range r.Messages {
			if msg.Role == pawl.RoleAssistant {
				turn++
			} else {
				turn += summarised(msg)
			}
		}
		var attempts []reply
		var err error
		if r.Step != "" { // a step's conversation begins with its request
			attempts, err = m.step(&r, turn)
			turn += max(r.Turn, 1) - 1
		}
		if attempts == nil && err == nil {
			attempts, err = m.find(r.Purpose, turn)
		}
		if err != nil {
			yield(pawl.Chunk{}, err)
			return
		}
		// A request from a test may have attempt zero.
		i := min(max(r.Attempt, 1), len(attempts)) - 1
		attempts[i].stream(ctx, r, attempts[i].at(turn, "script/"+m.name), turn, yield)
	}
}

// step returns the replies to a step of a workflow in its round; nil: the
// script has none for it.
func (m *Model) step(r *pawl.Request, again int) ([]reply, error) {
	id, rounds, _ := strings.Cut(r.Step, "@")
	list := m.steps[id]
	if list == nil {
		return nil, nil
	}
	round := 1
	if rounds != "" {
		n, err := strconv.Atoi(rounds[strings.LastIndex(rounds, ".")+1:])
		if err != nil {
			return nil, invalid("step %q has no rounds", r.Step)
		}
		round = n
	}
	return list[min(max(round+again-2, 0), len(list)-1)], nil
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

func (m *Model) find(purpose pawl.Purpose, turn int) ([]reply, error) {
	if purpose != pawl.PurposeTurn && purpose != "" {
		list := m.purposes[purpose]
		switch {
		case len(list) > 0:
			return list[min(max(turn-2, 0), len(list)-1)], nil
		case purpose == pawl.PurposeFinal:
			return []reply{{text: landing}}, nil
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
	noun := "replies"
	if n == 1 {
		noun = "reply"
	}
	return nil, invalid("script %s has %d %s and this is turn %d; add one, or repeat: last or all", m.name, n, noun, turn)
}

// A reply is one checked attempt of a scripted turn: either given in Go, or
// written in a document.
type reply struct {
	given *pawl.Reply

	text, thinking string
	calls          []source
	stop           pawl.StopReason
	usage          pawl.Usage
	delay          time.Duration
	chunks         int
	expect         string
	hang           bool
	fail           *pawl.ModelError
}

// at returns the reply for a turn. Its parts are copies, because many runs may
// get the same reply.
func (p *reply) at(turn int, model string) pawl.Reply {
	if p.given != nil {
		r := *p.given
		r.Parts = slices.Clone(r.Parts)
		return r
	}
	r := pawl.Reply{Stop: p.stop, Usage: p.usage}
	if p.thinking != "" {
		r.Parts = append(r.Parts, pawl.Thinking{Text: fill(p.thinking, turn), Model: model})
	}
	if p.text != "" {
		r.Parts = append(r.Parts, pawl.Text{Text: fill(p.text, turn)})
	}
	for _, c := range p.calls {
		r.Parts = append(r.Parts, c.call(turn))
	}
	return r
}

func (p *reply) stream(ctx context.Context, r pawl.Request, whole pawl.Reply, turn int, yield func(pawl.Chunk, error) bool) {
	if p.expect != "" {
		if got := lastUser(r.Messages); !strings.Contains(got, p.expect) {
			yield(pawl.Chunk{}, invalid("turn %d expects the last user message to contain %q; it says %q", turn, p.expect, clip(got)))
			return
		}
	}
	pieces := split(whole.Parts, p.chunks)
	pause := p.delay / time.Duration(max(1, len(pieces)))
	if len(pieces) == 0 && !wait(ctx, pause) {
		yield(pawl.Chunk{}, ctx.Err())
		return
	}
	for _, c := range pieces {
		if !wait(ctx, pause) {
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

// wait reports whether d passed before ctx ended.
func wait(ctx context.Context, d time.Duration) bool {
	if d <= 0 {
		return ctx.Err() == nil
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-t.C:
		return true
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

func clip(s string) string {
	const most = 500
	if r := []rune(s); len(r) > most {
		return string(r[:most]) + "…"
	}
	return s
}

func invalid(format string, a ...any) error {
	return &pawl.ModelError{Class: pawl.ClassInvalid, Message: fmt.Sprintf(format, a...)}
}
