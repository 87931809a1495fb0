// Package provider is shared by the adapters of model providers. A [Server]
// sends requests and reads event streams; an adapter provides a [Vendor], with
// the provider's addresses and error codes, the body of each request, and a
// [Reader] that builds a reply from the events.
package provider

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/internal/display"
	"github.com/pawl-run/pawl/internal/wire"
)

// Limits on reading the body of an error. A server that never ends one must not
// block the run.
const (
	maxBody  = 1 << 20
	bodyTime = 5 * time.Second

	drainTime = 100 * time.Millisecond
)

// Body reads the beginning of a body that is no stream, within limits of time and size, and closes it.
func Body(rc io.ReadCloser) []byte {
	t := time.AfterFunc(bodyTime, func() { rc.Close() })
	defer t.Stop()
	defer rc.Close()
	b, _ := io.ReadAll(io.LimitReader(rc, maxBody))
	return b
}

// Drain reads the rest of a stream's body and closes it, so that the next request can reuse the connection.
func Drain(rc io.ReadCloser) {
	t := time.AfterFunc(drainTime, func() { rc.Close() })
	defer t.Stop()
	defer rc.Close()
	_, _ = io.CopyN(io.Discard, rc, maxBody)
}

// Clip shortens untrusted text for use in an error, to one line of valid UTF-8.
func Clip(s string) string {
	return display.Clip(strings.Join(strings.Fields(strings.ToValidUTF8(s, "\uFFFD")), " "), 500)
}

// Args returns a model's text of arguments as JSON: an empty text is no
// arguments, JSON stays unchanged, other text becomes a JSON string, which
// validation refuses.
func Args(text string) json.RawMessage {
	if strings.TrimSpace(text) == "" {
		return json.RawMessage("{}")
	}
	if json.Valid([]byte(text)) {
		return json.RawMessage(text)
	}
	return Marshal(strings.ToValidUTF8(text, "\uFFFD"))
}

// Marshal is [wire.Marshal] for values that have a JSON form.
func Marshal(v any) json.RawMessage {
	b, err := wire.Marshal(v)
	if err != nil {
		panic("provider: " + err.Error())
	}
	return b
}

// Nothing describes a reply without content that cost something. A few tokens
// are billed for just ending a turn.
func Nothing(u pawl.Usage) string {
	const end = 4
	if u.Output-u.Reasoning > end {
		return fmt.Sprintf("the reply has neither text nor calls, though %d tokens of output were billed; it was probably filtered", u.Output)
	}
	return "the reply has neither text nor calls"
}

// Silent describes a reply that reached its limit before any content.
func Silent(limit int) string {
	return fmt.Sprintf("the reply met its limit of %d tokens before it said anything; let it have more", limit)
}

// The most letters that all providers take in the name of a tool.
const longestName = 64

// Named reports whether a text is a name that every provider takes; see [Name].
func Named(s string) bool { return Name(s) == s }

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

// IDs are the ids by which the calls of a conversation go to a server, by the run's.
type IDs map[string]string

// CallIDs returns the ids of calls: the provider's own, because a model may be bound to all that
// stood before its thinking, and some servers accept no others. One that is empty, longer than
// most bytes, not valid or occurs again is the run's instead, with as many _ behind it as make
// it unique.
func CallIDs(msgs []pawl.Message, most int, valid func(id string) bool) IDs {
	ids, taken := IDs{}, map[string]bool{}
	for _, msg := range msgs {
		for _, part := range msg.Parts {
			c, ok := part.(pawl.Call)
			own := cmp.Or(c.ID, c.Ref)
			if !ok || ids[own] != "" {
				continue
			}
			want := c.Ref
			if want == "" || len(want) > most || taken[want] || !valid(want) {
				want = Name(own)
			}
			for taken[want] {
				want += "_"
			}
			taken[want], ids[own] = true, want
		}
	}
	return ids
}

// Of returns the id of a call, or of the call of a result.
func (ids IDs) Of(own, ref string) string {
	own = cmp.Or(own, ref)
	return cmp.Or(ids[own], Name(own))
}
