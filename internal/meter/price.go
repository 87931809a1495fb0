package meter

import (
	"bytes"
	"cmp"
	"errors"
	"math"
	"strconv"
)

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
	From       int     `json:"from" such:"200000" about:"input tokens, cached or not, before these prices apply"`
	Input      float64 `json:"input" such:"2.0" about:"input"`
	Output     float64 `json:"output" such:"6.0" about:"output"`
	CacheRead  float64 `json:"cache_read,omitzero" usual:"as input" about:"input from the provider's cache"`
	CacheWrite float64 `json:"cache_write,omitzero" usual:"as input" about:"input written to the cache"`
	CacheLong  float64 `json:"cache_long,omitzero" usual:"nothing is kept" about:"input written to the cache for an hour"`
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

// Dollars rounds an amount to billionths of a dollar, the lowest price of a
// token, so that a sum of prices prints as an exact decimal.
func Dollars(amount float64) float64 {
	if math.Abs(amount) >= 1e6 { // a larger float has no such digits
		return amount
	}
	return math.Round(amount*1e9)/1e9 + 0 // adding 0 removes a negative zero
}

// A Decimal is a number that prints, also in JSON, with at most nine decimals
// and never with an exponent.
type Decimal float64

// String returns the number in full.
func (d Decimal) String() string { return string(d.append(nil)) }

func (d Decimal) append(b []byte) []byte {
	was := len(b)
	b = strconv.AppendFloat(b, Dollars(float64(d)), 'f', -1, 64)
	if point := bytes.IndexByte(b[was:], '.'); point >= 0 && len(b)-was-point > 10 {
		b = strconv.AppendFloat(b[:was], float64(d), 'f', 9, 64)
	}
	return b
}

// MarshalJSON writes the number in full.
func (d Decimal) MarshalJSON() ([]byte, error) {
	if f := float64(d); math.IsNaN(f) || math.IsInf(f, 0) {
		return nil, errors.New("JSON has no number " + strconv.FormatFloat(f, 'g', -1, 64))
	}
	return d.append(nil), nil
}

// Near reports whether so much of a limit or budget is used, four fifths, that a run has a notice of it.
func Near(used, most float64) bool { return most > 0 && used*5 >= most*4 }
