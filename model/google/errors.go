package google

import (
	"encoding/json"
	"slices"
	"strings"
	"time"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/model/internal/provider"
)

// A fault is an error from a server, in the form of google.rpc.Status.
type fault struct {
	Code    int      `json:"code"`
	Status  string   `json:"status"`
	Message string   `json:"message"`
	Details []detail `json:"details"`
}

// A detail has the relevant keys of google.rpc.ErrorInfo, RetryInfo and
// QuotaFailure.
type detail struct {
	Reason     string      `json:"reason"`
	RetryDelay string      `json:"retryDelay"`
	Violations []violation `json:"violations"`
}

type violation struct {
	QuotaID string `json:"quotaId"`
}

// spoken parses {"error": {…}}, the same in a list, and the {"error": "…"} of
// servers that imitate Google's.
func spoken(body []byte) (fault, bool) {
	raw, ok := provider.Spoken(body)
	if !ok {
		return fault{}, false
	}
	var f fault
	if json.Unmarshal(raw, &f.Message) == nil {
		return f, true
	}
	// Fields of another type are ignored.
	if _ = json.Unmarshal(raw, &f); f.Message == "" && f.Status == "" {
		f.Message = string(raw)
	}
	return f, true
}

func isError(body []byte) bool {
	_, told := spoken(body)
	return told
}

var statuses = map[string]pawl.Class{
	"RESOURCE_EXHAUSTED":  pawl.ClassRateLimit,
	"UNAVAILABLE":         pawl.ClassOverloaded,
	"INTERNAL":            pawl.ClassOverloaded,
	"DEADLINE_EXCEEDED":   pawl.ClassOverloaded,
	"ABORTED":             pawl.ClassOverloaded,
	"CANCELLED":           pawl.ClassOverloaded, // by the server: a call canceled here gets no answer
	"DATA_LOSS":           pawl.ClassOverloaded,
	"UNAUTHENTICATED":     pawl.ClassAuth,
	"PERMISSION_DENIED":   pawl.ClassAuth,
	"NOT_FOUND":           pawl.ClassNotFound,
	"INVALID_ARGUMENT":    pawl.ClassInvalid,
	"OUT_OF_RANGE":        pawl.ClassInvalid,
	"FAILED_PRECONDITION": pawl.ClassInvalid,
	"UNIMPLEMENTED":       pawl.ClassInvalid,
}

// classify classifies an error by the status in the body, because proxies
// change HTTP statuses and events have none, and otherwise by the HTTP status.
func classify(e *pawl.ModelError, status int, body []byte) bool {
	f, told := spoken(body)
	e.Message = provider.Message(f.Message, status, body)
	if status < 400 { // an error within a successful response
		e.Class = provider.OfStatus(f.Code)
	}
	if class, ok := statuses[f.Status]; ok {
		e.Class = class
	}
	e.Class = f.refined(e.Class)
	return told
}

// refined distinguishes errors that the API reports with one status.
func (f fault) refined(class pawl.Class) pawl.Class {
	said := strings.ToLower(f.Message)
	has := func(words ...string) bool {
		return slices.ContainsFunc(words, func(w string) bool { return strings.Contains(said, w) })
	}
	switch class {
	case pawl.ClassRateLimit:
		// A quota of the day is spent, whatever delay stands beside it: that is the minute's.
		if f.any(detail.spent) || has("limit: 0", "prepayment", "credits are depleted", "spending cap") {
			return pawl.ClassQuota
		}
		// The same words tell of the minute and of the month. Only what passes
		// soon has a delay or names its quota.
		if has("billing") && !has("per_minute", "per minute") && !f.any(detail.passes) {
			return pawl.ClassQuota
		}
	case pawl.ClassInvalid, pawl.ClassAuth:
		switch {
		case f.any(detail.unpaid), has("billing"):
			return pawl.ClassQuota
		case f.any(detail.keyless), has("api key not valid", "api key expired"):
			return pawl.ClassAuth
		case has("exceeds the maximum number of tokens", "payload size exceeds"):
			return pawl.ClassTooLong
		}
	}
	return class
}

func (f fault) any(is func(detail) bool) bool { return slices.ContainsFunc(f.Details, is) }

func (d detail) unpaid() bool  { return d.Reason == "BILLING_DISABLED" }
func (d detail) keyless() bool { return d.Reason == "API_KEY_INVALID" }

func (d detail) spent() bool {
	return slices.ContainsFunc(d.Violations, func(v violation) bool { return strings.Contains(v.QuotaID, "PerDay") })
}

func (d detail) passes() bool {
	wait, _ := time.ParseDuration(d.RetryDelay)
	return wait > 0 || len(d.Violations) > 0
}
