package spec

import (
	"github.com/pawl-run/pawl/window"
)

// readContext reads {keep: 5, pins: […], max_tokens: 32000, summary_model: …, compact: price}.
func (s *Spec) readContext(f fields) {
	n := f.n.get("context")
	if n == nil {
		return
	}
	c := f.fields(contextKeys, n)
	o := &window.Options{}
	c.countOr("keep", &o.Keep, "5")
	s.pins, _ = c.words("pins", `["Invoices are in euros."]`)
	c.count("max_tokens", &o.MaxTokens, 1, "32000")
	o.Never = c.word("compact") == "never"
	s.judges.context = o
	s.judgedBy(c, "summary_model", o)
}
