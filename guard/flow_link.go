package guard

import (
	"encoding/json"
	"regexp"
	"strings"
)

// A link to the host of its own page transmits only which link was chosen, so a
// person who names a page of the host permits reading it.

var urls = regexp.MustCompile(`https?://[^\s<>"'()\[\]{}|\\^` + "`" + `]+`)

// origin splits a URL into scheme and host, and path; empty: it is not a URL,
// or has a query.
func origin(url string) (host, path string) {
	scheme, rest, ok := strings.Cut(url, "://")
	if !ok || strings.ContainsAny(rest, "?#@\\%") {
		return "", ""
	}
	host, path, _ = strings.Cut(rest, "/")
	return scheme + "://" + host, path
}

// link records the links of a page that was read at the request of people or
// trusted tools.
func (k *known) link(text string, args json.RawMessage) {
	hosts := map[string]bool{}
	for _, v := range valuesOf(args, nil) {
		if host, _ := origin(v.text); host != "" {
			hosts[host] = true
		}
	}
	if len(hosts) == 0 {
		return
	}
	for _, s := range urls.FindAllString(text, -1) {
		s = strings.TrimRight(s, ".,;:!?")
		if host, _ := origin(s); !hosts[host] {
			continue
		}
		if _, wrote := k.own.find(fold(s)); !wrote {
			k.links[s] = true
		}
	}
}

// linked reports whether a URL is such a link, a person has named its host, and
// its path has neither digits nor a word from a trusted tool, which may be a
// secret.
func (w *view) linked(text string) bool {
	host, path := origin(text)
	if !w.links[text] || !w.names(fold(host)) || strings.ContainsAny(path, "0123456789") {
		return false
	}
	free := true
	eachWord(fold(path), func(word string, _ int) bool {
		free = w.found.words[word] == nil || w.person.words[word] != nil
		return free
	})
	return free
}
