package fakeprovider

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"time"
	"unicode/utf8"
)

// refused is an answer of a status, with an error in the provider's envelope.
func refused(status int, header ...string) func(s sight) bool {
	return func(s sight) bool {
		for _, h := range []string{"Retry-After", "Retry-After-Ms"} {
			if want := len(header) > 0 && header[0] == h; want == (s.header.Get(h) == "") {
				return false
			}
		}
		return s.status == status && s.err == nil && strings.Contains(s.body, `"error":{`) && json.Valid([]byte(s.body))
	}
}

// retryAt is how long after Date the client is to come back.
func retryAt(s sight) time.Duration {
	date, err := http.ParseTime(s.header.Get("Date"))
	at, err2 := http.ParseTime(s.header.Get("Retry-After"))
	if err != nil || err2 != nil || s.status != 429 {
		return -time.Hour * 1000
	}
	return at.Sub(date)
}

// ends is a whole answer that is a beginning of the sound one.
func ends(s sight) bool { return s.whole() && s.cut() && s.body != "" }

// without is a whole answer in which something of the sound one is missing.
func without(texts ...string) func(s sight) bool {
	return func(s sight) bool {
		if slices.ContainsFunc(texts, s.has) {
			return false
		}
		return s.whole() && s.body != s.sound && s.body != ""
	}
}

func with(text func(w Wire) string) func(s sight) bool {
	return func(s sight) bool {
		return s.whole() && s.has(text(s.wire)) && !strings.Contains(s.sound, text(s.wire))
	}
}

func word(anthropic, chat, responses, google string) func(w Wire) string {
	return func(w Wire) string { return []string{"", anthropic, chat, responses, google}[w] }
}

func always(text string) func(w Wire) string { return word(text, text, text, text) }

// length is a reply that met its limit.
var length = with(word(`"stop_reason":"max_tokens"`, `"finish_reason":"length"`, `"reason":"max_output_tokens"`, `"finishReason":"MAX_TOKENS"`))

// text of the sound reply's calls
const city = `{"city":"Paris","<unit>":"C"}`

var notJSON = argsAre(func(a string) bool { return !json.Valid([]byte(a)) })

