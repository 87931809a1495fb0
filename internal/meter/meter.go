// Package meter estimates the tokens of a request from what a model counted
// before, and for what.
package meter

import "slices"

// A Meter is what one model counted for what it was sent. Before its first
// reply a run estimates without it; from then on only what was added to the
// conversation since is estimated, at the rate at which the model counted
// lately, and more by as much as it was lately off. The rate and its error are
// kept as TCP keeps the round trip time and its variance (V. Jacobson,
// Congestion Avoidance and Control, 1988), but of sums rather than of ratios, so
// that a short message weighs little. They are whole numbers: those are the same
// on every machine, and a log is decided again on another.
type Meter struct {
	model    string
	fallback int

	tokens int // counted, the older the less
	bytes  int // that they were counted for
	off    int // by how many tokens they were not what was expected
	input  int // tokens of the last request of the conversation; zero: it does not begin the next
	sent   int // its bytes
}

// most bounds what a meter learns from, so that its products do not overflow.
const most = 1 << 28

// firstWeight is how many bytes the first request counts for, since what was
// added to a conversation says more of what will be added than prompt and tools do.
const firstWeight = 1024

// Known reports whether the model has counted anything yet. Expect needs it.
func (g *Meter) Known() bool { return g.bytes > 0 }

// Expect is the tokens that a request is likely to have, with the margin on what
// has not been counted yet. It expects no more than four bytes a token, so that
// a margin of three has a token for each byte, and no less than one.
func (g *Meter) Expect(bytes int, talk bool, margin float64) int {
	known, fresh := 0, bytes
	if talk && g.input > 0 && bytes >= g.sent {
		known, fresh = g.input, bytes-g.sent
	}
	fresh = min(fresh, most)
	n := max((fresh+3)/4, (fresh*min(g.tokens+2*g.off, g.bytes)+g.bytes-1)/g.bytes)
	return known + n + int(float64(n)*margin)
}

// Learn records what a model counted for a request. talk says that the next
// request of the conversation begins with it.
func (g *Meter) Learn(input, bytes int, talk bool) {
	t, b := input, bytes
	if talk && g.input > 0 && bytes > g.sent {
		t, b = max(0, input-g.input), bytes-g.sent
	}
	if t = min(t, b); b > 0 && b <= most {
		if g.bytes == 0 { // to the first request, a provider adds some text of its own
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

// Meters are the meters of a run: of the agent's model, and of the few others.
type Meters struct {
	own   Meter
	other []Meter
}

// Of returns the meter of an adviser by its name, or of a fallback by its number,
// or of the agent's model; an empty one when that model has not counted yet.
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

// Set keeps a model's meter.
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

// Part forgets where the conversation stood: the next request begins otherwise.
func (g *Meters) Part() {
	g.own.input = 0
	for i := range g.other {
		g.other[i].input = 0
	}
}
