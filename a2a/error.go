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
	GRPC   string // the name of the status of gRPC
}

// The kinds of errors.
var (
	TaskNotFound             = Kind{-32001, http.StatusNotFound, "TASK_NOT_FOUND", "NOT_FOUND"}
	TaskNotCancelable        = Kind{-32002, http.StatusBadRequest, "TASK_NOT_CANCELABLE", "FAILED_PRECONDITION"}
	PushNotSupported         = Kind{-32003, http.StatusBadRequest, "PUSH_NOTIFICATION_NOT_SUPPORTED", "FAILED_PRECONDITION"}
	UnsupportedOperation     = Kind{-32004, http.StatusBadRequest, "UNSUPPORTED_OPERATION", "FAILED_PRECONDITION"}
	ContentTypeNotSupported  = Kind{-32005, http.StatusBadRequest, "CONTENT_TYPE_NOT_SUPPORTED", "INVALID_ARGUMENT"}
	InvalidAgentResponse     = Kind{-32006, http.StatusInternalServerError, "INVALID_AGENT_RESPONSE", "INTERNAL"}
	ExtendedCardNotSupported = Kind{-32007, http.StatusBadRequest, "EXTENDED_AGENT_CARD_NOT_CONFIGURED", "FAILED_PRECONDITION"}
	ExtensionRequired        = Kind{-32008, http.StatusBadRequest, "EXTENSION_SUPPORT_REQUIRED", "FAILED_PRECONDITION"}
	VersionNotSupported      = Kind{-32009, http.StatusBadRequest, "VERSION_NOT_SUPPORTED", "FAILED_PRECONDITION"}

	ParseError     = Kind{-32700, http.StatusBadRequest, "", "INVALID_ARGUMENT"}
	InvalidRequest = Kind{-32600, http.StatusBadRequest, "", "INVALID_ARGUMENT"}
	UnknownMethod  = Kind{-32601, http.StatusNotFound, "", "UNIMPLEMENTED"}
	InvalidParams  = Kind{-32602, http.StatusBadRequest, "", "INVALID_ARGUMENT"}
	Internal       = Kind{-32603, http.StatusInternalServerError, "", "INTERNAL"}

	Unauthenticated = Kind{-32000, http.StatusUnauthorized, "", "UNAUTHENTICATED"}
	Forbidden       = Kind{-32000, http.StatusForbidden, "", "PERMISSION_DENIED"}
	Exhausted       = Kind{-32000, http.StatusTooManyRequests, "", "RESOURCE_EXHAUSTED"}
	Unavailable     = Kind{-32000, http.StatusServiceUnavailable, "", "UNAVAILABLE"}
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

// RPC is the error of the JSON-RPC binding.
func (e *Error) RPC() any {
	out := map[string]any{"code": e.Kind.Code, "message": e.Message}
	if details := e.Details(); len(details) > 0 {
		out["data"] = details
	}
	return out
}

// HTTP is the body of the HTTP+JSON binding.
func (e *Error) HTTP() any {
	return map[string]any{"error": map[string]any{"code": e.Kind.Status, "status": e.Kind.GRPC, "message": e.Message, "details": e.Details()}}
}

// A Request is a call of the JSON-RPC binding.
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
