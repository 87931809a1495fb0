package guard

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/pawl-run/pawl"
)

// A Guard holds texts to rules. It is a [pawl.Policy], and for what is to be
// redacted a filter of the engine's, which asks every policy of an agent that is
// one. It is immutable and safe for concurrent use.
type Guard struct {
	rules []Rule
	name  string
}

// New makes a guard of rules. What makes no sense about them is told when the
// agent is prepared.
func New(rules ...Rule) *Guard {
	names := make([]string, len(rules))
	for i, r := range rules {
		names[i] = r.String()
	}
	return &Guard{slices.Clone(rules), "guard(" + strings.Join(names, ", ") + ")"}
}

// String prints the rules, which are thereby part of what a run is held to.
func (g *Guard) String() string { return g.name }

// Check refuses rules that make no sense.
func (g *Guard) Check(pawl.Agent) error {
	var errs []error
	if len(g.rules) == 0 {
		errs = append(errs, errors.New("guard(): it has no rules; drop it"))
	}
	for _, r := range g.rules {
		if r.do < Redact || r.do > Retry {
			errs = append(errs, fmt.Errorf("guard: %s: %v is no action; use Redact, Block, Warn or Retry", r.name, int(r.do)))
		}
		if r.wrong != "" {
			errs = append(errs, fmt.Errorf("guard: %s", r.wrong))
		}
	}
	return errors.Join(errs...)
}

// Filter replaces what is to be redacted by its kind, as in [redacted email].
func (g *Guard) Filter(text string) string {
	var found []span
	for _, r := range g.rules {
		if r.do == Redact && r.find != nil {
			found = append(found, r.find(text)...)
		}
	}
	if len(found) == 0 {
		return text
	}
	slices.SortStableFunc(found, func(a, b span) int { return cmp.Compare(a.start, b.start) })
	var b strings.Builder
	rest := 0
	for i, s := range found {
		if s.start < rest { // what overlaps goes with what was found first
			if s.end > rest {
				rest = s.end
			}
			continue
		}
		b.WriteString(text[rest:s.start])
		fmt.Fprintf(&b, "[redacted %s]", found[i].kind)
		rest = s.end
	}
	b.WriteString(text[rest:])
	return b.String()
}

// finding is what a rule found in a text: each kind once.
type finding struct {
	do    Action
	rule  string
	kinds []string
	said  []string // the topics, as the text has them
}

// blocks reports whether what was found goes no further.
func (f finding) blocks() bool { return f.do == Block || f.do == Retry }

// found asks the rules with an action about a text that stands in a place. Those
// that warn come last.
func (g *Guard) found(machine int, text string, where places) (hits []finding) {
	if text == "" {
		return nil
	}
	for _, r := range g.rules {
		if r.do == Redact || r.where&where == 0 || r.find == nil {
			continue
		}
		hit := finding{do: r.do, rule: r.name}
		find := r.find
		if machine < 3 && r.before != nil {
			find = r.before
		}
		for _, s := range find(text) {
			if !slices.Contains(hit.kinds, s.kind) {
				hit.kinds = append(hit.kinds, s.kind)
			}
			if said := fmt.Sprintf("%q", text[s.start:s.end]); s.kind == topic && !slices.Contains(hit.said, said) {
				hit.said = append(hit.said, said)
			}
		}
		if hit.kinds != nil {
			hits = append(hits, hit)
		}
	}
	slices.SortStableFunc(hits, func(a, b finding) int {
		switch {
		case a.blocks() == b.blocks():
			return 0
		case a.blocks():
			return -1
		}
		return 1
	})
	return hits
}

// String names the rule and what it found.
func (f finding) String() string {
	what, _, _ := strings.Cut(f.rule, "(")
	return what + " (" + strings.Join(f.kinds, ", ") + ")"
}
