// Package window plans what a model sees of a run: everything said, until
// carrying it along costs more than leaving it out. Then results of old calls
// are left out, or all but the latest turns are put into a summary, once; what
// was left out stays in the log.
//
// When to compact is a question of rent or purchase, since a provider that has
// a request's beginning in its cache charges little for reading it again, and
// more than usual for writing what is new. Every request pays rent for what
// could be left out; leaving it out has a price, since what stands behind it must
// be written anew, and a summary must be made. [Compact] buys when the rent paid
// so far reaches the price, which costs at most twice what one would pay who
// knew the future (Karlin, Manasse, Rudolph and Sleator, "Competitive snoopy
// caching", 1988), and never when the turns that are left cannot earn it back.
package window

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/pawl-run/pawl"
)

// Options are the settings of [Compact]. The zero value is right.
type Options struct {
	// Keep is how many of the latest replies, with what came of them, are never
	// touched unless a limit leaves no choice. Zero: 5; negative: none.
	Keep int
	// MaxTokens is the most tokens a request may have, as estimated. Zero: what
	// the model takes, which is known once it has refused a request.
	MaxTokens int
	// MaxBytes is the most bytes of conversation a request may have, pictures
	// included. Zero: 16 MiB.
	MaxBytes int
	// Model writes summaries. Nil: the model of the run, which has the
	// conversation in its cache.
	Model pawl.Model
	// Never leaves the price out: only limits have the conversation shortened.
	Never bool
	// TTL is how long the provider's cache keeps what nobody reads. Zero: five
	// minutes, which is Anthropic's and the least of the others'.
	TTL time.Duration
}

const (
	defaultKeep  = 5 // what the offline optimum was computed with, too
	defaultBytes = 16 << 20
	defaultTTL   = 5 * time.Minute

	bytesPerToken = 4
	summaryTokens = 1500 // that a summary is expected to have
	mostSummary   = 2048 // and may have
	promptTokens  = 400  // of what asks for one
	leastSpare    = 256  // tokens worth leaving out in one go
	leastIdle     = 2000 // and when it costs nothing, since the cache is lost
)

type compaction struct {
	Options
	name string // of the model that writes summaries; empty: the run's
}

// Compact returns the policy. By price, it acts only where the model has one.
func Compact(o *Options) pawl.Policy {
	c := compaction{}
	if o != nil {
		c.Options = *o
	}
	if c.Keep == 0 {
		c.Keep = defaultKeep
	}
	c.Keep = max(c.Keep, 0)
	if c.MaxBytes == 0 {
		c.MaxBytes = defaultBytes
	}
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

// Pin is a section of a prompt that holds facts. The prompt is never shortened,
// and stands at the beginning of every request. Without facts it is empty.
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

// String prints the policy as it stands in the log.
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

// AuxiliaryModels is the model that writes summaries, if it is another than the run's.
func (c compaction) AuxiliaryModels() []pawl.Model {
	if c.Model == nil {
		return nil
	}
	return []pawl.Model{c.Model}
}

// Check refuses settings that make no sense.
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
