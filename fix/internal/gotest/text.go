package gotest

import "strings"

// keepBytes bounds what is kept of each end of one test's raw output while reading; showBytes
// bounds each end of Failure.Output.
const (
	keepBytes = 64 << 10
	showBytes = 4 << 10
)

// text collects output and forgets its middle when there is too much of it.
type text struct {
	head, tail []byte
	cut        bool
}

func (t *text) add(s string) {
	if room := keepBytes - len(t.head); room > 0 && len(t.tail) == 0 {
		n := min(room, len(s))
		t.head = append(t.head, s[:n]...)
		s = s[n:]
	}
	t.tail = append(t.tail, s...)
	if over := len(t.tail) - keepBytes; over > keepBytes {
		t.tail = append(t.tail[:0], t.tail[over:]...)
		t.cut = true
	}
}

func (t *text) lines() []string {
	all := string(t.head)
	if t.cut {
		all += "\n[...]\n"
	}
	all = strings.TrimRight(all+string(t.tail), "\n")
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

// bound joins lines and truncates long output in the middle: the first lines say what
// happened, the last ones how it ended.
func bound(lines []string) string {
	size := 0
	for _, l := range lines {
		size += len(l) + 1
	}
	if size <= 2*showBytes {
		return strings.Join(lines, "\n")
	}
	first, used := 0, 0
	for first < len(lines) && used+len(lines[first]) < showBytes {
		used += len(lines[first]) + 1
		first++
	}
	last, used := len(lines), 0
	for last > first && used+len(lines[last-1]) < showBytes {
		last--
		used += len(lines[last]) + 1
	}
	if first == last {
		return strings.Join(lines, "\n")
	}
	var parts []string
	parts = append(parts, lines[:first]...)
	if first == 0 {
		parts = append(parts, strings.ToValidUTF8(lines[0][:showBytes], ""))
	}
	parts = append(parts, "[...]")
	return strings.Join(append(parts, lines[last:]...), "\n")
}
