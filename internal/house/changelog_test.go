package house

import (
	"regexp"
	"slices"
	"strings"
	"testing"
)

var (
	version = regexp.MustCompile(`^## \[(Unreleased|\d+\.\d+\.\d+(?:-[0-9A-Za-z.-]+)?)\]( - \d{4}-\d{2}-\d{2})?( \[YANKED\])?$`)
	kinds   = []string{"Added", "Changed", "Deprecated", "Removed", "Fixed", "Security"}
)

// TestChangelog holds the form of Keep a Changelog 1.1.0: what is not released comes first, each
// version has a date and a link, and its changes are of six kinds, each named once and in order.
func TestChangelog(t *testing.T) {
	text := repository(t).read(t, "CHANGELOG.md")
	var kind int
	var found []string
	prose(text, func(n int, line string) {
		switch {
		case strings.HasPrefix(line, "### "):
			at := slices.Index(kinds, strings.TrimPrefix(line, "### ")) + 1
			if at == 0 || at <= kind {
				t.Errorf("CHANGELOG.md:%d: %q is not one of %q, or out of order", n, line, kinds)
			}
			kind = at
		case strings.HasPrefix(line, "## "):
			m := version.FindStringSubmatch(line)
			if m == nil || (m[1] == "Unreleased") != (len(found) == 0) || (m[1] == "Unreleased") != (m[2] == "") {
				t.Fatalf("CHANGELOG.md:%d: %q; write [Unreleased] first, then versions such as ## [0.1.0] - 2026-12-01", n, line)
			}
			if !strings.Contains(text, "\n["+m[1]+"]: https://") {
				t.Errorf("CHANGELOG.md:%d: %s has no link at the end", n, m[1])
			}
			found, kind = append(found, m[1]), 0
		case strings.HasPrefix(line, "- ") && kind == 0:
			t.Errorf("CHANGELOG.md:%d: a change without a kind: %s", n, line)
		}
	})
	if len(found) == 0 {
		t.Error("CHANGELOG.md has no section [Unreleased]")
	}
}
