package explain

import (
	"fmt"
	"time"

	"github.com/pawl-run/pawl"
)

// The minimum that providers promise of their caches, so that no unavoidable
// miss is called avoidable: entries live five minutes from their last use
// (Anthropic, Prompt caching; OpenAI, Prompt caching: five to ten), prefixes
// count from 1,024 tokens, for some models from 4,096, and in steps of 128. A
// request that was to be kept for long lives an hour.
const (
	cacheLife  = 5 * time.Minute
	cacheLeast = 4096
	cacheStep  = 128
)

// caching classifies the input of a request as cached or not and, if not, by
// reason. All of the previous request is expected again: a conversation only
// grows, unless it is compacted.
func (p *spender) caching(u pawl.Usage, price pawl.Price, c *pawl.ModelCalled, sent, replied time.Time) {
	k := &p.Cache
	p.input += u.Input
	k.Read += u.CacheRead
	k.Written += u.CacheWrite
	p.cached = p.cached || u.CacheRead > 0 || u.CacheWrite > 0
	k.saved += price.Cost(pawl.Usage{Input: u.Input}) - price.Cost(pawl.Usage{Input: u.Input, CacheRead: u.CacheRead, CacheWrite: u.CacheWrite})
	missed := u.Input - u.CacheRead
	if c.View.Alone {
		k.New += missed
		return
	}
	view := fmt.Sprint(p.toolless(c), c.View.System, "\x00", p.model(c).Name)
	last, seen := p.warm[view]
	life := cacheLife
	if c.Long {
		life = time.Hour
	}
	p.warm[view] = warmth{tokens: u.Input, until: replied.Add(life), cuts: p.Compaction.Times, found: p.found}
	again := max(0, min(last.tokens, u.Input)-u.CacheRead)
	switch caches := price.CacheRead > 0 || p.cached; {
	case !seen && p.talked && caches:
		k.Switched += missed
		missed = 0
	case !seen || !caches || again <= cacheStep:
		again = 0
	case last.cuts < p.Compaction.Times:
		k.Compacted += again
		p.Compaction.Rewrite.add(again, dearer(price, u, again))
	case last.found < p.found:
		k.Found.add(again, dearer(price, u, again))
	case sent.After(last.until):
		k.Expired += again
	case last.tokens < cacheLeast:
		again = 0
	default:
		k.Avoidable.add(again, dearer(price, u, again))
	}
	if missed > 0 {
		k.New += missed - again
	}
	p.talked = true
}

// dearer returns how much more n uncached tokens of input cost than cached ones.
func dearer(price pawl.Price, u pawl.Usage, n int) float64 {
	hit := u
	hit.CacheRead += n
	hit.CacheWrite = min(hit.CacheWrite, hit.Input-hit.CacheRead)
	return price.Cost(u) - price.Cost(hit)
}

// saving records the input that earlier compactions saved in a request, and the
// results that were read again because of them.
func (p *spender) saving(u pawl.Usage, price pawl.Price, c *pawl.ModelCalled) {
	all := p.pinned + p.now.bytes()
	if c.View.Alone || all == 0 || p.Compaction.Times == 0 {
		return
	}
	rate := float64(u.Input) / float64(all)
	k := &p.Compaction
	k.Requests++
	n := int(rate * float64(p.gone))
	longer := pawl.Usage{Input: u.Input + n, CacheRead: u.CacheRead, CacheWrite: u.CacheWrite}
	if price.CacheRead > 0 && u.CacheRead > 0 { // it would have been read from the cache
		longer.CacheRead += n
	}
	k.Saved.add(n, price.Cost(longer)-price.Cost(pawl.Usage{Input: u.Input, CacheRead: u.CacheRead, CacheWrite: u.CacheWrite}))
	for id := range p.again {
		n := int(rate * float64(p.calls[id].bytes))
		k.Rereads++
		k.Reread.add(n, price.Cost(pawl.Usage{Input: u.Input})*float64(n)/float64(max(1, u.Input)))
	}
	clear(p.again)
}
