package pawl

import (
	"slices"

	"github.com/pawl-run/pawl/internal/display"
	"github.com/pawl-run/pawl/internal/meter"
	"github.com/pawl-run/pawl/internal/wire"
)

// maskBytes is about what stands in place of a result that is left out.
const maskBytes = 100

// messageBytes is what a message costs beyond its text in an estimate: roles,
// ids and framing, about eight tokens.
const messageBytes = 32

// window is what the model sees of the conversation, by size and place: its texts are in the log.
// Decide estimates requests by it; the policies of package window, which shorten the conversation,
// read it through [Internals.Window]. A turn that is a step of a loop begins it again.
type window struct {
	talk      meter.Size // of the conversation
	exchanges meter.Exchanges
	counted   meter.Count // the latest count by a model, for the conversation as it was then
	summary   string      // in place of the replies before the exchanges; empty: none was made
	compacted uint64      // seq of the latest entry that shortened it
	cache     meter.Cache // what the provider may still have of it
	tooLong   int         // tokens of the smallest request that a model found too long; zero: none did
}

func (s *State) foldWindow(event Event) {
	switch e := event.(type) {
	case InstructionsGiven:
		s.instructions = e.Text
		s.talk.Bytes += s.size(e.Says()) + s.around()
	case NoticeGiven:
		put(&s.notices, e.About, e)
		s.talk.Bytes += s.size(e.Says())
	case ContextCompacted:
		s.compact(&e)
	}
}

// around is what a message, call or result costs beyond its text.
func (s *State) around() int { return max(messageBytes, s.declared().wires().Message) }

// size is what a text costs in an estimate: its bytes on the wire, if that is known.
func (s *State) size(text string) int {
	if s.declared().wires() == (Wire{}) {
		return len(text)
	}
	return wire.Quoted(text)
}

// weigh is what a part costs in an estimate.
func (s *State) weigh(p Part) int {
	switch p := p.(type) {
	case Text:
		return s.size(p.Text)
	case Thinking:
		return s.size(p.Text) + s.size(string(p.Opaque))
	case Citation:
		return s.size(p.Title) + s.size(p.URL) + s.size(p.Quote) + s.size(string(p.Opaque)) + s.around()
	case Call:
		return len(p.Tool) + s.size(string(p.Args)) + s.around()
	case ToolResult:
		return s.size(string(p.Content)) + s.around()
	case File:
		return p.weight(s)
	}
	return 0
}

// compact applies an event that shortens what the model sees.
func (s *State) compact(e *ContextCompacted) {
	s.meters.Part()
	if f := s.failing().latest; f != nil && f.Class == ClassTooLong {
		put(&s.failures, ownCalls, &miss{tries: s.failing().tries})
		s.shortened = true
	}
	s.compacted = s.seq
	if len(e.Masked) > 0 {
		s.leaveOut(e.Masked)
	}
	if e.Summary == "" {
		return
	}
	w := s.Internals().Window()
	from := w.Exchanges - max(0, min(e.Kept, w.Exchanges))
	cut, maskable := w.Before(from), w.Maskable(from)
	s.summary, s.instructions = e.Summary, "" // which the summary may leave out
	cut -= w.Least + s.Internals().Window().Summary
	s.talk = s.talk.Plus(meter.Size{Bytes: cut, Maskable: maskable}, -1)
	s.exchanges = s.exchanges.From(from, cut, maskable)
}

// leaveOut masks calls and subtracts what that saves from the exchanges after each.
func (s *State) leaveOut(ids []string) {
	s.calls = slices.Clone(s.calls) // which others may share
	var saved []meter.Exchange
	for _, id := range ids {
		n := callNumber(id)
		if n < 1 || n > len(s.calls) {
			continue
		}
		c := new(*s.calls[n-1])
		s.calls[n-1] = c
		was := c.talk(s)
		c.masked = true
		save := was.Plus(c.talk(s), -1)
		saved = append(saved, meter.Exchange{Calls: n, Start: save.Bytes, Maskable: save.Maskable})
		s.talk = s.talk.Plus(save, -1)
	}
	s.exchanges = s.exchanges.Without(saved)
}

