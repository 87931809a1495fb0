package pawl

// A meter is what a model was seen to count for what it was sent. The first
// request of a run is reckoned at four bytes a token; from its reply on, only
// what has come to the conversation since is, at the rate the model counted
// lately, and so much more as it was lately off. The rate and its error are kept
// as TCP keeps the round trip time and its variance (V. Jacobson, Congestion
// Avoidance and Control, 1988), but of sums rather than of ratios, so that a
// short message weighs little. They are whole numbers: those come out the same on every
// machine, and a log is decided again on another.
type meter struct {
	adviser  string
	fallback int

	tokens int // counted, the older the less
	bytes  int // that they were counted for
	off    int // by how many tokens they were not what was expected
	input  int // tokens of the last request of the conversation; zero: it is no beginning of the next
	sent   int // its bytes
}

// mostMetered bounds what a meter learns from, so that its products do not overflow.
const mostMetered = 1 << 28

// firstWeight is how many bytes the first request counts for, since what has
// come to a conversation says more of what will come than prompt and tools do.
const firstWeight = 1024

// expect is the tokens that a request is likely to have, with the margin on what
// has not been counted yet. It believes in no more than four bytes a token, so
// that a margin of three has a token for each byte, and in no less than one.
func (g *meter) expect(bytes int, talk bool, margin float64) int {
	known, fresh := 0, bytes
	if talk && g.input > 0 && bytes >= g.sent {
		known, fresh = g.input, bytes-g.sent
	}
	fresh = min(fresh, mostMetered)
	n := max((fresh+3)/4, (fresh*min(g.tokens+2*g.off, g.bytes)+g.bytes-1)/g.bytes)
	return known + n + int(float64(n)*margin)
}

// learn takes in what a model counted for a request. talk says that the next
// request of the conversation begins with it.
func (g *meter) learn(input, bytes int, talk bool) {
	t, b := input, bytes
	if talk && g.input > 0 && bytes > g.sent {
		t, b = max(0, input-g.input), bytes-g.sent
	}
	if t = min(t, b); b > 0 && b <= mostMetered {
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

// meters are the meters of a run: of the agent's model, and of what few others
// there are. They are shared by states.
type meters struct {
	own   meter
	other []meter
}

// of returns a model's meter; an empty one when it has not counted yet.
func (g *meters) of(adviser string, fallback int) meter {
	if adviser == "" && fallback == 0 {
		return g.own
	}
	for i := range g.other {
		if o := &g.other[i]; o.adviser == adviser && (adviser != "" || o.fallback == fallback) {
			return *o
		}
	}
	return meter{adviser: adviser, fallback: fallback}
}

// set keeps a model's meter.
func (g *meters) set(now meter) {
	if now.adviser == "" && now.fallback == 0 {
		g.own = now
		return
	}
	other := make([]meter, 0, len(g.other)+1)
	for _, o := range g.other {
		if o.adviser != now.adviser || now.adviser == "" && o.fallback != now.fallback {
			other = append(other, o)
		}
	}
	g.other = append(other, now)
}

// part forgets where the conversation stood: what is sent next begins otherwise.
func (g *meters) part() {
	g.own.input = 0
	other := append([]meter(nil), g.other...)
	for i := range other {
		other[i].input = 0
	}
	g.other = other
}
