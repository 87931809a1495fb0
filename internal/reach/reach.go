// Package reach keeps connections that are made for somebody else's sake away
// from this machine, its network and the metadata service of its cloud: the URL
// is another's word, and so is what a name server makes of its host. What counts
// is the address that the kernel is about to connect to.
package reach

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

// blocked are the IPv4 networks that are not the public Internet, from IANA's
// Special-Purpose Address Registry (RFC 6890 and its updates), with what is said
// of them. The last is no special network but serves credentials to the machines
// of a cloud (Azure's wire server).
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
	// Of IPv6 only global unicast is public, and of that not these.
	{"2001::/23", "special"},
	{"2001:db8::/32", "for documentation"},
	{"2002::/16", "an IPv4 address in disguise"},
	{"3fff::/20", "for documentation"},
}

// linkLocal is what is said of addresses by which clouds hand out credentials.
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

// Special says what kind of address it is, if it is not a public one.
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
		return "not public" // with IPv4 in disguise: mapped, compatible, NAT64
	}
	return ""
}

// A Host is one that is allowed: a name, all beneath a name, or an
// address; with a port or without.
type Host struct {
	name string // lower case; empty: an address
	any  bool   // *.name
	addr netip.Addr
	port string // empty: any
}

// ParseHost reads an entry such as docs.example.org, *.example.org, 10.0.0.7 or
// [::1]:8080.
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

// canonical is a host's name as it is compared.
func canonical(name string) string { return strings.ToLower(strings.TrimSuffix(name, ".")) }

// Is reports whether a host and port that a URL names are meant.
func (h Host) Is(name, port string) bool {
	if h.port != "" && h.port != port {
		return false
	}
	if a, err := netip.ParseAddr(name); err == nil {
		return h.addr == a.WithZone("").Unmap()
	}
	name = canonical(name)
	if h.any { // which is what lies beneath, and not the name itself
		return strings.HasSuffix(name, "."+h.name)
	}
	return h.name != "" && name == h.name
}

// A Dialer connects to public addresses, and to hosts that are allowed. Its zero
// value allows no others.
type Dialer struct {
	// Allow has hosts that may be on a private network or on this machine, since
	// whoever allows them knows. What hands out credentials must be allowed by its
	// address: a name that resolves to it is more likely an attack.
	Allow []Host
	// Lookup, in tests, says where a name leads.
	Lookup func(host string) string
}

// DialContext connects, and fails with a *RefusedError where it may not. The address
// is checked by the last one who sees it before the kernel does, so that no
// spelling of an address and no change of mind of a name server goes past.
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

// connectable says why an address may not be connected to for the sake of a host
// that a URL names.
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

// A RefusedError says which host or address is not connected to, and why.
type RefusedError struct{ Why string }

// Error says why.
func (r *RefusedError) Error() string { return r.Why }
