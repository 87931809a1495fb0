package server

import (
	"net/http"
	"strings"
)

// prefers reports whether a request prefers the media type to JSON: its Accept headers
// name that type, and not JSON before it.
func prefers(r *http.Request, media string) bool {
	for _, accept := range r.Header.Values("Accept") {
		for part := range strings.SplitSeq(accept, ",") {
			kind, params, _ := strings.Cut(part, ";")
			switch kind = strings.ToLower(strings.TrimSpace(kind)); {
			case strings.ReplaceAll(params, " ", "") == "q=0":
			case kind == media:
				return true
			case kind == "application/json":
				return false
			}
		}
	}
	return false
}
