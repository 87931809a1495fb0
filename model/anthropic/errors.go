package anthropic

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	sdk "github.com/anthropics/anthropic-sdk-go"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/internal/provider"
)

// failure says why a stream ended before its reply was whole.
func failure(ctx context.Context, err error, t turn) error {
	var api *sdk.Error
	var me *pawl.ModelError
	var sending *url.Error
	var redirect *provider.RedirectError
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.As(err, &me):
		return err
	case errors.As(err, &redirect):
		return &pawl.ModelError{Class: pawl.ClassInvalid, Message: redirect.Error()}
	case errors.As(err, &sending): // there was no answer, so an EOF is not the end of one
		return &pawl.ModelError{Class: pawl.ClassNetwork, Message: provider.Clip(err.Error()), Err: err}
	case errors.Is(err, io.EOF):
		return t.failed(pawl.ClassTruncated, "the stream ended before message_stop")
	case errors.Is(err, provider.ErrEventTooLong):
		return t.failed(pawl.ClassUnknown, err.Error())
	case errors.As(err, &api):
		status, header := api.StatusCode, http.Header{}
		if api.Response != nil {
			header = api.Response.Header
		}
		e := classified(status, header, []byte(api.RawJSON()))
		e.Usage = t.usage
		return e
	case errors.Is(err, provider.ErrHalfEvent):
		return t.failed(pawl.ClassTruncated, "the stream ended inside an event")
	case errors.Is(err, io.ErrUnexpectedEOF):
		e := &pawl.ModelError{Class: pawl.ClassTruncated, Message: "the stream broke off: " + provider.Clip(err.Error()), Usage: t.usage, Err: err}
		return e
	}
	return &pawl.ModelError{Class: pawl.ClassNetwork, Message: provider.Clip(err.Error()), Usage: t.usage, Err: err}
}

// classified sorts an error by its type when the body names one, for proxies
// change statuses and events have none, and else by its status.
func classified(status int, h http.Header, body []byte) *pawl.ModelError {
	var envelope struct {
		Error struct{ Type, Message string }
	}
	_ = json.Unmarshal(body, &envelope)
	e := &pawl.ModelError{Class: pawl.ClassUnknown, Message: provider.Clip(envelope.Error.Message)}
	if e.Message == "" {
		e.Message = provider.Clip(strings.TrimSpace(http.StatusText(status) + " " + string(body)))
	}
	switch envelope.Error.Type {
	case "rate_limit_error":
		e.Class = pawl.ClassRateLimit
	case "overloaded_error", "api_error", "timeout_error":
		e.Class = pawl.ClassOverloaded
	case "authentication_error", "permission_error":
		e.Class = pawl.ClassAuth
	case "billing_error":
		e.Class = pawl.ClassQuota
	case "not_found_error":
		e.Class = pawl.ClassNotFound
	case "request_too_large":
		e.Class = pawl.ClassTooLong
	case "invalid_request_error":
		e.Class = pawl.ClassInvalid
	default:
		e.Class = ofStatus(status)
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
	if e.Class.Transient() {
		e.RetryAfter = provider.Wait(h, body, time.Now())
	}
	return e
}

// forThinking reports whether a request was refused for the thinking in it or
// missing from it, which the API says in words alone.
func forThinking(err error) bool {
	me, ok := errors.AsType[*pawl.ModelError](err)
	return ok && me.Class == pawl.ClassInvalid &&
		(strings.Contains(me.Message, "`thinking`") || strings.Contains(me.Message, "`redacted_thinking`"))
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
	case status >= 500:
		return pawl.ClassOverloaded
	case status >= 400:
		return pawl.ClassInvalid
	}
	return pawl.ClassUnknown
}
