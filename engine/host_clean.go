package engine

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/internal/redact"
	"github.com/pawl-run/pawl/internal/usercode"
)

// A Filter changes text before it becomes an event: what people say to the run; the text,
// thinking and arguments of replies; observations; and tool results and errors. It must be
// deterministic and fast, and is called from several goroutines. In JSON it gets each
// string, and each number of six digits or more, which becomes a string if the filter
// changes it. Changed thinking loses the data that the provider wants back with it. While a
// reply streams, the filter gets one line at a time.
//
// If a policy of the agent is also a Filter, it is applied after those of [Options].
type Filter interface {
	Filter(text string) string
}

// FilterFunc makes a Filter of a function.
type FilterFunc func(string) string

// Filter calls f.
func (f FilterFunc) Filter(text string) string { return f(text) }

// A cleaner prepares text before it becomes an event: it removes the secrets, then applies
// the filters, the engine's and those of the policies that are filters too. A filter sees
// no secret, and secrets that it produces, as by decoding, are removed as well.
type cleaner struct {
	secrets *redact.Secrets
	filters []Filter
}

// cleaner returns the cleaner for the machine's agent; nil: the agent is unknown.
func (h *host) cleaner(m *pawl.Machine) cleaner {
	c := cleaner{h.secrets, h.opt.Filters}
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

// idle reports whether the cleaner changes nothing.
func (c *cleaner) idle() bool { return c.secrets.None() && len(c.filters) == 0 }

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
	defer usercode.Blame("filter", f)
	return f.Filter(text)
}

// json cleans the strings of a JSON document. Everything else, white space and the order of
// keys included, stays as it is.
func (c *cleaner) json(raw json.RawMessage) json.RawMessage {
	if c.idle() || len(raw) == 0 {
		return raw
	}
	return redact.Strings(raw, c.text)
}

func (c *cleaner) reply(r pawl.Reply) pawl.Reply {
	r.Parts = c.parts(r.Parts)
	if !c.idle() {
		r.Hosted, r.Notes = slices.Clone(r.Hosted), slices.Clone(r.Notes)
		for i, note := range r.Notes {
			r.Notes[i] = c.text(note)
		}
	}
	for i := 0; i < len(r.Hosted) && !c.idle(); i++ {
		h := &r.Hosted[i]
		h.Call.Args, h.Result, h.Error = c.json(h.Call.Args), c.json(h.Result), c.text(h.Error)
	}
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
		case pawl.Citation:
			parts[i] = c.citation(p)
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

// thinking cleans a part that must go back to the provider byte for byte or not at all. If
// its text changes, the rest is dropped, since a signature no longer matches.
func (c *cleaner) thinking(t pawl.Thinking) pawl.Thinking {
	text := c.text(t.Text)
	if text != t.Text || string(c.secrets.JSON(t.Opaque)) != string(t.Opaque) {
		t.Text, t.Opaque = text, nil
	}
	return t
}

// citation cleans a citation. If it changes, what only its provider understands is dropped, as
// that has the same texts.
func (c *cleaner) citation(p pawl.Citation) pawl.Citation {
	clean := pawl.Citation{Title: c.text(p.Title), URL: c.text(p.URL), Quote: c.text(p.Quote), Opaque: p.Opaque, Model: p.Model}
	if clean.Title != p.Title || clean.URL != p.URL || clean.Quote != p.Quote || string(c.secrets.JSON(p.Opaque)) != string(p.Opaque) {
		clean.Opaque = nil
	}
	return clean
}

// spread removes secrets that span several parts, since the texts, or the thoughts, of a
// reply are read as one. The placeholder is then in the first of the parts.
func (c *cleaner) spread(parts []pawl.Part) {
	if c.secrets.None() {
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

// liveText cleans a text while it is streamed. It holds back what may be the beginning of a
// secret. Filters get whole lines, since their result for a part of a line may differ.
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

// liveReply cleans a streamed reply.
type liveReply struct {
	text, thinking liveText
	dead           bool // a filter panicked; recording the reply will report that
}

// add returns the part of a chunk that can be shown now; the last chunk is empty. Text and
// thinking are held back separately, so that text in between does not split a secret.
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

// names returns labels without secrets, in their names and their values.
func (h *host) names(labels map[string]string) map[string]string {
	if h.secrets.None() || labels == nil {
		return labels
	}
	clean := make(map[string]string, len(labels))
	for name, value := range labels {
		clean[h.secrets.Scrub(name)] = h.secrets.Scrub(value)
	}
	return clean
}

// learned is how many secrets the engine has learned.
func (h *host) learned() int64 {
	if h.opt.Learned == nil {
		return 0
	}
	return h.opt.Learned.set.Version()
}

// Learned holds secrets that become known while runs are driven, such as the tokens with which
// an MCP server's authorisation is renewed. The latest 256 are kept out of events, as those of
// Options.Secrets are. The zero value has none; it is safe for concurrent use, and engines can
// share it.
type Learned struct{ set redact.Learned }

// Add adds a secret, which becomes {{secret:NAME}} in texts. A secret of fewer than six bytes
// is ignored.
func (l *Learned) Add(name, secret string) { l.set.Add(name, secret) }

// Scrub replaces the secrets in a text. Nil has none.
func (l *Learned) Scrub(text string) string {
	if l == nil {
		return text
	}
	s := (*redact.Secrets)(nil).With(&l.set)
	return s.Scrub(text)
}
