package server

import (
	"net/http"
	"net/netip"
	"sync"
	"time"
)

// A limiter holds those down who have no token: each address may ask a number of
// times at once, and then so many times a second. It is a token bucket for each.
type limiter struct {
	burst, rate float64

	mu      sync.Mutex
	buckets map[string]bucket
}

type bucket struct {
	left float64
	at   time.Time
}

// mostBuckets bounds what is kept of addresses. When there are more, those that
// have been quiet for long enough are forgotten, and if all are busy then all:
// that lets some ask more often for once, and nobody fill the memory.
const mostBuckets = 4096

// allow reports whether an address may ask now.
func (l *limiter) allow(who string, now time.Time) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.buckets) >= mostBuckets {
		for name, b := range l.buckets {
			if now.Sub(b.at).Seconds()*l.rate >= l.burst {
				delete(l.buckets, name)
			}
		}
		if len(l.buckets) >= mostBuckets {
			clear(l.buckets)
		}
	}
	b, ok := l.buckets[who]
	if !ok {
		b = bucket{l.burst, now}
	}
	b.left = min(l.burst, b.left+now.Sub(b.at).Seconds()*l.rate)
	b.at = now
	allowed := b.left >= 1
	if allowed {
		b.left--
	}
	if l.buckets == nil {
		l.buckets = map[string]bucket{}
	}
	l.buckets[who] = b
	return allowed
}

// from is the address that a request comes from: of IPv6 the network, of which one
// user has all the addresses.
func from(r *http.Request) string {
	at, err := netip.ParseAddrPort(r.RemoteAddr)
	if err != nil {
		return r.RemoteAddr
	}
	addr := at.Addr().Unmap().WithZone("")
	if addr.Is4() {
		return addr.String()
	}
	network, err := addr.Prefix(64)
	if err != nil {
		return addr.String()
	}
	return network.String()
}
