package gotest

import (
	"fmt"
	"slices"
	"strings"
)

// Summary returns what a model or a person should read of the run, in at most about limit
// bytes: the counts, then every failing identity, then, for as many as fit, the message and its
// locations. Equal Reports have equal summaries.
func (r Report) Summary(limit int) string {
	var b strings.Builder
	word := "FAIL"
	if r.OK {
		word = "ok"
	}
	fmt.Fprintf(&b, "%s: %d passed, %d failed, %d skipped in %d packages\n", word, r.Passed, r.Failed, r.Skipped, len(r.Packages))
	for i, f := range r.Failures {
		line := fmt.Sprintf("- %s (%s)\n", f.ID, f.Kind)
		if b.Len()+len(line) > limit && i > 0 {
			fmt.Fprintf(&b, "and %d more\n", len(r.Failures)-i)
			return b.String()
		}
		b.WriteString(line)
	}
	for i, f := range r.Failures {
		// Share the rest evenly, so that one long trace does not hide the other failures.
		room := (limit - b.Len()) / (len(r.Failures) - i)
		b.WriteString(f.excerpt(room))
	}
	return b.String()
}

// excerpt describes one failure in at most room bytes, or not at all.
func (f Failure) excerpt(room int) string {
	head := "\n" + f.ID + "\n"
	if len(f.Locations) > 0 {
		at := make([]string, 0, 5)
		for _, l := range f.Locations[:min(len(f.Locations), 5)] {
			at = append(at, l.String())
		}
		head += "at " + strings.Join(at, ", ") + "\n"
	}
	room -= len(head) + 1
	if room < 40 || f.Output == "" {
		return ""
	}
	out := f.Output
	if len(out) > room {
		// The message comes first and traces last: cut the end, at a line if that keeps
		// most of the text.
		out = strings.ToValidUTF8(out[:room-len(gap)], "")
		if i := strings.LastIndexByte(out, '\n'); i > len(out)/2 {
			out = out[:i]
		}
		out += gap
	}
	return head + out + "\n"
}

const gap = "\n[...]"

// Complaint returns the first lines of what a compiler or a set-up wrote, without those that only name
// the package.
func (f Failure) Complaint(most int) string {
	lines := strings.Split(strings.TrimSpace(f.Output), "\n")
	lines = slices.DeleteFunc(lines, func(line string) bool { return strings.HasPrefix(line, "# ") })
	return strings.Join(lines[:min(len(lines), most)], "\n")
}
