// Package window manages the context window of a model: it plans which part of a
// run's conversation the model sees. At first that is everything. When repeating
// the conversation costs more than omitting parts of it, the results of old calls
// are omitted, or a summary replaces all but the latest turns. The log keeps what
// the model no longer sees.
//
// [Compact] is the policy that shortens a conversation, before a limit or when it
// saves money. A [Transcript] builds the messages of a request from the log.
// [Pin] makes text of the prompt, which is never shortened.
//
// Compaction by price is a rent-or-buy problem. A provider that has the beginning of
// a request in its cache charges little for reading it again, and more than usual
// for writing new text. Keeping old text costs rent with every request. Omitting it
// has a price: the text after it must be written again, and a summary must be made.
// Compact shortens the conversation once the rent paid so far equals that price.
// This costs at most twice as much as a strategy that knows the future (Karlin,
// Manasse, Rudolph and Sleator, "Competitive snoopy caching", 1988). Compact does
// not shorten if the remaining turns cannot earn the price back.
package window

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/internal/usercode"
)

// Options are the settings of [Compact]. The zero value is valid.
type Options struct {
	// Keep is how many of the latest replies, with their results, stay unchanged unless
	// a limit leaves no choice. Zero: 5; negative: none.
	Keep int `key:"keep" zero:"-1" min:"0" usual:"5" about:"latest replies, with the results of their calls, that are never left out by price"`
	// MaxTokens is the maximum of estimated tokens of a request. Zero: the model's
	// limit, which is known once it has refused a request.
	MaxTokens int `key:"max_tokens" such:"32000" usual:"the model's limit" about:"most estimated tokens of one request"`
	// MaxBytes is the maximum of bytes of conversation in a request, including pictures.
	// Zero: 16 MiB.
	MaxBytes int
	// Model writes summaries. Nil: the model of the run, which has the conversation in
	// its cache.
	Model pawl.Model `key:"summary_model" usual:"the agent's own" about:"model that writes summaries"`
	// Never disables compaction by price: only limits shorten the conversation.
	Never bool `key:"compact" enum:"price,never" usual:"price" about:"leave out old parts when that is cheaper, or only when a limit demands it"`
	// TTL is how long the provider's cache keeps text that is not read, unless it is asked
	// to keep it for an hour. Zero: five minutes, which is Anthropic's time and the shortest
	// of the other providers'.
	TTL time.Duration
}

const (
	defaultKeep  = 5 // the offline optimum was computed with it, too
	defaultBytes = 16 << 20
	defaultTTL   = 5 * time.Minute

	bytesPerToken = 4
	summaryTokens = 1500 // expected of a summary
	mostSummary   = 2048 // at most, of a summary
	promptTokens  = 400  // of the request for a summary
	usualReply    = 300  // tokens of a reply
	leastSpare    = 256  // tokens worth omitting at once
	leastIdle     = 2000 // the same when omitting is free, since the cache is lost
)

type compaction struct {
	usercode.Reader
	Options
	name string // of the model that writes summaries; empty: the run's
}

// Compact returns the policy. Where the price of a model elsewhere is unknown, its usual ratios count.
func Compact(o *Options) pawl.Policy {
	c := compaction{}
	if o != nil {
		c.Options = *o
	}
	c.Keep = cmp.Or(c.Keep, defaultKeep)
	c.Keep = max(c.Keep, 0)
	c.MaxBytes = cmp.Or(c.MaxBytes, defaultBytes)
	if c.TTL == 0 {
		c.TTL = defaultTTL
	}
	if d, ok := c.Model.(pawl.Describer); ok {
		c.name = d.Describe().Name
	} else if c.Model != nil {
		c.name = "func"
	}
	return c
}

// Guard returns the agent with Compact(nil) added, unless it has one of its own.
func Guard(a pawl.Agent) pawl.Agent {
	for _, p := range a.Policies {
		if _, ok := p.(compaction); ok {
			return a
		}
	}
	a.Policies = append(a.Policies[:len(a.Policies):len(a.Policies)], Compact(nil))
	return a
}

// Pin returns a section of a prompt that holds facts. The prompt is never shortened, and
// begins every request. Without facts the section is empty.
func Pin(facts ...string) string {
	if len(facts) == 0 {
		return ""
	}
	var b strings.Builder
	b.WriteString("\n\nKeep in mind at all times:\n")
	for _, f := range facts {
		b.WriteString("- " + strings.ReplaceAll(strings.TrimSpace(f), "\n", "\n  ") + "\n")
	}
	return b.String()
}

// String returns the policy as recorded in the log.
func (c compaction) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "context(keep %d", c.Keep)
	if c.MaxTokens > 0 {
		fmt.Fprintf(&b, ", %d tokens", c.MaxTokens)
	}
	if c.MaxBytes != defaultBytes {
		fmt.Fprintf(&b, ", %d bytes", c.MaxBytes)
	}
	if c.TTL != defaultTTL {
		fmt.Fprintf(&b, ", ttl %v", c.TTL)
	}
	if c.Never {
		b.WriteString(", never by price")
	}
	if c.name != "" {
		fmt.Fprintf(&b, ", by %q", c.name)
	}
	return b.String() + ")"
}

// Parameters declares the policy as data.
func (c compaction) Parameters() json.RawMessage {
	b, _ := json.Marshal(struct {
		Keep      int    `json:"keep"`
		MaxTokens int    `json:"max_tokens,omitempty"`
		Never     bool   `json:"never_by_price,omitempty"`
		Model     string `json:"model,omitempty"` // that writes summaries
	}{c.Keep, c.MaxTokens, c.Never, c.name})
	return b
}

// AuxiliaryModels returns the model that writes summaries, if it is not the run's.
func (c compaction) AuxiliaryModels() []pawl.Model {
	if c.Model == nil {
		return nil
	}
	return []pawl.Model{c.Model}
}

// Check reports invalid settings.
func (c compaction) Check(a pawl.Agent) error {
	n := 0
	for _, p := range a.Policies {
		if _, ok := p.(compaction); ok {
			n++
		}
	}
	switch {
	case n > 1:
		return errors.New("policies: there are two of window.Compact; one plans for the whole conversation")
	case c.MaxTokens < 0 || c.MaxBytes < 0 || c.TTL < 0:
		return errors.New("policies: " + c.String() + ": MaxTokens, MaxBytes and TTL may not be negative")
	}
	return nil
}
