package anthropic

import (
	"encoding/json"
	"errors"
	"strings"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/model/internal/provider"
)

var types = map[string]pawl.Class{
	"rate_limit_error":      pawl.ClassRateLimit,
	"overloaded_error":      pawl.ClassOverloaded,
	"api_error":             pawl.ClassOverloaded,
	"timeout_error":         pawl.ClassOverloaded,
	"authentication_error":  pawl.ClassAuth,
	"permission_error":      pawl.ClassAuth,
	"billing_error":         pawl.ClassQuota,
	"not_found_error":       pawl.ClassNotFound,
	"request_too_large":     pawl.ClassTooLong,
	"invalid_request_error": pawl.ClassInvalid,
}

// classify sorts an error by its type when the body names one, because proxies
// change statuses and events have none, and else by its status.
func classify(e *pawl.ModelError, status int, body []byte) bool {
	var f struct{ Type, Message string }
	raw, told := provider.Spoken(body)
	_ = json.Unmarshal(raw, &f) // what does not fit is left out; the rest still tells
	e.Message = provider.Message(f.Message, status, body)
	if class, ok := types[f.Type]; ok {
		e.Class = class
	}
	// Three things that the API tells only in words.
	said := strings.ToLower(e.Message)
	if e.Class == pawl.ClassInvalid {
		switch {
		case strings.Contains(said, "prompt is too long"), strings.Contains(said, "exceed context limit"), strings.Contains(said, "maximum context length"):
			e.Class = pawl.ClassTooLong
		case strings.Contains(said, "credit balance"), strings.Contains(said, "usage limit"):
			e.Class = pawl.ClassQuota
		case strings.Contains(said, "content filtering policy"):
			e.Class = pawl.ClassRefused
		}
	}
	return told
}

// forThinking reports whether a request was refused for the thinking in it or
// missing from it, which the API says in words alone.
func forThinking(err error) bool {
	me, ok := errors.AsType[*pawl.ModelError](err)
	return ok && me.Class == pawl.ClassInvalid &&
		(strings.Contains(me.Message, "`thinking`") || strings.Contains(me.Message, "`redacted_thinking`"))
}
