package gotest

import (
	"regexp"
	"strings"

	"github.com/pawl-run/pawl/internal/display"
)

// keepBytes bounds what is kept of one test's raw output while reading, and showBytes bounds
// Failure.Output.
const (
	keepBytes = 128 << 10
	showBytes = 8 << 10
)

// text collects output and forgets its middle when there is too much of it. The zero text is empty.
type text struct{ kept *display.Buffer }

func (t *text) add(s string) {
	if t.kept == nil {
		t.kept = display.NewBuffer(keepBytes)
	}
	_, _ = t.kept.Write([]byte(s)) // it always succeeds
}

func (t *text) lines() []string {
	if t.kept == nil || strings.Trim(t.kept.String(), "\n") == "" {
		return nil
	}
	return strings.Split(strings.TrimRight(t.kept.String(), "\n"), "\n")
}

// progress is what a test binary prints to report its progress.
var progress = regexp.MustCompile(`^ *(=== (RUN|PAUSE|CONT|NAME) |--- (FAIL|PASS|SKIP): )|^ *=====*$`)

// tidy drops progress lines and runs of blank lines, and removes the indentation that testing
// adds to a test's log.
func tidy(lines []string) (out []string) {
	for _, l := range lines {
		l = strings.TrimRight(l, " \r")
		if text := strings.TrimPrefix(l, "    "); !progress.MatchString(l) && (text != "" || len(out) > 0 && out[len(out)-1] != "") {
			out = append(out, text)
		}
	}
	if n := len(out); n > 0 && out[n-1] == "" {
		out = out[:n-1]
	}
	return out
}