// attached is the weight and the bytes of the files of the input.
func (s *State) attached() (weight, size int) {
	for _, f := range s.first().Files {
		weight, size = weight+f.weight(s), size+f.Bytes
	}
	return weight, size
}

// weight is the bytes of a file in the conversation: what a text with its tokens has.
func (f *File) weight(s *State) int { return tokenBytes*f.Tokens + s.around() }

// talk is what the call's answer adds to the conversation. Its files are left out with the result.
func (c *call) talk(s *State) meter.Size {
	size := meter.Size{Bytes: c.weight(s), Maskable: c.maskable(s)}
	if !c.masked {
		for i := range c.Files {
			if f := &c.Files[i]; display.Picture(f.Type) {
				size.Pictures, size.Images = size.Pictures+1, size.Images+len(f.Data)
			} else if size.Images++; f.Blob != "" { // in place of others stands a note
				size.Images += f.Bytes - 1
			}
		}
	}
	return size
}

// following is the weight of the files that follow the call's result, with what introduces them.
func (c *call) following(s *State) (weight int) {
	for i := range c.Files {
		if f := &c.Files[i]; !display.Picture(f.Type) {
			weight += f.weight(s)
		}
	}
	if weight > 0 {
		weight += s.size(display.Returned(c.Tool, c.Trust == Untrusted)) + s.around()
	}
	return weight
}

// weight is the bytes of a call's answer in the conversation.
func (c *call) weight(s *State) int {
	if c.masked {
		return maskBytes + s.size(c.Error) + s.around()
	}
	if c.Omitted {
		return 0
	}
	n := len(c.Result) + s.size(c.Error) + s.around() + c.following(s)
	if s.declared().wires() != (Wire{}) {
		n += wire.QuotedText(c.Result) - len(c.Result)
	}
	if c.Trust == Untrusted {
		n += len(wire.Fence("", ""))
	}
	return n
}

// maskable is the bytes that leaving out the result would save; zero for a result
// too small to be worth it.
func (c *call) maskable(s *State) int {
	if save := len(c.Result) + c.following(s) - maskBytes; !c.masked && !c.hosted && (save >= maskBytes || len(c.Files) > 0) {
		return max(save, 1)
	}
	return 0
}

// Window measures what the model sees of the conversation.
func (s Internals) Window() meter.Window {
	files, _ := s.attached()
	w := meter.Window{
		Bytes: s.talk.Bytes, Images: s.talk.Images, Least: s.size(s.Input()) + s.around() + files,
		Compacted: s.compacted, Cache: s.cache, Refused: s.tooLong, Shortened: s.shortened,
	}
	if s.modelCalls > 0 && s.declared().model("", s.cache.Fallback).Bound {
		w.Thought = s.usage.Reasoning / s.modelCalls
	}
	if s.summary != "" {
		w.Summary = len(s.summary) + len(display.SummaryFrame)
	}
	return w.Over(s.exchanges, s.talk.Maskable)
}

// Asked is what the run recorded of the model that t asks. It must not be changed.
func (s Internals) Asked(t Think) *ModelInfo { return s.declared().model(t.Model, t.Fallback) }

// Summary is what the model sees in place of the replies that were summarised;
// empty: none were.
func (s *State) Summary() string { return s.summary }

// MaskableCalls names the calls before exchange n of the window whose results are
// worth leaving out. It costs O(calls between the first of them and n).
func (s Internals) MaskableCalls(n int) (ids []string) {
	w := s.Window()
	upTo := min(w.Calls(max(0, n)), len(s.calls))
	for _, c := range s.calls[min(w.Calls(w.Full()), upTo):upTo] {
		if c.maskable(s.State) > 0 {
			ids = append(ids, c.ID)
		}
	}
	return ids
}
