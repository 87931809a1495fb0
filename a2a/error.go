package a2a

import (
	"encoding/json"
	"net/http"
)

// A Kind is a kind of error. The zero Kind is an internal error.
type Kind struct {
	Code   int    // of JSON-RPC
	Status int    // of HTTP
	Reason string // of google.rpc.ErrorInfo; empty: the error is not one of the protocol's own
}

// The kinds of errors.
var (
	TaskNotFound             = Kind{-32001, http.StatusNotFound, "TASK_NOT_FOUND"}
	TaskNotCancelable        = Kind{-32002, http.StatusBadRequest, "TASK_NOT_CANCELABLE"}
	PushNotSupported         = Kind{-32003, http.StatusBadRequest, "PUSH_NOTIFICATION_NOT_SUPPORTED"}
	UnsupportedOperation     = Kind{-32004, http.StatusBadRequest, "UNSUPPORTED_OPERATION"}
	ContentTypeNotSupported  = Kind{-32005, http.StatusBadRequest, "CONTENT_TYPE_NOT_SUPPORTED"}
	InvalidAgentResponse     = Kind{-32006, http.StatusInternalServerError, "INVALID_AGENT_RESPONSE"}
	ExtendedCardNotSupported = Kind{-32007, http.StatusBadRequest, "EXTENDED_AGENT_CARD_NOT_CONFIGURED"}
	ExtensionRequired        = Kind{-32008, http.StatusBadRequest, "EXTENSION_SUPPORT_REQUIRED"}
	VersionNotSupported      = Kind{-32009, http.StatusBadRequest, "VERSION_NOT_SUPPORTED"}

	ParseError     = Kind{-32700, http.StatusBadRequest, ""}
	InvalidRequest = Kind{-32600, http.StatusBadRequest, ""}
	UnknownMethod  = Kind{-32601, http.StatusNotFound, ""}
	InvalidParams  = Kind{-32602, http.StatusBadRequest, ""}
	Internal       = Kind{-32603, http.StatusInternalServerError, ""}

	Unauthenticated = Kind{-32000, http.StatusUnauthorized, ""}
	Forbidden       = Kind{-32000, http.StatusForbidden, ""}
	Exhausted       = Kind{-32000, http.StatusTooManyRequests, ""}
	Unavailable     = Kind{-32000, http.StatusServiceUnavailable, ""}
)

// An Error is a refusal in the terms of the protocol.
type Error struct {
	Kind    Kind
	Message string
	Field   string            // the invalid field, as in message.parts; empty: it is not about one
	Facts   map[string]string // about the error, such as taskId
}

// Error returns the message.
func (e *Error) Error() string { return e.Message }

// Details are the objects that say more about the error, each with its @type.
func (e *Error) Details() []any {
	details := []any{}
	if e.Kind.Reason != "" {
		info := map[string]any{"@type": "type.googleapis.com/google.rpc.ErrorInfo", "reason": e.Kind.Reason, "domain": "a2a-protocol.org"}
		if len(e.Facts) > 0 {
			info["metadata"] = e.Facts
		}
		details = append(details, info)
	}
	if e.Field != "" {
		details = append(details, map[string]any{
			"@type":           "type.googleapis.com/google.rpc.BadRequest",
			"fieldViolations": []any{map[string]string{"field": e.Field, "description": e.Message}},
		})
	}
	return details
}

// RPC is the error of a [Response].
func (e *Error) RPC() any {
	out := map[string]any{"code": e.Kind.Code, "message": e.Message}
	if details := e.Details(); len(details) > 0 {
		out["data"] = details
	}
	return out
}

// A Request is a call.
type Request struct {
	JSONRPC string          `json:"jsonrpc"`
	ID      json.RawMessage `json:"id"`
	Method  string          `json:"method"`
	Params  json.RawMessage `json:"params,omitempty"`
}

// A Response answers a Request. Exactly one of Result and Error is set.
type Response struct {
	JSONRPC string          `json:"jsonrpc"`
	ID      json.RawMessage `json:"id"`
	Result  any             `json:"result,omitempty"`
	Error   any             `json:"error,omitempty"`
}
