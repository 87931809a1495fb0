// Package meter measures runs: it estimates the tokens of a request from the counts a model reported for
// earlier ones, prices them, counts the calls of each tool, says where each reply stands in the
// conversation, and compares measures of a goal.
package meter

import "slices"

// A Meter holds the token counts that one model reported. Before the first
// reply a run estimates without it; afterwards only additions to the
// conversation are estimated, at the model's recent rate of tokens per byte,
// plus the recent error. Rate and error are updated like TCP's round trip time
// and variance (V. Jacobson, Congestion Avoidance and Control, 1988), but for
// sums instead of ratios, so that a short message weighs little. They are
// integers, because replay on another machine must compute the same.
type Meter struct {
	model    string
	fallback int

	tokens int // reported, older ones weighted less
	bytes  int // that the tokens were reported for
	off    int // recent error of the estimate, in tokens
	input  int // tokens of the last request; zero: the next request does not begin with it
	sent   int // its bytes
}

// most limits the inputs, so that products do not overflow.
const most = 1 << 28

// firstWeight is the weight of the first request in bytes, since additions to a
// conversation predict later additions better than prompt and tools do.
const firstWeight = 1024

// Known reports whether the model has reported any count. Expect requires it.
func (g *Meter) Known() bool { return g.bytes > 0 }

// Expect returns the expected tokens of a request, with the margin on the
// estimated part. It assumes between one and four bytes per token, so that a
// margin of three suffices for one token per byte.
func (g *Meter) Expect(bytes int, talk bool, margin float64) int {
	known, fresh := 0, bytes
	if talk && g.input > 0 && bytes >= g.sent {
		known, fresh = g.input, bytes-g.sent
	}
	fresh = min(fresh, most)
	n := max((fresh+3)/4, (fresh*min(g.tokens+2*g.off, g.bytes)+g.bytes-1)/g.bytes)
	return known + n + int(float64(n)*margin)
}

// Learn records the reported tokens of a request. talk: the next request of the
// conversation begins with it.
func (g *Meter) Learn(input, bytes int, talk bool) {
	t, b := input, bytes
	if talk && g.input > 0 && bytes > g.sent {
		t, b = max(0, input-g.input), bytes-g.sent
	}
	if t = min(t, b); b > 0 && b <= most {
		if g.bytes == 0 { // providers add text of their own to the first request
			if t = min(t, b/2); b > firstWeight {
				t, b = t*firstWeight/b, firstWeight
			}
		}
		g.tokens += t - g.tokens/8
		g.bytes += b - g.bytes/8
		off := t - b*g.tokens/g.bytes
		g.off += max(off, -off) - g.off/4
	}
	if talk {
		g.input, g.sent = input, bytes
	}
}

// Meters are a run's meters: for the agent's model, and for the few others.
type Meters struct {
	own   Meter
	other []Meter
}

// Of returns the meter of an adviser by name, of a fallback by number, or of
// the agent's model; an empty one if that model has reported nothing yet.
func (g *Meters) Of(adviser string, fallback int) Meter {
	if adviser == "" && fallback == 0 {
		return g.own
	}
	for i := range g.other {
		if o := &g.other[i]; o.model == adviser && (adviser != "" || o.fallback == fallback) {
			return *o
		}
	}
	return Meter{model: adviser, fallback: fallback}
}

// Set stores a model's meter.
func (g *Meters) Set(now Meter) {
	if now.model == "" && now.fallback == 0 {
		g.own = now
		return
	}
	for i := range g.other {
		if o := &g.other[i]; o.model == now.model && (now.model != "" || o.fallback == now.fallback) {
			*o = now
			return
		}
	}
	g.other = append(g.other, now)
}

// Clone returns meters that are independent of g.
func (g *Meters) Clone() Meters { return Meters{g.own, slices.Clone(g.other)} }

// Part resets the position in the conversation: the next request begins
// differently.
func (g *Meters) Part() {
	g.own.input = 0
	for i := range g.other {
		g.other[i].input = 0
	}
}
