package guard

import (
	"fmt"
	"slices"
	"strings"

	"github.com/pawl-run/pawl/internal/redact"
)

// A Rule is what to look for and the action on a finding.
type Rule struct {
	name  string
	do    Action
	find  func(text string) []span
	where places
	wrong string // why the rule is invalid
}

// span is a part of a text and its kind.
type span struct {
	kind       string
	start, end int
}

// places are the texts that a rule checks when it blocks, warns or retries.
// Redaction applies to all texts.
type places int

const (
	inInput  places = 1 << iota // texts of people
	inReply                     // the model's text, and the arguments of its calls
	inResult                    // results of tools and observers
	anywhere = inInput | inReply | inResult
)

// String returns the rule as recorded in the log.
func (r Rule) String() string { return fmt.Sprintf("%s: %v", r.name, r.do) }

// Kind is a kind of personal data.
type Kind int

// The kinds.
const (
	Email Kind = 1 + iota // e-mail addresses
	Phone                 // telephone numbers, international or North American, as people write them
	SSN                   // US social security numbers, with hyphens
	Card                  // payment card numbers: known prefix, length and check digit
	IBAN                  // bank accounts: known length and check digits
	IP                    // IP addresses, version 4 and 6, except loopback and unspecified ones
)

var kinds = []struct {
	name string
	find func(string) []span
}{
	{"email", emails}, {"phone", phones}, {"ssn", ssns}, {"card", cards}, {"iban", ibans}, {"ip", addresses},
}

// String returns the kind's name.
func (k Kind) String() string {
	if k < 1 || int(k) > len(kinds) {
		return fmt.Sprintf("kind(%d)", int(k))
	}
	return kinds[k-1].name
}

// PII finds personal data of the kinds, or of all kinds if there are none.
func PII(do Action, of ...Kind) Rule {
	r := Rule{name: "pii", do: do, where: anywhere}
	if len(of) > 0 {
		of = slices.Compact(slices.Sorted(slices.Values(of)))
		names := make([]string, len(of))
		for i, k := range of {
			if names[i] = k.String(); k < Email || k > IP {
				r.wrong = names[i] + " is not a kind of personal data"
				return r
			}
		}
		r.name = "pii(" + strings.Join(names, ", ") + ")"
	}
	r.find = func(text string) (all []span) {
		for k := Email; k <= IP; k++ {
			if len(of) == 0 || slices.Contains(of, k) {
				all = append(all, kinds[k-1].find(text)...)
			}
		}
		return all
	}
	return r
}

// Secrets finds keys and tokens of known vendors, JSON web tokens, private
// keys, and passwords in URLs. For known values, use the engine's Secrets
// instead.
func Secrets(do Action) Rule {
	return Rule{name: "secrets", do: do, where: anywhere, find: func(text string) (all []span) {
		for _, s := range redact.Tokens(text) {
			all = append(all, span{s.Kind, s.Start, s.End})
		}
		return all
	}}
}

// Topics finds words and phrases in the texts of people and the model, as whole
// words in any case.
func Topics(do Action, topics ...string) Rule {
	r := Rule{do: do, where: inInput | inReply}
	phrases := make([][]string, 0, len(topics))
	quoted := make([]string, len(topics))
	for i, topic := range topics {
		var phrase []string
		for w := range words(topic) {
			phrase = append(phrase, w.lower)
		}
		if quoted[i] = fmt.Sprintf("%q", topic); phrase == nil {
			r.wrong = "the topic " + quoted[i] + " has no word"
		}
		phrases = append(phrases, phrase)
	}
	if len(topics) == 0 {
		r.wrong = "topics has no topics"
	}
	r.name = "topics(" + strings.Join(quoted, ", ") + ")"
	r.find = func(text string) []span { return mentions(text, phrases) }
	return r
}
