package provider

import (
	"net/url"
	"strings"
)

// At reports whether a base URL has one of the hosts; one that begins with a dot
// stands for all hosts below it.
func At(base string, hosts ...string) bool {
	u, err := url.Parse(base)
	if err != nil {
		return false
	}
	name := strings.ToLower(u.Hostname())
	for _, host := range hosts {
		if name == host || strings.HasPrefix(host, ".") && strings.HasSuffix(name, host) {
			return true
		}
	}
	return false
}
