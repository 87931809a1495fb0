package testfix

import (
	"crypto/sha256"
	"fmt"
	"slices"
	"strings"

	"github.com/pawl-run/pawl/internal/ends"
	"github.com/pawl-run/pawl/internal/excerpt"
	"github.com/pawl-run/pawl/internal/gauge"
)

// Bounds on what an observation says of the way so far.
const (
	mostTrend  = 12 // counts of open tests
	mostTried  = 6  // edits that did not help
	mostNamed  = 8  // identities of a kind
	mostQuoted = 60 // bytes of a changed line
	mostEdited = 3  // edits named for one step
	mostSeen   = 500
)

// course is the progress so far, for the model: how many tests were open after each run, and
// which edits did not help. Models lose track of long conversations, and those may be
// compacted.
type course struct {
	Opens []int    `json:"opens"`           // the latest, after each run
	Least int      `json:"least"`           // ever
	Last  []string `json:"last,omitempty"`  // what was open after the latest run, and what hid tests
	Tried []string `json:"tried,omitempty"` // edits and their results
	Seen  []string `json:"seen,omitempty"`  // digests of the edits that were tested
}

// changed records an edit, to attribute the next test results to it.
func (f *Fix) changed(name string, before, after []byte) {
	f.Mu.Lock()
	defer f.Mu.Unlock()
	f.pending = append(f.pending, hunk(name, before, after))
}

// next records a run and returns what it changed. The first run returns nothing: everything
// that is open is new. d is what differs from the project,
// and edits are those since the run before, in this process.
func (c *course) next(now cached, d Diff, edits []string) string {
	v := now.verdict
	state := fmt.Sprintf("%.8x", sha256.Sum256([]byte(d.String())))
	back := slices.Contains(c.Seen, state)
	if !back {
		c.Seen = append(c.Seen, state)
		c.Seen = c.Seen[max(0, len(c.Seen)-mostSeen):]
	}
	open := slices.Concat(v.Open, v.Cut)
	text := ""
	if begun := len(c.Opens) > 0; begun {
		fixed, broke, shown := gauge.Moved(c.Last, open)
		// An edit that another process made is not known here, so that there was
		// none is not to be said.
		what, aside := some(edits, mostEdited), ""
		if what != "" && back {
			aside = " (" + what + ", which the tests have seen before)"
		} else if what != "" {
			aside = " (" + what + ")"
		}
		text = fmt.Sprintf("\nSince the run before%s: open %d → %d%s.\n", aside, c.Opens[len(c.Opens)-1], len(v.Open), moved(fixed, broke, shown, back))
		if len(edits) > 0 && !back && (len(fixed) == 0 || len(broke) > 0) {
			c.tried(what + ": " + outcome(fixed, broke, shown))
		}
		c.Least = min(c.Least, len(v.Open))
	} else {
		c.Least = len(v.Open)
	}
	c.Opens = append(c.Opens, len(v.Open))
	c.Opens = c.Opens[max(0, len(c.Opens)-mostTrend):]
	c.Last = open
	return text + c.String()
}

func (c *course) tried(what string) {
	c.Tried = slices.DeleteFunc(c.Tried, func(t string) bool { return t == what })
	c.Tried = append(c.Tried, what)
	c.Tried = c.Tried[max(0, len(c.Tried)-mostTried):]
}

// String says how many were open after each run, and what was tried.
func (c *course) String() string {
	var b strings.Builder
	if len(c.Opens) > 2 {
		fmt.Fprintf(&b, "Open after each run: %s; fewest ever %d.\n", strings.ReplaceAll(strings.Trim(fmt.Sprint(c.Opens), "[]"), " ", ", "), c.Least)
	}
	if len(c.Tried) > 0 && len(c.Last) > 0 {
		b.WriteString("Tried, without success:\n- " + strings.Join(c.Tried, "\n- ") + "\n")
	}
	return b.String()
}

// moved is what an observation says of a step. back: the code is as it was at an earlier run.
func moved(fixed, broke, shown []string, back bool) string {
	text := ""
	if len(fixed) > 0 {
		text += "; fixed: " + some(fixed, mostNamed)
	}
	switch {
	case len(broke) > 0 && back:
		text += "; open again: " + some(broke, mostNamed)
	case len(broke) > 0:
		text += "; newly broken, so revert or fix the edit: " + some(broke, mostNamed)
	}
	if len(shown) > 0 {
		text += "; failing too, but hidden before: " + some(shown, mostNamed)
	}
	return text
}

// outcome is what became of an edit that did not help.
func outcome(fixed, broke, shown []string) string {
	switch {
	case len(broke) > 0 && len(fixed) > 0:
		return "fixed " + some(fixed, 2) + ", but broke " + some(broke, 2)
	case len(broke) > 0:
		return "broke " + some(broke, 2)
	case len(shown) > 0:
		return "fixed nothing, and showed " + some(shown, 2)
	}
	return "changed no test's verdict"
}

// hunk is a change of a file in one line: where it is and its first lines.
func hunk(name string, before, after []byte) string {
	if before == nil {
		return name + " (new)"
	}
	a, b := strings.Split(string(before), "\n"), strings.Split(string(after), "\n")
	head, tail := ends.Common(a, b)
	return fmt.Sprintf("%s:%d %s → %s", name, head+1, quoted(a[head:len(a)-tail]), quoted(b[head:len(b)-tail]))
}

// quoted is the first line of several that says anything.
func quoted(lines []string) string {
	if len(lines) == 0 {
		return "nothing"
	}
	i := max(0, slices.IndexFunc(lines, func(l string) bool { return strings.TrimSpace(l) != "" }))
	text := "`" + excerpt.Clip(strings.TrimSpace(lines[i]), mostQuoted) + "`"
	if more := len(lines) - i - 1; more > 0 {
		text += fmt.Sprintf(" (+%d lines)", more)
	}
	return text
}
