package fakeprovider

import (
	"net/http"
	"strconv"
	"time"

	"github.com/pawl-run/pawl"
)

// Faults in place of a reply: the provider refuses.
var refusals = []entry{
	{"rate-limit", 2, "429 without a time to retry.", nil, refuses(pawl.ClassRateLimit, 429)},
	{"rate-limit-seconds", 1, "429 with Retry-After in seconds: K, or 1.", nil, limits(func(x strike, h http.Header) {
		h.Set("Retry-After", strconv.Itoa(x.or(1)))
	})},
	{"rate-limit-ms", 1, "429 with retry-after-ms: K, or 20.", nil, limits(func(x strike, h http.Header) {
		h.Set("Retry-After-Ms", strconv.Itoa(x.or(20)))
	})},
	{"rate-limit-date", 1, "429 with Retry-After as an HTTP date, K or 1 seconds after Date.", nil, limits(func(x strike, h http.Header) {
		now := time.Now().UTC()
		h.Set("Date", now.Format(http.TimeFormat))
		h.Set("Retry-After", now.Add(time.Duration(x.or(1))*time.Second).Format(http.TimeFormat))
	})},
	{"rate-limit-skewed", 66, "429 of a server whose clock is an hour late: Retry-After is a date in the past, K or 1 seconds after Date.", nil, limits(func(x strike, h http.Header) {
		then := time.Now().UTC().Add(-time.Hour)
		h.Set("Date", then.Format(http.TimeFormat))
		h.Set("Retry-After", then.Add(time.Duration(x.or(1))*time.Second).Format(http.TimeFormat))
	})},
	{"rate-limit-past", 66, "429 with a date in the past as Retry-After: an hour before Date.", nil, limits(func(_ strike, h http.Header) {
		now := time.Now().UTC()
		h.Set("Date", now.Format(http.TimeFormat))
		h.Set("Retry-After", now.Add(-time.Hour).Format(http.TimeFormat))
	})},
	{"rate-limit-27h", 4, "429 whose body alone says that the limit is reset in K hours, or 27.", nil, deed{instead: limitForHours}},
	{"quota-exhausted", 3, "The credit or the quota is used up, reported in the provider's own way: 429, or 400 at Anthropic.", nil, refuses(pawl.ClassQuota, 0)},
	{"endless-error-body", 5, "503 whose body never ends.", nil, deed{instead: func(x strike) *outcome {
		out := x.refuse(pawl.ClassOverloaded, 503)
		out.ending = endless
		return out
	}}},
	{"overloaded-529", 6, "529: overloaded.", nil, refuses(pawl.ClassOverloaded, 529)},
	{"unavailable-503", 6, "503: unavailable.", nil, refuses(pawl.ClassOverloaded, 503)},
	{"internal-500", 6, "500: an internal error of the server.", nil, refuses(pawl.ClassUnknown, 500)},
	{"bad-gateway-502", 6, "502 with a proxy's page in place of JSON.", nil, deed{instead: func(strike) *outcome {
		return page(http.StatusBadGateway, "502 Bad Gateway")
	}}},
	{"unauthorized", 65, "401: the key is not valid, or no longer valid.", nil, deed{instead: func(x strike) *outcome {
		r := &refusal{class: pawl.ClassAuth, status: http.StatusUnauthorized}
		if x.in.Wire == Google {
			r.kind, r.code = "UNAUTHENTICATED", "ACCESS_TOKEN_EXPIRED"
		}
		return x.in.refuse(r)
	}}},
	{"model-not-found", 64, "404: there is no such model.", nil, deed{instead: func(x strike) *outcome { return x.in.refuse(noModel(x.in)) }}},
	{"too-large", 55, "413: the request has too many bytes, whatever its tokens.", nil, deed{instead: func(x strike) *outcome { return x.in.refuse(tooLarge(x.in.Wire)) }}},
	{"context-length", 52, "400: the conversation is longer than the model's context.", nil, refuses(pawl.ClassTooLong, 0)},
	{"image-too-large", 56, "400: an image of the conversation has too many pixels, now and in every later request.", nil, deed{instead: func(x strike) *outcome {
		r := invalid("", "messages.0.content.0.image.source.base64.data: At least one of the image dimensions exceed max allowed size: 8000 pixels")
		switch x.in.Wire {
		case Chat, Responses:
			r.message, r.code = "The image data you provided does not represent a valid image. Please check your input and try again with one of the supported image formats: ['png', 'jpeg', 'gif', 'webp'].", "image_too_large"
		case Google:
			r.message = "Unable to process input image. Please retry or report."
		}
		return x.in.refuse(r)
	}}},
	{"content-blocked", 26, "400: the prompt is refused for its content.", spoken, refuses(pawl.ClassRefused, 0)},
	{"html-page", 67, "200 with the login page of a network.", nil, deed{instead: func(strike) *outcome {
		return page(http.StatusOK, "Welcome to the hotel")
	}}},
	{"only-error", 9, "200 with a stream whose only event is an error; unstreamed, 200 with its JSON.", nil, deed{instead: func(x strike) *outcome {
		out := x.refuse(pawl.ClassOverloaded, http.StatusOK)
		if x.in.Stream {
			out.stream(x.in, []frame{{data: x.in.dialect.refuse(x.overloaded())}})
		}
		return out
	}}},
}

// refuse is a refusal by its class; status 0 is the wire's own.
func (x strike) refuse(c pawl.Class, status int) *outcome {
	return x.in.refuse(&refusal{class: c, status: status})
}

func refuses(c pawl.Class, status int) deed {
	return deed{instead: func(x strike) *outcome { return x.refuse(c, status) }}
}

// limits is a 429 with headers of its own.
func limits(set func(x strike, h http.Header)) deed {
	return deed{instead: func(x strike) *outcome {
		out := x.refuse(pawl.ClassRateLimit, http.StatusTooManyRequests)
		set(x, out.header)
		return out
	}}
}

func limitForHours(x strike) *outcome {
	wait := time.Duration(x.or(27)) * time.Hour
	r := &refusal{class: pawl.ClassRateLimit, status: http.StatusTooManyRequests}
	switch x.in.Wire {
	case Google: // tells it in the details of its body
		r.after = wait
	case Anthropic:
		r.message = "Your limit will reset in " + wait.String() + "."
	default:
		r.message = "Please try again in " + wait.String() + "."
	}
	out := x.in.refuse(r)
	out.header.Del("Retry-After")
	out.header.Del("Retry-After-Ms")
	return out
}

func page(status int, title string) *outcome {
	text := "<!DOCTYPE html>\n<html><head><title>" + title + "</title></head><body><h1>" + title + "</h1></body></html>\n"
	return &outcome{status: status, header: http.Header{"Content-Type": {"text/html; charset=utf-8"}}, units: [][]byte{[]byte(text)}}
}

// overloaded is what is told inside a stream.
func (x strike) overloaded() *refusal {
	return (&refusal{class: pawl.ClassOverloaded}).say(x.in.Wire)
}
