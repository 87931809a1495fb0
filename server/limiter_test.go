package server

import (
	"net/http"
	"testing"
	"time"
)

// TestGuessesAreHeldDown: 30 at once and then one a second, for each address.
func TestGuessesAreHeldDown(t *testing.T) {
	l := limiter{burst: 30, rate: 1}
	at := func(remote string) string { return from(&http.Request{RemoteAddr: remote}) }
	now := time.Unix(1000, 0)
	for i := range 40 {
		if allowed := l.allow(at("[2001:db8:1:2::"+string(rune('a'+i%6))+"]:9"), now); allowed != (i < 30) {
			t.Fatalf("of one network, guess %d: %v", i, allowed)
		}
	}
	for i := range 100 { // two guesses a second
		now = now.Add(500 * time.Millisecond)
		if allowed := l.allow(at("[2001:db8:1:2::1]:7"), now); allowed != (i%2 == 1) {
			t.Fatalf("after %d half seconds: %v", i+1, allowed)
		}
	}
	for remote, want := range map[string]string{
		"[2001:db8:1:2:3:4:5:6]:1": "2001:db8:1:2::/64", "[2001:db8:1:3::1]:1": "2001:db8:1:3::/64",
		"192.0.2.1:1": "192.0.2.1", "[::ffff:192.0.2.1]:1": "192.0.2.1", "[fe80::1%eth0]:1": "fe80::/64", "@": "@",
	} {
		if got := at(remote); got != want {
			t.Errorf("%s counts as %s, want %s", remote, got, want)
		}
	}
}
