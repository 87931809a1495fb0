package google

import (
	"encoding/json"
	"strings"
	"time"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/model/internal/provider"
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
	raw, ok := provider.Spoken(body)
	if !ok {
		return fault{}, false
	}
	var f fault
	if json.Unmarshal(raw, &f.Message) == nil {
		return f, true
	}
	// What does not fit is left out; the rest still tells.
	if _ = json.Unmarshal(raw, &f); f.Message == "" && f.Status == "" {
		f.Message = string(raw)
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

// classify sorts an error by the status it names, because proxies change those of
// HTTP and events have none, and else by that of HTTP.
func classify(e *pawl.ModelError, status int, body []byte) bool {
	f, told := spoken(body)
	e.Message = provider.Message(f.Message, status, body)
	if status < 400 { // told inside a success
		e.Class = provider.OfStatus(f.Code)
	}
	if class, ok := statuses[f.Status]; ok {
		e.Class = class
	}
	e.Class = f.refined(e.Class)
	return told
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
