package meter

import (
	"cmp"
	"math"
	"slices"
	"sort"
	"time"
)

// A Size is what a part of a conversation adds to a request.
type Size struct {
	Bytes    int // of text
	Maskable int // of these, what leaving out the large results would save
	Images   int // bytes of pictures, which Bytes leaves out
	Pictures int // how many pictures they are
}

// Plus returns the size with another added to it so many times.
func (z Size) Plus(other Size, by int) Size {
	return Size{z.Bytes + by*other.Bytes, z.Maskable + by*other.Maskable, z.Images + by*other.Images, z.Pictures + by*other.Pictures}
}

// A Count is the tokens of input that a model counted for so many bytes of conversation. The zero
// Count is unknown.
type Count struct{ Input, Bytes int }

// A Cache says what a provider may still have of the requests with a conversation.
type Cache struct {
	Sent     time.Time // when it was last sent to the agent's model; zero: never
	Fallback int       // to which of the agent's fallbacks; zero: its model; negative: with other tools than it has now
	Long     bool      // to be kept in the cache for long
	Requests int       // to that model, without the latest
	Waits    int       // how many of them were followed by a wait that a long-lived cache outlasts
}

// Send takes in a request. A wait is what outlasts the shorter lifetime of providers' caches, five
// minutes, and not the longer, an hour.
func (c *Cache) Send(at time.Time, fallback int, long bool) {
	if wait := at.Sub(c.Sent); !c.Sent.IsZero() {
		c.Requests++
		if wait > 5*time.Minute && wait <= time.Hour {
			c.Waits++
		}
	}
	c.Sent, c.Fallback, c.Long = at, fallback, long
}

// An Exchange is a reply with everything said up to the next reply.
// All sizes are bytes of conversation, about four to a token, without prompt and tools.
type Exchange struct {
	Seq      uint64 // of the reply's entry
	Calls    int    // calls before it
	Start    int    // bytes before it
	Maskable int    // bytes that leaving out the large results before it would save

	startSum    int // of Start, over this exchange and all before it
	maskableSum int // of Maskable, likewise
}

// Exchanges holds the exchanges of a conversation, oldest first.
type Exchanges []Exchange

// Add appends an exchange.
func (l *Exchanges) Add(x Exchange) {
	x.startSum, x.maskableSum = x.Start, x.Maskable
	if n := len(*l); n > 0 {
		last := (*l)[n-1]
		x.startSum += last.startSum
		x.maskableSum += last.maskableSum
	}
	*l = append(*l, x)
}

// From returns the exchanges from n on, as they stand when so many bytes and
// maskable bytes before them are gone.
func (l Exchanges) From(n, bytes, maskable int) (moved Exchanges) {
	for _, x := range l[min(n, len(l)):] {
		x.Start, x.Maskable = x.Start-bytes, x.Maskable-maskable
		moved.Add(x)
	}
	return moved
}

// Without returns the exchanges as they stand once results are left out. An element of saved says
// for one call how many calls there are up to it, and the bytes and maskable bytes that leaving its
// result out saves.
func (l Exchanges) Without(saved []Exchange) (rest Exchanges) {
	slices.SortFunc(saved, func(a, b Exchange) int { return cmp.Compare(a.Calls, b.Calls) })
	var bytes, maskable int
	for _, x := range l {
		for ; len(saved) > 0 && saved[0].Calls <= x.Calls; saved = saved[1:] {
			bytes, maskable = bytes+saved[0].Start, maskable+saved[0].Maskable
		}
		x.Start, x.Maskable = x.Start-bytes, x.Maskable-maskable
		rest.Add(x)
	}
	return rest
}

// A Window is what the model sees of a run's conversation: the head, which is what
// came before the first reply that is still whole, and then the exchanges. A Window
// is a value; its methods cost O(log exchanges) at most.
type Window struct {
	Exchanges int // replies the model sees whole
	Bytes     int // of the conversation
	Images    int // bytes of pictures in it, which Bytes leaves out
	Least     int // bytes the head has when all of it that can be is summarised
	Summary   int // bytes of the summary in the head; zero: there is none
	Compacted uint64
	Cache
	Refused   int  // tokens of the smallest request that a model found too long; zero: none did
	Thought   int  // tokens of thinking in a reply, on average, if that is lost when what stands before it changes
	Shortened bool // the present turn was shortened since one did

	list     Exchanges
	maskable int
}

// Over returns the window with its exchanges and the maskable bytes of all of them.
func (w Window) Over(l Exchanges, maskable int) Window {
	w.Exchanges, w.list, w.maskable = len(l), l, maskable
	return w
}

// at is exchange n, or what stands after the last one.
func (w Window) at(n int) Exchange {
	if n < w.Exchanges {
		return w.list[n]
	}
	end := Exchange{Calls: math.MaxInt, Start: w.Bytes, Maskable: w.maskable, startSum: w.Bytes, maskableSum: w.maskable}
	if w.Exchanges > 0 {
		last := w.list[w.Exchanges-1]
		end.startSum += last.startSum
		end.maskableSum += last.maskableSum
	}
	return end
}

// Before is the bytes before exchange n, counted from 0; all bytes for n = Exchanges.
func (w Window) Before(n int) int { return w.at(n).Start }

// Maskable is the bytes that leaving out the large results before exchange n would save.
func (w Window) Maskable(n int) int { return w.at(n).Maskable }

// Calls is how many calls stand before exchange n; more than any for n = Exchanges.
func (w Window) Calls(n int) int { return w.at(n).Calls }

// Since is the seq of the reply that begins exchange n; zero beyond the last.
func (w Window) Since(n int) uint64 { return w.at(n).Seq }

// Full is the first exchange that has a large result.
func (w Window) Full() int {
	return sort.Search(w.Exchanges, func(n int) bool { return w.Maskable(n+1) > 0 })
}

// CarryCost is how many bytes beyond free were sent before exchange n, summed over
// all requests in which they did not count as recent: the sum, for i from 1 to n, of
// what Before(i) is above free.
func (w Window) CarryCost(n, free int) int {
	from := sort.Search(n, func(i int) bool { return w.Before(i+1) > free })
	if from == n {
		return 0
	}
	return w.at(n).startSum - w.at(from).startSum - (n-from)*free
}

// MaskableCarryCost is the same sum of Maskable.
func (w Window) MaskableCarryCost(n int) int {
	if w.Exchanges == 0 || n == 0 {
		return 0
	}
	return w.at(n).maskableSum
}
