package pawl

import (
	"cmp"
	"iter"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/pawl-run/pawl/internal/display"
	"github.com/pawl-run/pawl/internal/meter"
	"github.com/pawl-run/pawl/internal/wire"
)

// maskBytes is about what stands in place of a result that is left out.
const maskBytes = 100

// window is what State keeps of the conversation that the model sees.
type window struct {
	exchanges meter.Exchanges
	maskable  int // bytes that leaving out all large results would save
	images    int
	shots     int // how many pictures they are
	summary   string
	compacted uint64
	sent      time.Time
	sentTo    int
	sentLong  bool
	requests  int // that went to the run's model, and how many were followed by a wait
	waits     int
	tooLong   int
}

// send takes in a request with the conversation. A wait is what outlasts the shorter
// lifetime of providers' caches, five minutes, and not the longer, an hour.
func (w *window) send(e *ModelCalled, at time.Time) {
	if wait := at.Sub(w.sent); !w.sent.IsZero() {
		w.requests++
		if wait > 5*time.Minute && wait <= time.Hour {
			w.waits++
		}
	}
	w.sent, w.sentTo, w.sentLong = at, e.Fallback, e.Long
}

// Window measures what the model sees of the conversation.
func (s Internals) Window() meter.Window {
	files, _ := s.attached()
	w := meter.Window{
		Bytes: s.bytes, Images: s.window.images, Least: s.size(s.Input()) + s.around() + files,
		Compacted: s.compacted, Sent: s.sent, Fallback: s.sentTo, Long: s.sentLong, Requests: s.requests, Waits: s.waits, Refused: s.tooLong, Shortened: s.shortened,
	}
	if s.modelCalls > 0 && s.declared().model("", s.sentTo).Bound {
		w.Thought = s.usage.Reasoning / s.modelCalls
	}
	if s.summary != "" {
		w.Summary = len(s.summary) + len(display.SummaryFrame)
	}
	return w.Over(s.exchanges, s.maskable)
}

// Price is what the model that t asks costs, and whether it has a price.
func (s Internals) Price(t Think) (Price, bool) {
	return value(s.declared().model(t.Model, t.Fallback).Price)
}

// RelativePrice is [Internals.Price]. For a model elsewhere whose price is unknown it is one with the usual
// ratios of input, output and cache, in no currency, which is enough to compare costs. A model
// in this process has no price: what it costs is unlike that.
func (s Internals) RelativePrice(t Think) Price {
	info := s.declared().model(t.Model, t.Fallback)
	if info.Price == nil && info.Endpoint != "" {
		return Price{Input: 1, Output: 5, CacheRead: 0.1, CacheWrite: 1.25}
	}
	return *cmp.Or(info.Price, &Price{})
}

// Summary is what the model sees in place of the replies that were summarised;
// empty: none were.
func (s *State) Summary() string { return s.summary }

// Memories yields the keys under which the model stored something, sorted; see
// [State.Memory]. It costs O(what is noted).
func (s Internals) Memories() iter.Seq[string] {
	return func(yield func(string) bool) {
		for _, key := range slices.Sorted(maps.Keys(s.notes)) {
			if name, ok := strings.CutPrefix(key, "\x00memory\x00"); ok && !yield(name) {
				return
			}
		}
	}
}

// CallsBefore yields the calls before exchange n of the window, in order.
func (s Internals) CallsBefore(n int) iter.Seq[CallState] { return states(s.callsIn(0, n), nil) }

// MaskableCalls names the calls before exchange n of the window whose results are
// worth leaving out. It costs O(calls between the first of them and n).
func (s Internals) MaskableCalls(n int) (ids []string) {
	for _, c := range s.callsIn(s.Window().Full(), n) {
		if c.maskable() > 0 {
			ids = append(ids, c.ID)
		}
	}
	return ids
}

// callsIn are the calls from one exchange to before another.
func (s *State) callsIn(from, to int) []*call {
	w := s.Internals().Window()
	if from >= w.Exchanges || from >= to {
		return nil
	}
	upTo := min(w.Calls(to), len(s.calls))
	return s.calls[min(w.Calls(from), upTo):upTo]
}

// weight is the bytes of a file in the conversation: what a text with its tokens has.
func (f File) weight(s *State) int { return tokenBytes*f.Tokens + s.around() }

// attached is the weight and the bytes of the files of the input.
func (s *State) attached() (weight, size int) {
	for _, f := range s.first().Files {
		weight, size = weight+f.weight(s), size+f.Bytes
	}
	return weight, size
}

// weight is the bytes of a call's answer in the conversation.
func (c *call) weight(s *State) int {
	if c.masked {
		return maskBytes + s.size(c.Error) + s.around()
	}
	if c.omitted {
		return 0
	}
	n := len(c.Result) + s.size(c.Error) + s.around()
	if s.wire != (Wire{}) {
		n += wire.QuotedText(c.Result) - len(c.Result)
	}
	if c.Trust == Untrusted {
		n += fenceBytes
	}
	return n
}

// maskable is the bytes that leaving out the result would save; zero for a result
// too small to be worth it.
func (c *call) maskable() int {
	if save := len(c.Result) - maskBytes; !c.masked && !c.hosted && (save >= maskBytes || len(c.images) > 0) {
		return max(save, 1)
	}
	return 0
}

func (c *call) pictures() (n int) {
	for i := range c.images {
		n += len(c.images[i].Data)
	}
	return n
}

// compact applies an event that shortens what the model sees.
func (s *State) compact(e *ContextCompacted) {
	s.meters.Part()
	if s.failure != nil && s.failure.Class == ClassTooLong {
		s.failure, s.shortened = nil, true
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
	s.summary = e.Summary
	cut -= w.Least + s.Internals().Window().Summary
	s.bytes -= cut
	s.maskable -= maskable
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
		own := *s.calls[n-1]
		c := &own
		s.calls[n-1] = c
		was, maskable := c.weight(s), c.maskable()
		s.images -= c.pictures()
		s.shots -= len(c.images)
		c.masked = true
		saved = append(saved, meter.Exchange{Calls: n, Start: was - c.weight(s), Maskable: maskable})
	}
	var bytes, maskable int
	s.exchanges, bytes, maskable = s.exchanges.Without(saved)
	s.bytes -= bytes
	s.maskable -= maskable
}
