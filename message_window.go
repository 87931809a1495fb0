package pawl

import (
	"iter"
	"maps"
	"math"
	"slices"
	"sort"
	"strings"
	"time"

	"github.com/pawl-run/pawl/internal/wire"
)

// maskBytes is about what stands in place of a result that is left out.
const maskBytes = 100

// A Window is what the model sees of a run's conversation: what came before
// the first reply it still sees whole, called the head, and then exchanges, each
// a reply with everything said up to the next one. All sizes are in bytes of
// conversation, about four to a token, without prompt and tools. A Window is a
// value and stays as it is; its methods cost O(log exchanges) at most.
type Window struct {
	Exchanges int // replies the model sees whole
	Bytes     int // of the conversation
	Images    int // bytes of pictures in it, which Bytes leaves out
	Least     int // bytes the head has when all of it that can be is summarised
	Summary   int // bytes of the summary in the head; zero: there is none
	Compacted uint64
	Sent      time.Time // when it was last sent to the agent's model; zero: never
	Fallback  int       // to which of the agent's fallbacks; zero: its model
	Refused   int       // tokens of the smallest request that a model found too long; zero: none did
	Shortened bool      // the present turn was shortened since one did

	exchanges []exchange
	maskable  int
}

// exchange is where a reply stands. The sums are over it and all before it, so
// that what was carried through many requests is known without a walk.
type exchange struct {
	seq         uint64
	calls       int // calls before it
	start       int // bytes before it
	maskable    int // bytes that leaving results before it out would save
	startSum    int
	maskableSum int
}

// window is what State keeps of it.
type window struct {
	exchanges []exchange
	maskable  int
	images    int
	shots     int // how many pictures they are
	summary   string
	compacted uint64
	sent      time.Time
	sentTo    int
	tooLong   int
}

// Window is what the model sees of the conversation.
func (s *State) Window() Window {
	w := Window{
		Exchanges: len(s.window.exchanges), Bytes: s.bytes, Images: s.window.images, Least: s.size(s.Input()) + s.around(),
		Compacted: s.compacted, Sent: s.sent, Fallback: s.sentTo, Refused: s.tooLong, Shortened: s.shortened,
		exchanges: s.window.exchanges, maskable: s.maskable,
	}
	if s.summary != "" {
		w.Summary = len(s.summary) + len(SummaryFrame)
	}
	return w
}

// Price is what the model that t asks costs, and whether it has a price.
func (s *State) Price(t Think) (Price, bool) {
	return value(s.declared().model(t.Model, t.Fallback).Price)
}

// Summary is what the model sees in place of what was summarised; empty: nothing was.
func (s *State) Summary() string { return s.summary }

// Memories yields the keys under which the model stored something, sorted; see
// [State.Memory]. It costs O(what is noted).
func (s *State) Memories() iter.Seq[string] {
	return func(yield func(string) bool) {
		for _, key := range slices.Sorted(maps.Keys(s.notes)) {
			if name, ok := strings.CutPrefix(key, "\x00memory\x00"); ok && !yield(name) {
				return
			}
		}
	}
}

// at is exchange n, or what stands after the last one.
func (w Window) at(n int) exchange {
	if n < w.Exchanges {
		return w.exchanges[n]
	}
	end := exchange{calls: math.MaxInt, start: w.Bytes, maskable: w.maskable, startSum: w.Bytes, maskableSum: w.maskable}
	if w.Exchanges > 0 {
		end.startSum += w.exchanges[w.Exchanges-1].startSum
		end.maskableSum += w.exchanges[w.Exchanges-1].maskableSum
	}
	return end
}

// Before is the bytes that stand before exchange n, from 0; all of them for
// n = Exchanges.
func (w Window) Before(n int) int { return w.at(n).start }

// Maskable is the bytes that leaving out the large results before exchange n would save.
func (w Window) Maskable(n int) int { return w.at(n).maskable }

// Full is the first exchange that has a large result.
func (w Window) Full() int {
	return sort.Search(w.Exchanges, func(n int) bool { return w.Maskable(n+1) > 0 })
}

// Since is the seq of the reply that begins exchange n; zero beyond the last.
func (w Window) Since(n int) uint64 { return w.at(n).seq }

