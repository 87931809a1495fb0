//go:build linux || darwin

package proof_test

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// killPoints says which points of the processes here are which of the 34 places
// of docs/durability.md, by a part of their names. A place without one is proved
// elsewhere, or does not exist; the page says which.
var killPoints = map[int][]string{
	1:  {"before claim new", "after claim new", "before append run.started"},
	2:  {"after append run.started", "before told", "after told"},
	5:  {"after append model.called", "model.called$", "before model request"},
	6:  {"after model request", "before model stream"},
	7:  {"after model stream", "before model end"},
	8:  {"after model end", "before append model.replied"},
	9:  {"after append model.replied+tool.started", "after append model.replied+tool.reused+tool.started"},
	10: {"before tool pay", "before tool send", "before tool wire", "before tool put", "before tool look"},
	12: {"after tool pay", "after tool send", "after tool wire", "after tool put", "after tool look"},
	13: {"append tool.finished$", "before append tool.finished+tool.started", "after append tool.finished+tool.started"},
	14: {"before append tool.finished+model.called", "after append tool.finished+model.called"},
	16: {"after append model.replied+approval.requested+tool.started"},
	17: {"run.paused$", "before release", "after release", "before end", "after end"},
	19: {"append approval.decided+tool.started", "after append approval.decided+input.given+tool.started"},
	21: {"before append model.failed+context.compacted+model.called"},
	22: {"after append model.failed+context.compacted+model.called"},
	24: {"after append model.failed$"},
	25: {"after append model.called$"},
	27: {"child.started$", "child claim new", "child append run.started", "child claim$", "child.stopped"},
	28: {"before append approval.decided+input.given+tool.started", "before append input.requested", "after append input.requested", "tool ask"},
	31: {"before claim", "after claim", "before append run.resumed", "after append run.resumed"},
}

// fits reports whether a point, of the run or of a child of it, is meant by a part.
func fits(p, part string) bool {
	for _, p := range []string{p, strings.Replace(p, " child ", " ", 1)} {
		whole, end := strings.CutSuffix(part, "$")
		if end && strings.HasSuffix(p, whole) || !end && strings.Contains(p, part) {
			return true
		}
	}
	return false
}

// Every place has its points, and nothing that can be killed here is without a place.
func TestPlaces(t *testing.T) {
	var all []string
	for _, s := range sites(base().passed) {
		all = append(all, s.point)
	}
	var placed []string
	for n, parts := range killPoints {
		for _, part := range parts {
			i := len(placed)
			for _, p := range all {
				if fits(p, part) {
					placed = append(placed, p)
				}
			}
			if len(placed) == i {
				t.Errorf("place %d: nothing here is %q", n, part)
			}
		}
	}
	for _, p := range all {
		// What is written where the run ends, and before what is next, is in no
		// doubt: the place before it and the one after are.
		if !slices.Contains(placed, p) && !strings.Contains(p, "run.stopped") && !strings.HasPrefix(p, "before append model.failed") {
			t.Errorf("%s is at no place", p)
		}
	}
}

var (
	row  = regexp.MustCompile(`(?m)^\| (\d+) \| .*$`)
	link = regexp.MustCompile(`\[(Test\w+)\]\(\.\./([\w./-]+)\)`)
)

// The page names each place once, and tests that are there.
func TestPage(t *testing.T) {
	root := filepath.Join("..", "..")
	page, err := os.ReadFile(filepath.Join(root, "docs", "durability.md"))
	must(t, err)
	for _, m := range link.FindAllStringSubmatch(string(page), -1) {
		source, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(m[2])))
		if err != nil || !strings.Contains(string(source), "\nfunc "+m[1]+"(t *testing.T)") {
			t.Errorf("%s is not in %s: %v", m[1], m[2], err)
		}
	}
	rows := row.FindAllStringSubmatch(string(page), -1)
	for i, m := range rows {
		n := i + 1
		if m[1] != fmt.Sprint(n) {
			t.Errorf("row %d is about place %s", n, m[1])
		}
		if !strings.Contains(m[0], "](../") {
			t.Errorf("nothing holds place %d", n)
		}
		if killPoints[n] != nil && !strings.Contains(m[0], "](../internal/proof/") {
			t.Errorf("place %d is proved here, and its row does not say so", n)
		}
	}
	if len(rows) != 34 {
		t.Errorf("%d places", len(rows))
	}
}
