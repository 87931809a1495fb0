// Package web has what servers and clients of HTTP share. It prevents connections to this machine, its
// network and its cloud's metadata service when a URL is untrusted, and so are the DNS answers for its host:
// it checks the address that the kernel is about to connect to. It passes the position in a distributed
// trace on, as W3C Trace Context (https://www.w3.org/TR/trace-context/), in a context and on the wire. It
// checks the signatures of incoming webhooks, and makes the tokens of links to approval requests.
package web

import (
	"context"
	"fmt"
	"net"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"syscall"
)

// blocked are the IPv4 networks outside the public Internet, from IANA's
// Special-Purpose Address Registry (RFC 6890 and its updates), with their
// descriptions. The last is not a special network, but serves credentials to
// the machines of a cloud (Azure's wire server).
var blocked = []struct{ network, what string }{
	{"0.0.0.0/8", "this host"},
	{"10.0.0.0/8", "private"},
	{"100.64.0.0/10", "shared with a carrier's customers"},
	{"127.0.0.0/8", "loopback"},
	{"169.254.0.0/16", linkLocal},
	{"172.16.0.0/12", "private"},
	{"192.0.0.0/24", "special"},
	{"192.0.2.0/24", "for documentation"},
	{"192.88.99.0/24", "special"},
	{"192.168.0.0/16", "private"},
	{"198.18.0.0/15", "for benchmarks"},
	{"198.51.100.0/24", "for documentation"},
	{"203.0.113.0/24", "for documentation"},
	{"224.0.0.0/4", "multicast"},
	{"240.0.0.0/4", "reserved"},
	{"168.63.129.16/32", linkLocal},
	// In IPv6 only global unicast is public, except these networks.
	{"2001::/23", "special"},
	{"2001:db8::/32", "for documentation"},
	{"2002::/16", "an IPv4 address in disguise"},
	{"3fff::/20", "for documentation"},
}

// linkLocal describes the addresses by which clouds hand out credentials.
const linkLocal = "link-local or a metadata service"

var (
	networks     = parsed()
	globalScope  = netip.MustParsePrefix("2000::/3")
	linkLocalIP6 = netip.MustParsePrefix("fe80::/10")
)

func parsed() []netip.Prefix {
	all := make([]netip.Prefix, len(blocked))
	for i, b := range blocked {
		all[i] = netip.MustParsePrefix(b.network)
	}
	return all
}

// Special describes an address that is not public; empty: it is public.
func Special(a netip.Addr) string {
	a = a.WithZone("").Unmap()
	for i, n := range networks {
		if n.Contains(a) {
			return blocked[i].what
		}
	}
	switch {
	case a.Is4():
		return ""
	case linkLocalIP6.Contains(a):
		return linkLocal
	case a == netip.IPv6Loopback():
		return "loopback"
	case a.IsPrivate():
		return "private"
	case a.IsMulticast():
		return "multicast"
	case !globalScope.Contains(a):
		return "not public" // including embedded IPv4: mapped, compatible, NAT64
	}
	return ""
}

// A Host is an allowed host: a name, all names beneath one, or an address; with
// or without a port.
type Host struct {
	name string // lower case; empty: an address
	any  bool   // *.name
	addr netip.Addr
	port string // empty: any
}

// ParseHost parses an entry such as docs.example.org, *.example.org, 10.0.0.7
// or [::1]:8080.
func ParseHost(text string) (h Host, err error) {
	wrong := fmt.Errorf("allow has %q; give a host, as in docs.example.org, *.example.org, 10.0.0.7 or localhost:8080", text)
	name := text
	if n, port, err := net.SplitHostPort(text); err == nil {
		name, h.port = n, port
		if n, err := strconv.ParseUint(port, 10, 16); err != nil || n == 0 {
			return h, wrong
		}
	}
	if a, err := netip.ParseAddr(strings.Trim(name, "[]")); err == nil {
		h.addr = a.WithZone("").Unmap()
		return h, nil
	}
	if rest, ok := strings.CutPrefix(name, "*."); ok {
		name, h.any = rest, true
	}
	h.name = canonical(name)
	if h.name == "" || strings.ContainsFunc(h.name, func(r rune) bool { return strings.ContainsRune("*/:@?#[]% \t\n\\", r) }) {
		return h, wrong
	}
	return h, nil
}

// canonical normalises a host's name for comparison.
func canonical(name string) string { return strings.ToLower(strings.TrimSuffix(name, ".")) }

// Is reports whether the entry matches a URL's host and port.
func (h Host) Is(name, port string) bool {
	if h.port != "" && h.port != port {
		return false
	}
	if a, err := netip.ParseAddr(name); err == nil {
		return h.addr == a.WithZone("").Unmap()
	}
	name = canonical(name)
	if h.any { // names beneath, not the name itself
		return strings.HasSuffix(name, "."+h.name)
	}
	return h.name != "" && name == h.name
}

// A Dialer connects to public addresses, and to allowed hosts. The zero value
// allows no others.
type Dialer struct {
	// Allow has hosts that may be on a private network or on this machine. A
	// service that hands out credentials must be allowed by its address: a name
	// that resolves to it is more likely an attack.
	Allow []Host
	// Lookup replaces name resolution in tests.
	Lookup func(host string) string
}

// DialContext connects, or fails with a *RefusedError. It checks the address
// last before the kernel uses it, so neither spellings of an address nor
// changing DNS answers evade the check.
func (d *Dialer) DialContext(ctx context.Context, network, to string) (net.Conn, error) {
	name, port, err := net.SplitHostPort(to)
	if err != nil {
		return nil, err
	}
	dialer := net.Dialer{Control: func(_, address string, _ syscall.RawConn) error {
		at, err := netip.ParseAddrPort(address)
		if err != nil {
			return err
		}
		return d.connectable(name, port, at.Addr())
	}}
	if d.Lookup != nil {
		to = d.Lookup(name)
	}
	return dialer.DialContext(ctx, network, to)
}

// connectable returns the reason why an address may not be used for a URL's
// host; nil: it may.
func (d *Dialer) connectable(name, port string, a netip.Addr) error {
	what := Special(a)
	if what == "" {
		return nil
	}
	_, err := netip.ParseAddr(name)
	literal := err == nil
	allowed := slices.ContainsFunc(d.Allow, func(h Host) bool { return h.Is(name, port) })
	if allowed && (literal || what != linkLocal) {
		return nil
	}
	return &RefusedError{fmt.Sprintf("%s has the address %s, which is %s; only public addresses are connected to, and hosts that were allowed", name, a, what)}
}

// A RefusedError is the refusal of a host or address, with the reason.
type RefusedError struct{ Why string }

// Error returns the reason.
func (r *RefusedError) Error() string { return r.Why }
