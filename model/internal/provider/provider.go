// Package provider is what the adapters of model providers have in common. A
// [Server] sends requests and reads event streams; an adapter gives it a [Vendor],
// which says how the provider is addressed and what its errors mean, the body of
// each request, and a [Reader] that makes a reply of the events.
package provider

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/pawl-run/pawl"
)

// Bounds on the body of an error. A server that never ends one would otherwise
// hold the run.
const (
	maxBody  = 16 << 10
	bodyTime = 5 * time.Second

	drainTime = 100 * time.Millisecond
)

// Body reads the beginning of an error's body and closes it. What cannot be
// read in time or size is left out.
func Body(rc io.ReadCloser) []byte {
	t := time.AfterFunc(bodyTime, func() { rc.Close() })
	defer t.Stop()
	defer rc.Close()
	b, _ := io.ReadAll(io.LimitReader(rc, maxBody))
	return b
}

// Drain reads what little is left of a body whose stream has ended, and closes
// it. A connection is used again only when its body was read to the end, and the
// next request would otherwise begin with another one.
func Drain(rc io.ReadCloser) {
	t := time.AfterFunc(drainTime, func() { rc.Close() })
	defer t.Stop()
	defer rc.Close()
	_, _ = io.CopyN(io.Discard, rc, maxBody)
}

// Clip shortens a text of unknown origin to one that fits an error, in valid
// UTF-8 and on one line.
func Clip(s string) string {
	const most = 500
	s = strings.Join(strings.Fields(strings.ToValidUTF8(s, "\uFFFD")), " ")
	if len(s) <= most {
		return s
	}
	n := most
	for !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n] + "…"
}

// Args is what a model wrote as the arguments of a call, as JSON: nothing
// stands for no arguments, JSON for itself, any other text for a JSON string,
// which validation will refuse.
func Args(text string) json.RawMessage {
	if strings.TrimSpace(text) == "" {
		return json.RawMessage("{}")
	}
	if json.Valid([]byte(text)) {
		return json.RawMessage(text)
	}
	return Marshal(strings.ToValidUTF8(text, "\uFFFD"))
}

// Marshal is json.Marshal without escaping <, > and &, for values that have a
// JSON form.
func Marshal(v any) json.RawMessage {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		panic("provider: " + err.Error())
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}

// Nothing says what is known of a reply that says nothing but cost something. A
// few tokens are billed for the end of a turn alone.
func Nothing(u pawl.Usage) string {
	const end = 4
	if u.Output-u.Reasoning > end {
		return fmt.Sprintf("the reply has neither text nor calls, though %d tokens of output were billed; it was probably filtered", u.Output)
	}
	return "the reply has neither text nor calls"
}

// Silent says that a reply met its limit of so many tokens too early.
func Silent(limit int) string {
	return fmt.Sprintf("the reply met its limit of %d tokens before it said anything; let it have more", limit)
}

// The most letters that all providers take in the name of a tool.
const longestName = 64

// Name is a name of a tool that every provider takes: of letters, digits, _ and
// -, and not too long. A model may call a tool of any name; that call stands in
// the conversation from then on, and a request with a name that breaks the rules
// is refused each time.
func Name(s string) string {
	s = strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '-' {
			return r
		}
		return '_'
	}, s)
	if s == "" {
		return "unnamed"
	}
	return s[:min(len(s), longestName)]
}

// Repair puts U+FFFD in the place of bytes that are not UTF-8 and reports whether
// there were any. It is for whole events: in less, a letter may be cut in two.
func Repair(b []byte) (fixed []byte, broken bool) {
	if utf8.Valid(b) {
		return b, false
	}
	return bytes.ToValidUTF8(b, []byte("\uFFFD")), true
}

// UniqueID is want, or want with as many _ behind it as make it one that is not
// taken; it takes it. An id that is empty or longer than most bytes is own instead.
func UniqueID(want, own string, most int, taken map[string]bool) string {
	if want == "" || len(want) > most || taken[want] {
		want = own
	}
	for taken[want] {
		want += "_"
	}
	taken[want] = true
	return want
}
