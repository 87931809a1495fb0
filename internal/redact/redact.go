// Package redact removes secrets from texts, in two ways:
//
//   - [Secrets] knows the values. It replaces each by a reference with the name of the secret,
//     {{secret:NAME}}, from which the value can be restored. It is for texts that come in, before
//     they become events.
//   - [Text] and [JSON] do not know the values. They guess by the form of vendors' keys and by the
//     names of keys, and what they remove is lost. They are only for texts that go out.
//
// Both are deterministic and take time linear in the text.
package redact

import (
	"slices"
	"strings"
)

// Marker stands where Text and JSON took something out.
const Marker = "[redacted]"

// Text takes out of a text what looks like a secret. It is idempotent.
func Text(s string) string {
	// What is left of a text can look different without what was taken out of
	// it. Hardly any text needs a second look, none is known to need a third.
	for range 4 {
		next := once(s)
		if next == s {
			break
		}
		s = next
	}
	return s
}

func once(s string) string {
	if len(s) < shortest && strings.IndexByte(s, ':') < 0 && strings.IndexByte(s, '=') < 0 {
		return s
	}
	spans := merge(Tokens(s), assigned(s))
	var b strings.Builder
	rest := 0
	for _, span := range spans {
		b.WriteString(s[rest:span.Start] + Marker)
		rest = span.End
	}
	return b.String() + s[rest:]
}

// A Span is a piece of a text that looks like a secret, and what it looks like.
type Span struct {
	Kind       string
	Start, End int
}

// merge joins two lists of spans in order; those that overlap become one.
func merge(a, b []Span) (all []Span) {
	both := append(a, b...)
	slices.SortStableFunc(both, func(a, b Span) int { return a.Start - b.Start })
	for _, next := range both {
		if n := len(all); n > 0 && next.Start < all[n-1].End {
			all[n-1].End = max(all[n-1].End, next.End)
			continue
		}
		all = append(all, next)
	}
	return all
}
