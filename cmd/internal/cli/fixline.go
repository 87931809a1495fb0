package cli

import (
	"cmp"
	"fmt"
	"strings"
	"time"
)

// draw redraws the status line.
func (v *fixView) draw() {
	if v.live == nil {
		return
	}
	v.a.err.setStatus(v.painted(dim, fit(v.line(), v.live()-1)))
}

// line is the progress: attempts, open tests, limits used, the current action.
func (v *fixView) line() string {
	s := &v.state
	elapsed := s.Elapsed()
	if !v.since.IsZero() {
		elapsed += v.now().Sub(v.since)
	}
	parts := []string{counted(v.attempts, "attempt")}
	if v.first != nil {
		parts = append(parts, fmt.Sprintf("open %d of %d", len(v.open), len(v.first)))
	}
	parts = append(parts, fmt.Sprintf("turn %d/%d", s.Iterations(), v.limits.Iterations))
	if v.talks {
		parts = append(parts, fmt.Sprintf("%s/%s tokens", short(s.Tokens()), short(v.limits.Tokens)))
	}
	if text := dollars(s, v.limits); text != "" && v.talks {
		parts = append(parts, text)
	}
	parts = append(parts, fmt.Sprintf("%v/%v", elapsed.Round(time.Second), v.limits.Time))
	return strings.Join(append(parts, oneLine(cmp.Or(v.doing, "running the tests"))), " · ")
}

// short formats a number of tokens in thousands or millions.
func short(n int) string {
	switch {
	case n >= 10_000_000:
		return fmt.Sprintf("%dM", n/1_000_000)
	case n >= 10_000:
		return fmt.Sprintf("%dk", n/1000)
	}
	return fmt.Sprint(n)
}
