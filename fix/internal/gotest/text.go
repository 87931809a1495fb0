package gotest

import (
	"strings"

	"github.com/pawl-run/pawl/internal/excerpt"
)

// keepBytes bounds what is kept of one test's raw output while reading, and showBytes bounds
// Failure.Output.
const (
	keepBytes = 128 << 10
	showBytes = 8 << 10
)

// text collects output and forgets its middle when there is too much of it. The zero text is empty.
type text struct{ kept *excerpt.Buffer }

func (t *text) add(s string) {
	if t.kept == nil {
		t.kept = excerpt.New(keepBytes)
	}
	_, _ = t.kept.Write([]byte(s)) // it always succeeds
}

func (t *text) lines() []string {
	if t.kept == nil {
		return nil
	}
	all := strings.TrimRight(t.kept.String(), "\n")
	if all == "" {
		return nil
	}
	return strings.Split(all, "\n")
}

// isProgress reports whether a test binary prints a line to report its progress.
func isProgress(line string) bool {
	line = strings.TrimLeft(line, " ")
	for _, p := range []string{"=== RUN ", "=== PAUSE ", "=== CONT ", "=== NAME ", "--- FAIL: ", "--- PASS: ", "--- SKIP: "} {
		if strings.HasPrefix(line, p) {
			return true
		}
	}
	return strings.HasPrefix(line, "====") && strings.Trim(line, "=") == ""
}

// tidy drops progress lines and runs of blank lines, and removes the indentation that testing
// adds to a test's log.
func tidy(lines []string) []string {
	var out []string
	for _, l := range lines {
		if isProgress(l) {
			continue
		}
		l = strings.TrimRight(strings.TrimPrefix(l, "    "), " \r")
		if l == "" && (len(out) == 0 || out[len(out)-1] == "") {
			continue
		}
		out = append(out, l)
	}
	for len(out) > 0 && out[len(out)-1] == "" {
		out = out[:len(out)-1]
	}
	return out
}
