package guard

import (
	"fmt"
	"slices"
	"strings"

	"github.com/pawl-run/pawl/internal/redact"
)

// A Rule says what to look for and what to do about it.
type Rule struct {
	name string
	do   Action
	find func(text string) []span
	// before is what find was under machines before 3; nil: the same.
	before func(text string) []span
	where  places
	wrong  string // what makes no sense about it
}

// span is a piece of a text and what it is.
type span struct {
	kind       string
	start, end int
}

// places are the texts a rule looks at when it blocks, warns or retries. What is to be
// redacted is so wherever it stands.
type places int

const (
	inInput  places = 1 << iota // what people say
	inReply                     // what the model says, and the arguments of its calls
	inResult                    // what tools and observers say
	anywhere = inInput | inReply | inResult
)

// String prints the rule as it stands in the policy.
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
	IP                    // addresses of computers, version 4 and 6, but for loopback and unspecified ones
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

// PII looks for personal data of some kinds; without any, of all. Under machines
// before 3 that was all but IP.
func PII(do Action, of ...Kind) Rule {
	r := Rule{name: "pii", do: do, where: anywhere}
	if len(of) > 0 {
		of = slices.Compact(slices.Sorted(slices.Values(of)))
		names := make([]string, len(of))
		for i, k := range of {
			if names[i] = k.String(); k < Email || k > IP {
				r.wrong = names[i] + " is no kind of personal data"
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
	r.before = func(text string) (all []span) {
		for k := Email; k < IP; k++ {
			if len(of) == 0 || slices.Contains(of, k) {
				all = append(all, kinds[k-1].find(text)...)
			}
		}
		if slices.Contains(of, IP) {
			all = append(all, before3(text)...)
		}
		return all
	}
	return r
}

// Secrets looks for keys and tokens of known vendors, JSON web tokens, private
// keys, and passwords in URLs. Values that are known are better given to the
// engine as its Secrets.
func Secrets(do Action) Rule {
	return Rule{name: "secrets", do: do, where: anywhere, find: func(text string) (all []span) {
		for _, s := range redact.Tokens(text) {
			all = append(all, span{s.Kind, s.Start, s.End})
		}
		return all
	}}
}

// Injection looks, in what people, tools and observers say, for instructions to
// the model that want the agent's own set aside.
func Injection(do Action) Rule {
	return Rule{name: "injection", do: do, where: inInput | inResult, find: injections}
}

// Topics looks, in what people and the model say, for words and phrases, whole
// and in any case.
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
		r.wrong = "topics has none"
	}
	r.name = "topics(" + strings.Join(quoted, ", ") + ")"
	r.find = func(text string) []span { return mentions(text, phrases) }
	return r
}