// CarryCost is how many bytes beyond free were sent before exchange n, over all
// requests in which they did not count as recent: the sum, for i from 1 to n, of
// what [Window.Before] i is above free.
func (w Window) CarryCost(n, free int) int {
	from := sort.Search(n, func(i int) bool { return w.Before(i+1) > free })
	if from == n {
		return 0
	}
	return w.at(n).startSum - w.at(from).startSum - (n-from)*free
}

// MaskableCarryCost is the same sum of [Window.Maskable].
func (w Window) MaskableCarryCost(n int) int {
	if w.Exchanges == 0 || n == 0 {
		return 0
	}
	return w.at(n).maskableSum
}

// Calls yields the calls before exchange n of the conversation of s, in order.
func (w Window) Calls(s *State, n int) iter.Seq[CallState] { return states(w.calls(s, 0, n), nil) }

// calls are the calls of s from exchange from to before exchange n.
func (w Window) calls(s *State, from, n int) []call {
	if from >= w.Exchanges || from >= n {
		return nil
	}
	upTo := min(w.at(n).calls, len(s.calls))
	return s.calls[min(w.at(from).calls, upTo):upTo]
}

// MaskableCalls names the calls before exchange n whose results are worth leaving out
// of the conversation. It costs O(calls between the first of them and n).
func (s *State) MaskableCalls(n int) (ids []string) {
	w := s.Window()
	for _, c := range w.calls(s, w.Full(), n) {
		if c.maskable() > 0 {
			ids = append(ids, c.ID)
		}
	}
	return ids
}

// weight is the bytes of a call's answer in the conversation, maskable those of
// them that leaving it out would save; small ones are not worth it.
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
	if c.foreign {
		n += fenceBytes
	}
	return n
}

func (c *call) maskable() int {
	if save := len(c.Result) - maskBytes; !c.masked && (save >= maskBytes || len(c.images) > 0) {
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

// compact takes over what the model no longer sees.
func (s *State) compact(e *ContextCompacted, seq uint64) {
	s.compacted = seq
	if len(e.Masked) > 0 {
		s.leaveOut(e.Masked)
	}
	if e.Summary == "" {
		return
	}
	w := s.Window()
	from := w.Exchanges - max(0, min(e.Kept, w.Exchanges))
	cut, maskable := w.Before(from), w.Maskable(from)
	s.summary = e.Summary
	head := w.Least + s.Window().Summary
	s.bytes += head - cut
	s.maskable -= maskable
	kept := s.exchanges[from:]
	s.exchanges = nil
	for _, x := range kept {
		s.place(x, x.start+head-cut, x.maskable-maskable)
	}
}

// place appends an exchange before which so many bytes stand.
func (s *State) place(x exchange, start, maskable int) {
	x.start, x.maskable, x.startSum, x.maskableSum = start, maskable, start, maskable
	if n := len(s.exchanges); n > 0 {
		last := &s.exchanges[n-1]
		x.startSum += last.startSum
		x.maskableSum += last.maskableSum
	}
	s.exchanges = append(s.exchanges, x)
}

// leaveOut masks calls and takes what that saves off the exchanges after each.
func (s *State) leaveOut(ids []string) {
	s.calls = slices.Clone(s.calls) // which others may share
	var saved []exchange            // what each call saves, from which call on
	for _, id := range ids {
		n := callNumber(id)
		if n < 1 || n > len(s.calls) {
			continue
		}
		c := &s.calls[n-1]
		was, maskable := c.weight(s), c.maskable()
		s.images -= c.pictures()
		s.shots -= len(c.images)
		c.own().masked = true
		saved = append(saved, exchange{calls: n, start: was - c.weight(s), maskable: maskable})
	}
	slices.SortFunc(saved, func(a, b exchange) int { return a.calls - b.calls })
	kept, start, maskable, next := s.exchanges, 0, 0, 0
	upTo := func(calls int) {
		for ; next < len(saved) && saved[next].calls <= calls; next++ {
			start, maskable = start+saved[next].start, maskable+saved[next].maskable
		}
	}
	s.exchanges = nil
	for _, x := range kept {
		upTo(x.calls)
		s.place(x, x.start-start, x.maskable-maskable)
	}
	upTo(len(s.calls))
	s.bytes -= start
	s.maskable -= maskable
}
