package meter

import "cmp"

// Use is the tokens of model calls. Input counts all input, cached or not; the cached
// parts are parts of it.
type Use struct{ Input, Output, CacheRead, CacheWrite, Reasoning, CacheLong, Searches, Sessions int }

// Plus adds v to u, by times.
func (u Use) Plus(v Use, by int) Use {
	return Use{
		u.Input + by*v.Input, u.Output + by*v.Output, u.CacheRead + by*v.CacheRead,
		u.CacheWrite + by*v.CacheWrite, u.Reasoning + by*v.Reasoning, u.CacheLong + by*v.CacheLong,
		u.Searches + by*v.Searches, u.Sessions + by*v.Sessions,
	}
}

// These are figures that no provider counts, kept from overflowing sums.
const mostTokens, mostUses = 1 << 40, 1 << 20

// Sane is the use with every figure in its range: none below nothing, and the
// cached parts within the input.
func (u Use) Sane() Use {
	within := func(n, most int) int { return max(0, min(n, most)) }
	u.Input, u.Output = within(u.Input, mostTokens), within(u.Output, mostTokens)
	u.CacheRead = within(u.CacheRead, u.Input)
	u.CacheWrite = within(u.CacheWrite, u.Input-u.CacheRead)
	u.CacheLong = within(u.CacheLong, u.CacheWrite)
	u.Reasoning = within(u.Reasoning, u.Output)
	u.Searches, u.Sessions = within(u.Searches, mostUses), within(u.Sessions, mostUses)
	return u
}

// Rates are dollars per million tokens, and those of requests with a long input; of
// searches and sessions they are dollars each.
type Rates struct {
	Input, Output, CacheRead, CacheWrite, CacheLong float64
	Long                                            Tier
	Search, Session                                 float64
}

// A Tier is the rates of requests with more input than From; zero: there are none.
type Tier struct {
	From       int     `wire:"from"`
	Input      float64 `wire:"input"`
	Output     float64 `wire:"output"`
	CacheRead  float64 `wire:"cache_read,omit"`
	CacheWrite float64 `wire:"cache_write,omit"`
	CacheLong  float64 `wire:"cache_long,omit"`
}

// Cost is what one request cost in dollars.
func (p Rates) Cost(u Use) float64 {
	fees := p.fees(u)
	p = p.at(u.Input)
	read, write := cmp.Or(p.CacheRead, p.Input), cmp.Or(p.CacheWrite, p.Input)
	fresh, long := max(0, u.Input-u.CacheRead-u.CacheWrite), float64(u.CacheLong)*(cmp.Or(p.CacheLong, write)-write)
	return Dollars((float64(fresh)*p.Input+float64(u.CacheRead)*read+float64(u.CacheWrite)*write+long+float64(u.Output)*p.Output)/1e6 + fees)
}

// fees is what the provider's own tools cost.
func (p Rates) fees(u Use) float64 {
	return float64(u.Searches)*p.Search + float64(u.Sessions)*p.Session
}

// at is what a request with so much input is charged at.
func (p Rates) at(input int) Rates {
	if l := p.Long; l.From > 0 && input > l.From {
		return Rates{Input: l.Input, Output: l.Output, CacheRead: l.CacheRead, CacheWrite: l.CacheWrite, CacheLong: l.CacheLong}
	}
	return p
}

// Most is the most a request with so much input may cost before its reply, with what the
// provider's own tools may add, and what a million tokens of that cost: writing to a
// cache can be dearer than sending plain, and a tier may be cheaper than what it follows.
func (p Rates) Most(input int, adds Use, long bool) (in, out float64) {
	input += adds.Input
	t := p.at(input)
	if !long {
		p.CacheLong, t.CacheLong = 0, 0
	}
	return float64(input)*max(p.Input, p.CacheWrite, p.CacheLong, t.Input, t.CacheWrite, t.CacheLong)/1e6 + p.fees(adds), max(p.Output, t.Output)
}
