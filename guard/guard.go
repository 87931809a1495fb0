package guard

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/pawl-run/pawl"
)

// A Guard applies rules to texts. It is a [pawl.Policy], and for redaction also
// a filter of the engine, which finds the filters among an agent's policies. It
// is immutable and safe for concurrent use.
type Guard struct {
	rules []Rule
	name  string
}

// New returns a guard with the rules. Preparing the agent reports invalid
// rules.
func New(rules ...Rule) *Guard {
	names := make([]string, len(rules))
	for i, r := range rules {
		names[i] = r.String()
	}
	return &Guard{slices.Clone(rules), "guard(" + strings.Join(names, ", ") + ")"}
}

// String returns the rules as recorded in the log.
func (g *Guard) String() string { return g.name }

// Check reports invalid rules.
func (g *Guard) Check(pawl.Agent) error {
	var errs []error
	if len(g.rules) == 0 {
		errs = append(errs, errors.New("guard(): it has no rules; drop it"))
	}
	for _, r := range g.rules {
		if r.do < Redact || r.do > Retry {
			errs = append(errs, fmt.Errorf("guard: %s: %v is not an action; use Redact, Block, Warn or Retry", r.name, int(r.do)))
		}
		if r.wrong != "" {
			errs = append(errs, fmt.Errorf("guard: %s", r.wrong))
		}
	}
	return errors.Join(errs...)
}

// Filter replaces text to redact by its kind, as in [redacted email].
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
		if s.start < rest { // an overlapping span belongs to the first one
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

// finding is the result of a rule for a text; it lists each kind once.
type finding struct {
	do    Action
	rule  string
	kinds []string
	said  []string // the topics, as written in the text
}

// blocks reports whether the finding stops the text.
func (f finding) blocks() bool { return f.do == Block || f.do == Retry }

// found applies the rules for a place to a text. Warnings come last.
func (g *Guard) found(text string, where places) (hits []finding) {
	if text == "" {
		return nil
	}
	for _, r := range g.rules {
		if r.do == Redact || r.where&where == 0 || r.find == nil {
			continue
		}
		hit := finding{do: r.do, rule: r.name}
		for _, s := range r.find(text) {
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

// String returns the rule's name and the kinds found.
func (f finding) String() string {
	what, _, _ := strings.Cut(f.rule, "(")
	return what + " (" + strings.Join(f.kinds, ", ") + ")"
}
