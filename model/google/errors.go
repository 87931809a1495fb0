package google

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/internal/provider"
)

// A fault is what a server says of an error, in the form of google.rpc.Status.
type fault struct {
	Code    int      `json:"code"`
	Status  string   `json:"status"`
	Message string   `json:"message"`
	Details []detail `json:"details"`
}

// A detail is whatever of google.rpc.ErrorInfo, RetryInfo and QuotaFailure
// helps; each has keys of its own.
type detail struct {
	Reason     string `json:"reason"`
	RetryDelay string `json:"retryDelay"`
	Violations []struct {
		QuotaID string `json:"quotaId"`
	} `json:"violations"`
}

// spoken reads {"error": {…}}, the same in a list, and the {"error": "…"} of
// servers that only resemble Google's.
func spoken(body []byte) (fault, bool) {
	body = bytes.TrimSpace(body)
	var list []json.RawMessage
	if len(body) > 0 && body[0] == '[' && json.Unmarshal(body, &list) == nil && len(list) > 0 {
		body = list[0]
	}
	var doc struct {
		Error json.RawMessage `json:"error"`
	}
	if json.Unmarshal(body, &doc) != nil || len(doc.Error) == 0 || string(doc.Error) == "null" {
		return fault{}, false
	}
	var f fault
	if json.Unmarshal(doc.Error, &f.Message) == nil {
		return f, true
	}
	// What does not fit is left out; the rest still tells.
	if _ = json.Unmarshal(doc.Error, &f); f.Message == "" && f.Status == "" {
		f.Message = string(doc.Error)
	}
	return f, true
}

var statuses = map[string]pawl.Class{
	"RESOURCE_EXHAUSTED":  pawl.ClassRateLimit,
	"UNAVAILABLE":         pawl.ClassOverloaded,
	"INTERNAL":            pawl.ClassOverloaded,
	"DEADLINE_EXCEEDED":   pawl.ClassOverloaded,
	"ABORTED":             pawl.ClassOverloaded,
	"CANCELLED":           pawl.ClassOverloaded, // by the server: a call cut short by us sees no answer
	"DATA_LOSS":           pawl.ClassOverloaded,
	"UNAUTHENTICATED":     pawl.ClassAuth,
	"PERMISSION_DENIED":   pawl.ClassAuth,
	"NOT_FOUND":           pawl.ClassNotFound,
	"INVALID_ARGUMENT":    pawl.ClassInvalid,
	"OUT_OF_RANGE":        pawl.ClassInvalid,
	"FAILED_PRECONDITION": pawl.ClassInvalid,
	"UNIMPLEMENTED":       pawl.ClassInvalid,
}

// classified sorts an error by the status it names, for proxies change those of
// HTTP and events have none, and else by that of HTTP.
func classified(status int, h http.Header, f fault, body []byte) *pawl.ModelError {
	e := &pawl.ModelError{Message: provider.Clip(f.Message)}
	if e.Message == "" {
		e.Message = provider.Clip(strings.TrimSpace(http.StatusText(status) + " " + string(body)))
	}
	if status < 400 { // told inside a success
		status = f.Code
	}
	class, ok := statuses[f.Status]
	if !ok {
		class = ofStatus(status)
	}
	e.Class = f.refined(class)
	if e.Class.Transient() {
		e.RetryAfter = provider.Wait(h, body, time.Now())
	}
	return e
}

// refined tells apart what the API puts under one status.
func (f fault) refined(class pawl.Class) pawl.Class {
	said := strings.ToLower(f.Message)
	has := func(words ...string) bool {
		for _, w := range words {
			if strings.Contains(said, w) {
				return true
			}
		}
		return false
	}
	switch class {
	case pawl.ClassRateLimit:
		if f.spent() || has("limit: 0", "prepayment", "credits are depleted", "spending cap") {
			return pawl.ClassQuota
		}
		// The same words tell of the minute and of the month. Only what passes
		// soon has a delay or names its quota.
		if has("billing") && !has("per_minute", "per minute") && f.delay() == 0 && !f.named() {
			return pawl.ClassQuota
		}
	case pawl.ClassInvalid, pawl.ClassAuth:
		switch {
		case f.because("BILLING_DISABLED"), has("billing"):
			return pawl.ClassQuota
		case f.because("API_KEY_INVALID"), has("api key not valid", "api key expired"):
			return pawl.ClassAuth
		case has("exceeds the maximum number of tokens", "payload size exceeds"):
			return pawl.ClassTooLong
		}
	}
	return class
}

func (f fault) because(reason string) bool {
	for _, d := range f.Details {
		if d.Reason == reason {
			return true
		}
	}
	return false
}

// named reports whether the error says which quota was met.
func (f fault) named() bool {
	for _, d := range f.Details {
		if len(d.Violations) > 0 {
			return true
		}
	}
	return false
}

// spent reports whether a quota of the day was met. Its delay, if there is one,
// is that of the minute and would be waited for in vain.
func (f fault) spent() bool {
	for _, d := range f.Details {
		for _, v := range d.Violations {
			if strings.Contains(v.QuotaID, "PerDay") {
				return true
			}
		}
	}
	return false
}

func (f fault) delay() time.Duration {
	for _, d := range f.Details {
		if wait, err := time.ParseDuration(d.RetryDelay); err == nil && wait > 0 {
			return wait
		}
	}
	return 0
}

func ofStatus(status int) pawl.Class {
	switch {
	case status == 429:
		return pawl.ClassRateLimit
	case status == 401, status == 403:
		return pawl.ClassAuth
	case status == 402:
		return pawl.ClassQuota
	case status == 404:
		return pawl.ClassNotFound
	case status == 408:
		return pawl.ClassNetwork
	case status == 413:
		return pawl.ClassTooLong
	case status == 499, status >= 500:
		return pawl.ClassOverloaded
	case status >= 400:
		return pawl.ClassInvalid
	}
	return pawl.ClassUnknown
}

// ended says why a stream ended before its reply was whole.
func (t *turn) ended(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if me, ok := errors.AsType[*pawl.ModelError](err); ok {
		return me
	}
	if redirect, ok := errors.AsType[*provider.RedirectError](err); ok {
		return &pawl.ModelError{Class: pawl.ClassInvalid, Message: redirect.Error()}
	}
	switch {
	case errors.Is(err, io.ErrUnexpectedEOF):
		return t.failed(pawl.ClassTruncated, "the stream broke off")
	case errors.Is(err, provider.ErrEventTooLong):
		return t.failed(pawl.ClassUnknown, err.Error())
	}
	return &pawl.ModelError{Class: pawl.ClassNetwork, Message: provider.Clip(err.Error()), Usage: t.usage, Err: err}
}