// shows is how each fault looks from outside.
var shows = map[string]func(s sight) bool{
	"rate-limit":         refused(429),
	"rate-limit-seconds": refused(429, "Retry-After"),
	"rate-limit-ms":      refused(429, "Retry-After-Ms"),
	"rate-limit-date":    func(s sight) bool { return retryAt(s) == time.Second },
	"rate-limit-skewed": func(s sight) bool {
		at, _ := http.ParseTime(s.header.Get("Retry-After"))
		return retryAt(s) == time.Second && time.Until(at) < -50*time.Minute
	},
	"rate-limit-past": func(s sight) bool { return retryAt(s) == -time.Hour },
	"rate-limit-27h":  func(s sight) bool { return refused(429)(s) && (s.has("27h0m0s") || s.has(`"retryDelay":"97200s"`)) },
	"quota-exhausted": func(s sight) bool {
		return refused(map[bool]int{true: 400, false: 429}[s.wire == Anthropic])(s) && (s.has("credit balance is too low") || s.has("insufficient_quota") || s.has("requests_per_day"))
	},
	"endless-error-body": func(s sight) bool { return s.status == 503 && s.hung && s.has(`"error":{`) },
	"overloaded-529":     refused(529),
	"unavailable-503":    refused(503),
	"internal-500":       refused(500),
	"bad-gateway-502":    func(s sight) bool { return s.status == 502 && s.has("<html>") },
	"unauthorized":       refused(401),
	"model-not-found":    refused(404),
	"too-large":          refused(413),
	"context-length":     func(s sight) bool { return refused(400)(s) && (s.has("maximum") || s.has("context_length_exceeded")) },
	"image-too-large":    refused(400),
	"content-blocked":    refused(400),
	"html-page":          func(s sight) bool { return s.whole() && s.has("<html>") },
	"only-error":         func(s sight) bool { return s.whole() && s.has(`"error":{`) && count(s.body) == 1 },

	"wrong-content-type": func(s sight) bool {
		return s.body == s.sound && strings.HasPrefix(s.header.Get("Content-Type"), "text/plain")
	},
	"gzip-garbage":    func(s sight) bool { return s.body == s.sound && s.header.Get("Content-Encoding") == "gzip" },
	"byte-order-mark": func(s sight) bool { return s.body == "\ufeff"+s.sound },
	"crlf":            func(s sight) bool { return s.body == strings.ReplaceAll(s.sound, "\n", "\r\n") },
	"comment-pings": func(s sight) bool {
		return strings.ReplaceAll(s.body, ": ping\n\n", "") == s.sound && s.body != s.sound
	},
	"split-utf8": func(s sight) bool { return s.whole() && s.has("漢") && utf8.ValidString(s.body) && s.body != s.sound },

	"reset-before-headers": func(s sight) bool { return s.status == 0 && s.err != nil && !s.hung },
	"stale-connection":     func(s sight) bool { return s.body == s.sound },
	"no-answer":            func(s sight) bool { return s.status == 0 && s.hung },
	"headers-only":         func(s sight) bool { return s.status == 200 && s.hung && s.body == "" },
	"late":                 func(s sight) bool { return s.body == s.sound && s.took >= 100*time.Millisecond },
	"late-after-headers":   func(s sight) bool { return s.body == s.sound && s.took >= 100*time.Millisecond },
	"reset-mid-stream":     func(s sight) bool { return s.status == 200 && s.err != nil && !s.hung && s.cut() },
	"drop-mid-stream":      func(s sight) bool { return s.status == 200 && s.err != nil && !s.hung && s.cut() },
	"cut-mid-stream":       ends,
	"cut-mid-bytes":        ends,
	"drop-mid-bytes":       func(s sight) bool { return s.status == 200 && s.err != nil && !s.hung && s.cut() },
	"stalled-stream":       func(s sight) bool { return s.status == 200 && s.hung && s.cut() && s.body != "" },
	"pings-for-ever": func(s sight) bool {
		return s.hung && (strings.Count(s.body, "event: ping") > 3 || strings.Count(s.body, ": keep-alive") > 3)
	},
	"end-inside-utf8": func(s sight) bool { return s.whole() && !utf8.ValidString(s.body) },
	"half-frame": func(s sight) bool {
		return ends(s) && !strings.HasSuffix(s.body, "\n\n") && !strings.HasSuffix(s.body, "\r\n\r\n")
	},
	"no-events": func(s sight) bool { return s.whole() && s.body == "" },

	"overloaded-mid-stream": with(word(`"type":"overloaded_error"`, `"error":{`, `"type":"error"`, `"status":"UNAVAILABLE"`)),
	"error-without-status": func(s sight) bool {
		return with(word(`"type":"api_error"`, `"error":{`, `"type":"error"`, `"error":{`))(s) && !s.has(`"code":5`)
	},
	"response-failed":      with(always("event: response.failed")),
	"cut-mid-arguments":    func(s sight) bool { return ends(s) && s.has(`"name":"now"`) },
	"malformed-last-chunk": func(s sight) bool { return s.whole() && s.has(`"name":"now"`) && !valid(lastEvent(s.body)) },
	"malformed-event":      func(s sight) bool { return s.whole() && count(s.body) == count(s.sound) && len(s.body) < len(s.sound) },
	"no-terminator":        without("message_stop", "[DONE]", "response.completed", `"finishReason"`),
	"no-finish": func(s sight) bool {
		return without("message_delta", `"finish_reason":"`, `"finishReason"`)(s) && lastEvent(s.body) != "" && (s.wire == Google || lastEvent(s.body) == lastEvent(s.sound))
	},
	"open-block": func(s sight) bool {
		return s.whole() && lastEvent(s.body) == lastEvent(s.sound) && len(s.body) < len(s.sound) && strings.Count(s.body, "_stop") < strings.Count(s.sound, "_stop")+1
	},
	"empty-finish-reason": with(always(`"finish_reason":""`)),
	"index-zero":          func(s sight) bool { return s.whole() && strings.Contains(s.sound, `"index":1`) && !s.has(`"index":1`) },
	"no-index": func(s sight) bool {
		return s.whole() && strings.Count(s.body, `"index"`) < strings.Count(s.sound, `"index"`)
	},
	"interleaved": func(s sight) bool {
		return s.whole() && strings.Contains(s.body[strings.LastIndex(s.body, `"index":1}`):], `"index":0,"logprobs"`) && s.body != s.sound
	},

	"truncated-arguments":     func(s sight) bool { return s.whole() && s.body != s.sound && s.has(reason(s)) },
	"length-mid-call":         length,
	"length-after-calls":      func(s sight) bool { return length(s) && s.has("now") },
	"length-mid-text":         length,
	"capped-unsaid":           func(s sight) bool { return s.whole() && s.has(reason(s)) && s.has(`_tokens":100`) },
	"drop-called-length":      func(s sight) bool { return length(s) && !s.has(`"output_tokens":100`) },
	"response-incomplete":     with(always("event: response.incomplete")),
	"unknown-stop-reason":     with(always("out_of_ink")),
	"no-content":              without("Paris", "漢", "weather, "),
	"no-content-billed":       without("Paris", "漢", "weather, "),
	"no-content-unbilled":     without("Paris", "漢", "weather, "),
	"refusal":                 with(word(`"stop_reason":"refusal"`, `"refusal":"`, `"type":"refusal"`, `"finishReason":"SAFETY"`)),
	"content-filter":          with(word(`"stop_reason":"refusal"`, `"finish_reason":"content_filter"`, `"reason":"content_filter"`, `"finishReason":"SAFETY"`)),
	"refusal-after-reasoning": with(word(`"stop_reason":"refusal"`, `"finish_reason":"content_filter"`, `"reason":"content_filter"`, `"finishReason":"SAFETY"`)),
	"malformed-function-call": with(always(`"finishReason":"MALFORMED_FUNCTION_CALL"`)),
	"unexpected-tool-call":    with(always(`"finishReason":"UNEXPECTED_TOOL_CALL"`)),
	"prompt-blocked":          func(s sight) bool { return s.whole() && s.has(`"blockReason"`) && !s.has(`"candidates":`) },
	"window-exceeded":         with(always(`"stop_reason":"model_context_window_exceeded"`)),
	"early-usage": func(s sight) bool {
		if s.wire == Google {
			return s.body == s.sound // there it always comes with every event
		}
		return s.whole() && strings.Count(s.body, `tokens":30`) > strings.Count(s.sound, `tokens":30`)
	},
	"no-usage":   without("_tokens\":30", "TokenCount"),
	"pause-turn": with(always(`"stop_reason":"pause_turn"`)),

	"no-signature": func(s sight) bool {
		return s.whole() && !s.has("thoughtSignature") && !s.has("signature_delta") && !s.has("encrypted_content") && s.body != s.sound
	},
	"duplicate-ids":   func(s sight) bool { return s.whole() && strings.Count(s.body, `"call_1"`) >= 2 },
	"id-is-tool-name": func(s sight) bool { return s.whole() && (s.has(`id":"weather"`) && s.has(`id":"now"`)) },
	"odd-ids":         with(always("functions.weather:0/")),
	"missing-id": func(s sight) bool {
		return s.whole() && strings.Count(s.body, `id":"`) < strings.Count(s.sound, `id":"`)
	},
	"unknown-tool": with(always(`"name":"weatherx"`)),
	"empty-text-block": func(s sight) bool {
		return s.whole() && len(s.body) > len(s.sound) && (s.has(`{"text":"","type":"text"}`) || s.has(`"text":""`))
	},
	"surrogate-text": with(always(`\ud83d`)),
	"broken-text":    func(s sight) bool { return s.whole() && s.has("\xff") && !strings.Contains(s.sound, "\xff") },

	"empty-arguments":          argsAre(func(a string) bool { return a == "" }),
	"missing-arguments":        func(s sight) bool { args, ok := s.args(); return s.whole() && !ok && args == "" },
	"null-arguments":           argsAre(func(a string) bool { return a == "null" }),
	"array-arguments":          argsAre(func(a string) bool { return a == "["+city+"]" }),
	"string-arguments":         argsAre(func(a string) bool { return a == `"everything"` }),
	"double-encoded-arguments": argsAre(func(a string) bool { var text string; return json.Unmarshal([]byte(a), &text) == nil && text == city }),
	"invalid-arguments":        notJSON,
	"surrogate-arguments":      argsAre(func(a string) bool { return strings.Contains(a, `\ud83d`) && json.Valid([]byte(a)) }),
	"broken-arguments":         func(s sight) bool { return s.whole() && s.has("\xff") },
	"huge-arguments":           argsAre(func(a string) bool { return len(a) > 1<<20 }),
	"deep-arguments":           argsAre(func(a string) bool { return strings.Contains(a, strings.Repeat("[", 999)) }),
	"duplicate-keys":           argsAre(func(a string) bool { return strings.Count(a, `"twice"`) == 2 }),
	"huge-numbers":             argsAre(func(a string) bool { return strings.Contains(a, "1e999") }),
}

func lastEvent(stream string) string {
	stream = strings.TrimRight(stream, "\r\n")
	return stream[strings.LastIndex(stream, "data: ")+1:]
}

func valid(event string) bool {
	_, data, _ := strings.Cut("d"+event, "data: ")
	return json.Valid([]byte(data))
}

// reason is that of a reply with calls that is whole.
func reason(s sight) string {
	return word(`"stop_reason":"tool_use"`, `"finish_reason":"tool_calls"`, `"status":"completed"`, `"finishReason":"STOP"`)(s.wire)
}
