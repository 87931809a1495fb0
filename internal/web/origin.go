package web

import (
	"errors"
	"fmt"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
)

// crossing refuses cross-origin requests that change something.
var crossing = http.NewCrossOriginProtection()

// CrossOrigin returns an error if a page of another origin sent a request, even one that only
// reads. What Sec-Fetch-Site says of such a read is for the caller to judge.
func CrossOrigin(r *http.Request) error {
	if crossing.Check(r) != nil {
		return errors.New("cross-origin request")
	}
	for _, origin := range r.Header.Values("Origin") {
		u, err := url.Parse(origin)
		if err != nil || u.Host == "" || !strings.EqualFold(u.Host, r.Host) || u.Scheme != "http" && r.TLS == nil && Loopback(u.Hostname()) {
			return fmt.Errorf("cross-origin request from %q", origin)
		}
	}
	return nil
}

// Loopback reports whether a name always means this machine, without looking it up.
func Loopback(name string) bool {
	if strings.EqualFold(name, "localhost") {
		return true
	}
	ip, err := netip.ParseAddr(name)
	return err == nil && ip.Zone() == "" && ip.Unmap().IsLoopback()
}
