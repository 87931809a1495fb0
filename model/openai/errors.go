package openai

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/model/internal/provider"
)

// A fault is an error from a server.
type fault struct {
	kinds   []string // its code and its type
	status  int      // the code, where it is a number
	param   string   // the parameter that caused it
	message string
}

// Error returns the server's message.
func (f fault) Error() string { return f.message }

// spoken parses the forms of errors: OpenAI's {"error": {…}}, the same in a
// list, {"error": "…"}, and {"detail": …} or {"message": …}, the last possibly
// with a code and a type, if nothing else makes it a reply.
func spoken(body []byte) (fault, bool) {
	if raw, ok := provider.Spoken(body); ok {
		return read(raw), true
	}
	var doc struct {
		Detail  json.RawMessage `json:"detail"`
		Message string          `json:"message"`
		Choices json.RawMessage `json:"choices"`
	}
	switch {
	case json.Unmarshal(body, &doc) != nil, doc.Choices != nil:
	case len(doc.Detail) > 0:
		return read(doc.Detail), true
	case doc.Message != "":
		return read(body), true
	}
	return fault{}, false
}

func isError(body []byte) bool {
	_, told := spoken(body)
	return told
}

func read(raw json.RawMessage) fault {
	var text string
	if json.Unmarshal(raw, &text) == nil {
		return fault{message: text}
	}
	var wrong []struct { // of FastAPI, as vLLM has it
		Type string `json:"type"`
		Loc  []any  `json:"loc"`
		Msg  string `json:"msg"`
	}
	if json.Unmarshal(raw, &wrong) == nil && len(wrong) > 0 && len(wrong[0].Loc) > 1 {
		first := wrong[0]
		var path []string
		for _, key := range first.Loc[1:] { // the first is the body
			path = append(path, fmt.Sprint(key))
		}
		param := strings.Join(path, ".")
		return fault{kinds: []string{first.Type}, param: param, message: param + ": " + first.Msg}
	}
	var e struct {
		Message string          `json:"message"`
		Type    json.RawMessage `json:"type"`
		Code    json.RawMessage `json:"code"`
		Param   json.RawMessage `json:"param"`
	}
	if json.Unmarshal(raw, &e) != nil || e.Message == "" && e.Type == nil && e.Code == nil {
		return fault{message: string(raw)}
	}
	f := fault{message: e.Message}
	_ = json.Unmarshal(e.Param, &f.param) // null, and some servers send an object
	f.status, _ = strconv.Atoi(strings.Trim(string(e.Code), `"`))
	for _, kind := range []json.RawMessage{e.Code, e.Type} {
		var s string
		if json.Unmarshal(kind, &s) == nil {
			f.kinds = append(f.kinds, s)
		}
	}
	return f
}

var kinds = map[string]pawl.Class{
	"insufficient_quota":             pawl.ClassQuota,
	"billing_hard_limit_reached":     pawl.ClassQuota,
	"billing_not_active":             pawl.ClassQuota,
	"exceeded_current_quota_error":   pawl.ClassQuota,
	"usage_limit_reached":            pawl.ClassQuota,
	"context_length_exceeded":        pawl.ClassTooLong,
	"string_above_max_length":        pawl.ClassTooLong,
	"invalid_api_key":                pawl.ClassAuth,
	"token_expired":                  pawl.ClassAuth,
	"account_deactivated":            pawl.ClassAuth,
	"authentication_error":           pawl.ClassAuth,
	"permission_error":               pawl.ClassAuth,
	"model_not_found":                pawl.ClassNotFound,
	"not_found_error":                pawl.ClassNotFound,
	"content_filter":                 pawl.ClassRefused,
	"content_policy_violation":       pawl.ClassRefused,
	"image_content_policy_violation": pawl.ClassRefused,
	"invalid_prompt":                 pawl.ClassRefused, // flagged by the usage policy
	"bio_policy":                     pawl.ClassRefused,
	"misalignment_policy_violation":  pawl.ClassRefused,
	"data_residency_mismatch":        pawl.ClassInvalid,
	"tool_use_failed":                pawl.ClassEmpty, // the model's call was none
	"rate_limit_exceeded":            pawl.ClassRateLimit,
	"rate_limit_error":               pawl.ClassRateLimit,
	"server_error":                   pawl.ClassOverloaded,
	"api_error":                      pawl.ClassOverloaded,
	"overloaded_error":               pawl.ClassOverloaded,
	"engine_overloaded_error":        pawl.ClassOverloaded,
	"slow_down":                      pawl.ClassOverloaded,
	"vector_store_timeout":           pawl.ClassOverloaded,
}

// unreadable matches what servers say when they cannot parse what their model wrote as a call.
var unreadable = regexp.MustCompile(`(failed|error|could not|unable) (to pars(e|ing)|parsing) (the )?(tool|function|model)|failed to call a function|failed to parse input at pos|failed_generation|malformed function call`)

// classify classifies an error by the server's code and type, then by its
// status, and finally by words in its message.
func classify(e *pawl.ModelError, status int, body []byte) bool {
	f, told := spoken(body)
	e.Message, e.Err = provider.Message(f.message, status, body), f
	if status < 400 { // an error within a successful response
		e.Class = provider.OfStatus(f.status)
	}
	for _, kind := range f.kinds {
		class, ok := kinds[kind]
		if !ok && e.Class == pawl.ClassUnknown && (kind == "invalid_request_error" || strings.Contains(kind, "image")) {
			class, ok = pawl.ClassInvalid, true // which is too vague to outweigh a status
		}
		if ok {
			e.Class = class
			break
		}
	}
	said := strings.ToLower(e.Message)
	switch {
	case (e.Class == pawl.ClassInvalid || e.Class == pawl.ClassOverloaded) && unreadable.MatchString(said): // the model's slip, so it is asked again
		e.Class = pawl.ClassEmpty
	case e.Class == pawl.ClassInvalid && (strings.Contains(said, "context length") || strings.Contains(said, "context window") || strings.Contains(said, "context size")):
		e.Class = pawl.ClassTooLong
	case e.Class == pawl.ClassRateLimit && (strings.Contains(said, "exceeded your current quota") || strings.Contains(said, "insufficient balance")):
		e.Class = pawl.ClassQuota
	case e.Class == pawl.ClassQuota && e.RetryAfter > 0 && slices.Contains(f.kinds, "usage_limit_reached"):
		e.Class = pawl.ClassRateLimit // a plan's allowance, which is restored automatically
	}
	return told
}
