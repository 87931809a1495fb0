package engine

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/internal/blame"
	"github.com/pawl-run/pawl/internal/redact"
)

// A Filter changes text before it becomes an event: what people say to the run,
// the text, thinking and arguments of replies, observations, tool results and
// errors. It must be deterministic and quick, and is called from many
// goroutines. In JSON it is asked about each string, and about each number of
// six digits or more, which becomes a string if that changes it. Thinking that
// is changed loses what the provider wants back with it. Of a reply on its way
// it is asked about one line at a time.
//
// A policy of the agent that is a Filter too is asked after those of [Options].
type Filter interface {
	Filter(text string) string
}

// FilterFunc makes a Filter of a function.
type FilterFunc func(string) string

// Filter calls f.
func (f FilterFunc) Filter(text string) string { return f(text) }

// cleaner is what a text goes through before it becomes an event: the secrets
// are taken out, then the filters are asked, the engine's and those of the
// policies that are filters too. A filter sees no secret, and what it makes
// appear, as by decoding, is taken out as well.
type cleaner struct {
	secrets *redact.Secrets
	filters []Filter
}

// cleaner is for a run of the machine's agent; nil: nothing is known of the agent.
func (e *Engine) cleaner(m *pawl.Machine) cleaner {
	c := cleaner{e.secrets, e.opt.Filters}
	if m == nil {
		return c
	}
	for _, p := range m.Agent().Policies {
		if f, ok := p.(Filter); ok {
			c.filters = append(c.filters[:len(c.filters):len(c.filters)], f)
		}
	}
	return c
}

// idle reports whether every text stays as it is.
func (c *cleaner) idle() bool { return c.secrets == nil && len(c.filters) == 0 }

func (c *cleaner) text(text string) string {
	text = c.secrets.Scrub(text)
	if clean := c.filtered(text); clean != text {
		return c.secrets.Scrub(clean)
	}
	return text
}

func (c *cleaner) filtered(text string) string {
	for _, f := range c.filters {
		text = ask(f, text)
	}
	return text
}

func ask(f Filter, text string) string {
	defer blame.On("filter", f)
	return f.Filter(text)
}

// json cleans the strings of a JSON document and leaves everything else of it,
// white space and the order of keys included, as it was.
func (c *cleaner) json(raw json.RawMessage) json.RawMessage {
	if c.idle() || len(raw) == 0 {
		return raw
	}
	return redact.Strings(raw, c.text)
}

func (c *cleaner) reply(r pawl.Reply) pawl.Reply {
	r.Parts = c.parts(r.Parts)
	return r
}

// parts cleans the parts of a message.
func (c *cleaner) parts(parts []pawl.Part) []pawl.Part {
	if c.idle() {
		return parts
	}
	parts = slices.Clone(parts)
	for i, p := range parts {
		switch p := p.(type) {
		case pawl.Text:
			parts[i] = pawl.Text{Text: c.text(p.Text)}
		case pawl.Thinking:
			parts[i] = c.thinking(p)
		case pawl.Call:
			p.Tool, p.Ref, p.Args = c.secrets.Scrub(p.Tool), c.secrets.Scrub(p.Ref), c.json(p.Args)
			parts[i] = p
		case pawl.ToolResult:
			p.Content = c.json(p.Content)
			parts[i] = p
		}
	}
	c.spread(parts)
	return parts
}

// thinking goes back to the provider byte for byte or not at all: what the
// provider wants back with a text that was changed, a signature mostly, fits it
// no more.
func (c *cleaner) thinking(t pawl.Thinking) pawl.Thinking {
	text := c.text(t.Text)
	if text != t.Text || string(c.secrets.JSON(t.Opaque)) != string(t.Opaque) {
		t.Text, t.Opaque = text, nil
	}
	return t
}

// spread looks for secrets that lie in several parts, since the texts, or the
// thoughts, of a reply are read as one. They are then in the first of them.
func (c *cleaner) spread(parts []pawl.Part) {
	if c.secrets == nil {
		return
	}
	var text, thought strings.Builder
	for _, p := range parts {
		switch p := p.(type) {
		case pawl.Text:
			text.WriteString(p.Text)
		case pawl.Thinking:
			thought.WriteString(p.Text)
		}
	}
	said, meant := c.secrets.Scrub(text.String()), c.secrets.Scrub(thought.String())
	spoken, minded := said != text.String(), meant != thought.String()
	for i, p := range parts {
		switch p.(type) {
		case pawl.Text:
			if spoken {
				parts[i], said = pawl.Text{Text: said}, ""
			}
		case pawl.Thinking:
			if minded {
				parts[i], meant = pawl.Thinking{Text: meant}, ""
			}
		}
	}
}

// liveText cleans a text while it comes in. What may be the beginning of a
// secret is held back until that is known. A filter is asked about whole lines:
// what it does to a whole text does not follow from a half.
type liveText struct {
	secrets *redact.Stream
	line    string
}

func (l *liveText) add(c *cleaner, piece string, last bool) string {
	if l.secrets == nil {
		l.secrets = c.secrets.Stream()
	}
	text := l.secrets.Add(piece)
	if last {
		text += l.secrets.Close()
	}
	if len(c.filters) == 0 {
		return text
	}
	text = l.line + text
	end := len(text)
	if !last {
		end = strings.LastIndexByte(text, '\n') + 1
	}
	l.line = text[end:]
	if end == 0 {
		return ""
	}
	return c.secrets.Scrub(c.filtered(text[:end]))
}

// liveReply cleans what is streamed of a reply.
type liveReply struct {
	text, thinking liveText
	dead           bool // a filter panicked; the whole reply will show that
}

// add gives what of a chunk can be shown now, the last one being empty. Text is
// held back in one place and thinking in another, so that what comes in between
// does not part a secret.
func (l *liveReply) add(c *cleaner, chunk pawl.Chunk, last bool) (clean pawl.Chunk) {
	if l.dead {
		return pawl.Chunk{}
	}
	defer func() {
		if recover() != nil {
			clean, l.dead = pawl.Chunk{}, true
		}
	}()
	if chunk.Text != "" || last {
		chunk.Text = l.text.add(c, chunk.Text, last)
	}
	if chunk.Thinking != "" || last {
		chunk.Thinking = l.thinking.add(c, chunk.Thinking, last)
	}
	chunk.Call = c.secrets.Scrub(chunk.Call)
	return chunk
}

// names are labels without secrets, in their names and their values.
func (e *Engine) names(labels map[string]string) map[string]string {
	if e.secrets == nil || labels == nil {
		return labels
	}
	clean := make(map[string]string, len(labels))
	for name, value := range labels {
		clean[e.secrets.Scrub(name)] = e.secrets.Scrub(value)
	}
	return clean
}

// keepSecrets prepares the engine's secrets. New has no error, so a bad secret is an
// error of Start.
func (e *Engine) keepSecrets() {
	var err error
	if e.secrets, err = redact.New(e.opt.Secrets); err != nil {
		e.invalid = fmt.Errorf("options: %w", err)
	}
}
