package server

import (
	"net/http"
	"net/netip"
	"sync"
	"time"
)

// A limiter limits requests without a token, by a token bucket for each address: a burst,
// and then a rate per second.
type limiter struct {
	burst, rate float64

	mu      sync.Mutex
	buckets map[string]bucket
}

type bucket struct {
	left float64
	at   time.Time
}

// mostBuckets bounds the memory for addresses. Beyond it, idle addresses are forgotten,
// or all if none is idle: some addresses then get another burst, but memory stays
// bounded.
const mostBuckets = 4096

// allow reports whether an address may make a request now.
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

// from returns the address of a request: for IPv6 its network, since one user has all
// addresses of it.
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
