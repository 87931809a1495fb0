package fetch

import (
	"fmt"
	"net"
	"net/netip"
	"slices"
	"strconv"
	"strings"
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

// special says what kind of address it is, if it is not a public one.
func special(a netip.Addr) string {
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

// A host that may be fetched from: a name, all beneath a name, or an
// address; with a port or without.
type host struct {
	name string // lower case; empty: an address
	any  bool   // *.name
	addr netip.Addr
	port string // empty: any
}

// parseHost reads an entry such as docs.example.org, *.example.org, 10.0.0.7 or
// [::1]:8080.
func parseHost(text string) (h host, err error) {
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

// is reports whether a host and port that a URL names are meant.
func (h host) is(name, port string) bool {
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

// connectable says why an address may not be connected to for the sake of a host
// that a URL names. One that is allowed may be on a private network, since whoever
// allows it knows; but what hands out credentials must be allowed by its address:
// a name that resolves to it is more likely an attack.
func (f *fetcher) connectable(name, port string, a netip.Addr) error {
	what := special(a)
	if what == "" {
		return nil
	}
	_, err := netip.ParseAddr(name)
	literal := err == nil
	allowed := slices.ContainsFunc(f.allow, func(h host) bool { return h.is(name, port) })
	if allowed && (literal || what != linkLocal) {
		return nil
	}
	return &refusal{fmt.Sprintf("%s has the address %s, which is %s; only public addresses are fetched, and hosts that were allowed", name, a, what)}
}

// refusal is a host or an address that is not connected to.
type refusal struct{ why string }

func (r *refusal) Error() string { return r.why }
