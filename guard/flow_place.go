package guard

import (
	"regexp"
	"strings"
)

var (
	absolute = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9+.-]*:(//|\\\\)|^(?i:mailto:)|^//|^\\\\`)
	host     = regexp.MustCompile(`^(?:([^\s@/]+)@)?([\pL\pN-]+(?:[.\x{3002}][\pL\pN-]+)*[.\x{3002}](?:\pL{2,}|xn--[\pL\pN-]+))\.?(:\d+)?([/\\?#].*)?$`)
)

// place reports whether a text is only the name of a place: a URL with or without
// a scheme, a share, a mail address, an IP address, or a host with a path, a port
// or two names before its last. Two names alone may be a file.
func place(s string) bool {
	s = strings.TrimRight(strings.TrimSpace(s), ".,;:!?")
	if absolute.MatchString(s) {
		return true
	}
	name, _, _ := strings.Cut(strings.TrimPrefix(s, "["), "/")
	name = strings.TrimSuffix(name, "]")
	if _, ok := six(name); ok {
		return true
	}
	name, _, _ = strings.Cut(name, ":")
	if _, ok := four(name); ok {
		return true
	}
	m := host.FindStringSubmatch(s)
	return m != nil && (m[1] != "" || m[3] != "" || m[4] != "" || strings.Count(m[2], ".")+strings.Count(m[2], "\u3002") > 1)
}

// identifies reports whether a text is only an account or a place.
func identifies(s string) bool {
	account := strings.ToUpper(strings.Join(strings.Fields(s), ""))
	return place(s) || len(account) >= 4 && lengths[account[:2]] == len(account)
}

// allowed reports whether a URL or host is among those that may be sent anything.
func allowed(s string, hosts []string) bool {
	_, rest, ok := strings.Cut(strings.ToLower(strings.TrimSpace(s)), "://")
	if !ok {
		rest = strings.ToLower(s)
	}
	if i := strings.IndexAny(rest, "/?#\\"); i >= 0 {
		rest = rest[:i]
	}
	name, _, _ := strings.Cut(rest, ":")
	for _, h := range hosts {
		h = strings.ToLower(h)
		under, wild := strings.CutPrefix(h, "*.")
		if h == rest || h == name || wild && strings.HasSuffix(name, "."+under) {
			return !strings.Contains(rest, "@")
		}
	}
	return false
}
