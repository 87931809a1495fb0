package engine

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/pawl-run/pawl"
)

// A Filter changes text before it becomes an event: the text of replies, of
// observations, and of tool results and errors. It must be deterministic and
// quick, and is called from many goroutines. In JSON it is asked about each string.
type Filter interface {
	Filter(text string) string
}

// FilterFunc makes a Filter of a function.
type FilterFunc func(string) string

// Filter calls f.
func (f FilterFunc) Filter(text string) string { return f(text) }

// A Hook watches entries, one by one and in order, between their being
// appended and the next effect; an intent (model.called, tool.started) is shown
// together with what came of it. It is called from the goroutine that drives
// the run, and again on resuming for the entries of the last step, but for
// those up to the last one that was directed. Of an entry, the hooks are asked
// in order until one directs something. That is recorded as hook.directed,
// which is shown to no hook; a panic of a hook directs nothing.
type Hook interface {
	Name() string
	Entry(ctx context.Context, s pawl.State, e pawl.Entry) Direction
}

// A Direction is what a [Hook] makes of an entry. The zero Direction goes on.
// Cancel goes before Retry.
type Direction struct {
	// Cancel ends the run as cancelled.
	Cancel bool
	// Retry has what the entry records made again. A model.replied of a turn
	// counts as a rejected plan: its calls are refused, the model is told the
	// Reason and asked again in the same iteration, at most twice; two such
	// iterations in a row end the run. After a tool.finished of a Read or
	// Idempotent call, the call is run again with the same key, at most twice,
	// and the model sees the last result only. A Write is never run again, nor
	// is anything else made again: such a direction, and one too many, is
	// recorded as refused and changes nothing.
	Retry bool
	// Reason says why, for the log and, of a reply, for the model.
	Reason string
}

func (s *session) filter(text string) string {
	for _, f := range s.engine.opt.Filters {
		text = f.Filter(text)
	}
	return text
}

func (s *session) filterReply(r pawl.Reply) pawl.Reply {
	if len(s.engine.opt.Filters) == 0 {
		return r
	}
	parts := make([]pawl.Part, len(r.Parts))
	for i, p := range r.Parts {
		switch p := p.(type) {
		case pawl.Text:
			parts[i] = pawl.Text{Text: s.filter(p.Text)}
		case pawl.Call:
			p.Args = s.filterJSON(p.Args)
			parts[i] = p
		default: // thinking goes back to the provider byte for byte
			parts[i] = p
		}
	}
	r.Parts = parts
	return r
}

// filterJSON filters the strings of a JSON document and leaves everything
// else of it, white space and the order of keys included, as it was.
func (s *session) filterJSON(raw json.RawMessage) json.RawMessage {
	if len(s.engine.opt.Filters) == 0 || len(raw) == 0 {
		return raw
	}
	var out []byte
	rest := 0
	for i := 0; i < len(raw); i++ {
		if raw[i] != '"' {
			continue
		}
		end := i + 1
		for end < len(raw) && raw[end] != '"' {
			if raw[end] == '\\' {
				end++
			}
			end++
		}
		if end >= len(raw) {
			break // malformed; the machine refuses it as it is
		}
		end++
		var text string
		if json.Unmarshal(raw[i:end], &text) == nil {
			if clean := s.filter(text); clean != text {
				out = append(append(out, raw[rest:i]...), quote(clean)...)
				rest = end
			}
		}
		i = end - 1
	}
	if out == nil {
		return raw
	}
	return append(out, raw[rest:]...)
}

// askHooks shows the hooks what was appended since they were last asked. It is
// made durable first: a hook sees nothing that could still vanish. What they
// direct is appended, all of it before anything is decided.
func (s *session) askHooks() error {
	if len(s.hooked) == 0 {
		return nil
	}
	if err := s.flush(); err != nil {
		return err
	}
	entries := s.hooked
	s.hooked = nil
	for _, e := range entries {
		if s.obey(e) {
			break
		}
	}
	s.hooked = nil
	return nil
}

// obey shows an entry to the hooks, until one of them directs something, and
// reports whether that ends the run.
func (s *session) obey(e pawl.Entry) (ends bool) {
	for _, h := range s.engine.opt.Hooks {
		switch d := consult(s.base, h, s.state, e); {
		case d.Cancel:
			s.append(s.state.Seq(), s.state.Iteration(),
				pawl.HookDirected{Hook: h.Name(), Direction: "cancel", Reason: d.Reason, Entry: e.Seq},
				pawl.CancelRequested{By: "hook " + h.Name(), Reason: d.Reason})
			return true
		case d.Retry:
			s.append(s.state.Seq(), s.state.Iteration(), s.state.Retry(h.Name(), d.Reason, e))
			return false
		}
	}
	return false
}

func consult(ctx context.Context, h Hook, s pawl.State, e pawl.Entry) (d Direction) {
	defer func() {
		if p := recover(); p != nil {
			d = Direction{Reason: fmt.Sprint("hook panicked: ", p)}
		}
	}()
	return h.Entry(ctx, s, e)
}
