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
	keep, compact := 5, 0
	c.count("keep", &keep, 0, "5")
	if o.Keep = keep; keep == 0 {
		o.Keep = -1
	}
	s.pins, _ = c.words("pins", `["Invoices are in euros."]`)
	c.count("max_tokens", &o.MaxTokens, 1, "32000")
	c.choice("compact", &compact)
	o.Never = compact == 2
	s.judges.context = o
	s.judgedBy(c, "summary_model", o)
}
