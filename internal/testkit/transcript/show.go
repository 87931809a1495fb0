package transcript

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/cockroachdb/datadriven"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/engine"
	"github.com/pawl-run/pawl/internal/testkit"
	"github.com/pawl-run/pawl/pawltest"
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
			b.WriteString(pawltest.Line(e))
			if d := e.Time.Sub(s.last).Round(time.Millisecond); d > 0 && !s.last.IsZero() {
				fmt.Fprintf(&b, " +%v", d)
			}
			b.WriteByte('\n')
			s.shown = e.Seq
		}
		s.last = e.Time
	}
	return b.String(), nil
}

// child prints the whole log of a child run.
func (s *stage) child(run string) (string, error) {
	var b strings.Builder
	for e, err := range engine.Entries(s.t.Context(), s.journal, run, 1) {
		if err != nil {
			return b.String(), err
		}
		b.WriteString(pawltest.Line(e) + "\n")
	}
	return b.String(), nil
}

// requests prints each request from where it differs from the one before.
func (s *stage) requests() string {
	var b strings.Builder
	for i := s.told; i < len(s.world.requests); i++ {
		r := s.world.requests[i]
		fmt.Fprintf(&b, "== %s attempt=%d", r.Purpose, r.Attempt)
		if r.Sampling.Effort != "" {
			fmt.Fprintf(&b, " effort=%s", r.Sampling.Effort)
		}
		same := 0
		if i > 0 {
			for before := s.world.requests[i-1].Messages; same < min(len(before), len(r.Messages)); same++ {
				if testkit.Conversation(before[same:same+1]) != testkit.Conversation(r.Messages[same:same+1]) {
					break
				}
			}
		}
		if same > 0 {
			fmt.Fprintf(&b, ", after the same %d", same)
		}
		if names := toolsOf(r); slices.Contains(names, "tool_search") {
			fmt.Fprintf(&b, ", with %s", strings.Join(names, " "))
		}
		fmt.Fprintf(&b, "\n%s", testkit.Conversation(r.Messages[same:]))
	}
	s.told = len(s.world.requests)
	return b.String()
}

func toolsOf(r pawl.Request) (names []string) {
	for _, t := range r.Tools {
		names = append(names, t.Name)
	}
	return names
}

// result prints what the run has come to.
func (s *stage) result() (string, error) {
	state, err := engine.Load(s.t.Context(), s.journal, s.run)
	if err != nil {
		return "", err
	}
	r := state.Result()
	var b strings.Builder
	fmt.Fprintf(&b, "%v", r.Status)
	if r.Reason.Condition != "" {
		fmt.Fprintf(&b, ": %s", r.Reason.Condition)
	}
	b.WriteByte('\n')
	if r.Reason.Detail != "" {
		fmt.Fprintf(&b, "why: %s\n", r.Reason.Detail)
	}
	fmt.Fprintf(&b, "answer: %q\n", r.Answer)
	if r.Output != nil {
		fmt.Fprintf(&b, "output: %s\n", r.Output)
	}
	for _, source := range r.Citations {
		fmt.Fprintf(&b, "cites: %s (%q)\n", source, source.Quote)
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

// fresh are the parts of a log that differ each time it is recorded.
var fresh = regexp.MustCompile(`"token_hash":"[0-9a-f]+"`)

// save compares the log with a golden one, and decides it again. With -rewrite it writes the golden
// log, if more than its fresh parts differ.
func (s *stage) save(d *datadriven.TestData, name string) error {
	if _, err := s.engine().Replay(s.t.Context(), s.agent, s.run); err != nil {
		return err
	}
	var log []byte
	for e, err := range engine.Entries(s.t.Context(), s.journal, s.run, 1) {
		if err == nil {
			log, err = e.AppendJSON(log)
		}
		if err != nil {
			return err
		}
		log = append(log, '\n')
	}
	file := filepath.Join(s.dir, "..", "histories", name+".jsonl")
	golden, err := os.ReadFile(file)
	switch {
	case err == nil && bytes.Equal(fresh.ReplaceAll(log, nil), fresh.ReplaceAll(golden, nil)):
		return nil
	case d.Rewrite:
		return os.WriteFile(file, log, 0o644)
	case err != nil:
		return err
	}
	return fmt.Errorf("the log differs from %s; the flag -rewrite writes it", file)
}
