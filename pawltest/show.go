package pawltest

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/cockroachdb/datadriven"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/engine"
)

// entries prints what the log has gained since it was last printed, with the
// time that passed before each entry.
func (s *stage) entries() (string, error) {
	var b strings.Builder
	for e, err := range engine.Entries(s.t.Context(), s.journal, s.run, 1) {
		if err != nil {
			return b.String(), err
		}
		if e.Seq > s.shown {
			b.WriteString(Line(e))
			if !s.last.IsZero() && e.Time.After(s.last) {
				fmt.Fprintf(&b, " +%v", e.Time.Sub(s.last))
			}
			b.WriteByte('\n')
			s.shown = e.Seq
		}
		s.last = e.Time
	}
	return b.String(), nil
}

// result prints what the run has come to.
func (s *stage) result() (string, error) {
	state, err := engine.Load(s.t.Context(), s.journal, s.run)
	if err != nil {
		return "", err
	}
	r := pawl.ResultOf(state)
	var b strings.Builder
	fmt.Fprintf(&b, "%v\n", r.Verdict)
	if r.Reason.Detail != "" {
		fmt.Fprintf(&b, "why: %s\n", r.Reason.Detail)
	}
	fmt.Fprintf(&b, "answer: %q\n", r.Answer)
	if r.Output != nil {
		fmt.Fprintf(&b, "output: %s\n", r.Output)
	}
	fmt.Fprintf(&b, "iterations=%d tool_calls=%d model_calls=%d", r.Iterations, r.ToolCalls, r.Usage.ModelCalls)
	if r.Confidence != nil {
		fmt.Fprintf(&b, " confidence=%g", *r.Confidence)
	}
	if r.CostUSD != nil {
		fmt.Fprintf(&b, " cost=$%.6f", *r.CostUSD)
	}
	b.WriteByte('\n')
	for _, step := range r.Steps {
		fmt.Fprintf(&b, "step %d %q", step.Iteration, step.Thought)
		for _, c := range step.Calls {
			fmt.Fprintf(&b, " %s:%s:%s", c.Call, c.Tool, c.Status)
		}
		b.WriteByte('\n')
	}
	for _, p := range r.Pending {
		fmt.Fprintf(&b, "pending %s %s %q\n", p.Kind, p.Call, p.Reason)
	}
	fmt.Fprintf(&b, "resumable=%v: %s\n", r.Resumable, r.Action)
	return b.String(), nil
}

// save keeps the log for good, for later builds to decide again. A history
// that is there already is never written over.
func (s *stage) save(d *datadriven.TestData, name string) error {
	file := filepath.Join(s.dir, "..", "histories", "v0", name+".jsonl")
	if _, err := os.Stat(file); err == nil || !d.Rewrite {
		return err
	}
	var out []byte
	for e, err := range engine.Entries(s.t.Context(), s.journal, s.run, 1) {
		if err == nil {
			out, err = e.AppendJSON(out)
		}
		if err != nil {
			return err
		}
		out = append(out, '\n')
	}
	return os.WriteFile(file, out, 0o644)
}
