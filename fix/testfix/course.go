package testfix

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/pawl-run/pawl/fix/internal/gotest"
	"github.com/pawl-run/pawl/fix/internal/testrun"
	"github.com/pawl-run/pawl/internal/ends"
	"github.com/pawl-run/pawl/internal/excerpt"
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
	Least *int     `json:"least"`           // ever
	Last  []string `json:"last,omitempty"`  // what was open after the latest run
	Tried []string `json:"tried,omitempty"` // edits and their results
	Seen  []string `json:"seen,omitempty"`  // digests of states that were tested

	last     *gotest.Report
	pending  []string            // edits since the latest run
	original map[string][32]byte // of files that were edited
	contents map[string][32]byte
}

// changed records an edit, to attribute the next test results to it.
func (f *Fix) changed(name string, before, after []byte) {
	f.Mu.Lock()
	defer f.Mu.Unlock()
	c := &f.course
	if c.contents == nil {
		c.original, c.contents = map[string][32]byte{}, map[string][32]byte{}
	}
	if _, known := c.original[name]; !known {
		c.original[name] = sha256.Sum256(before)
	}
	c.contents[name] = sha256.Sum256(after)
	c.pending = append(c.pending, hunk(name, before, after))
}

// state digests the edited files that differ from the originals.
func (c *course) state() string {
	sum := sha256.New()
	for _, name := range slices.Sorted(maps.Keys(c.contents)) {
		if c.contents[name] != c.original[name] {
			fmt.Fprintf(sum, "%q %x\n", name, c.contents[name])
		}
	}
	return hex.EncodeToString(sum.Sum(nil))[:16]
}

// next records a run and returns what it changed. The first run returns nothing: everything
// that is open is new.
func (c *course) next(now testrun.Result, v verdict, first gotest.Report) string {
	edits := c.pending
	c.pending = nil
	state := c.state()
	back := slices.Contains(c.Seen, state)
	if !back {
		c.Seen = append(c.Seen, state)
		c.Seen = c.Seen[max(0, len(c.Seen)-mostSeen):]
	}
	begun := c.Least != nil
	var b strings.Builder
	if begun {
		d := c.compare(now, v, first)
		// An edit that another process made is not known here, so that there was
		// none is not to be said.
		what, aside := some(edits, mostEdited), ""
		if d.again = back; what != "" && back {
			aside = " (" + what + ", which the tests have seen before)"
		} else if what != "" {
			aside = " (" + what + ")"
		}
		fmt.Fprintf(&b, "\nSince the run before%s: open %d → %d%s.\n", aside, len(c.Last), len(v.Open), d)
		if len(edits) > 0 && !back && !d.helped() {
			c.tried(what + ": " + d.outcome())
		}
	}
	c.Opens = append(c.Opens, len(v.Open))
	c.Opens = c.Opens[max(0, len(c.Opens)-mostTrend):]
	if n := len(v.Open); c.Least == nil || n < *c.Least {
		c.Least = &n
	}
	c.Last = v.Open
	report := now.Report
	c.last = &report
	if !begun {
		return ""
	}
	if len(c.Opens) > 2 {
		words := make([]string, len(c.Opens))
		for i, n := range c.Opens {
			words[i] = fmt.Sprint(n)
		}
		fmt.Fprintf(&b, "Open after each run: %s; fewest ever %d.\n", strings.Join(words, ", "), *c.Least)
	}
	if len(c.Tried) > 0 && len(v.Open) > 0 {
		b.WriteString("Tried, without success:\n")
		for _, t := range c.Tried {
			b.WriteString("- " + t + "\n")
		}
	}
	return b.String()
}

func (c *course) tried(what string) {
	c.Tried = slices.DeleteFunc(c.Tried, func(t string) bool { return t == what })
	c.Tried = append(c.Tried, what)
	c.Tried = c.Tried[max(0, len(c.Tried)-mostTried):]
}

// delta is what changed from one run to the next.
type delta struct {
	fixed, broke, shown []string
	again               bool // the code is as it was at an earlier run
}

func (c *course) compare(now testrun.Result, v verdict, first gotest.Report) delta {
	was := c.last
	if was == nil { // another process saw the latest run
		was = &first
	}
	passed := map[string]bool{}
	for _, p := range was.Packages {
		for _, t := range p.Tests {
			if t.Status == gotest.StatusPass {
				passed[p.ID(t.Name)] = true
			}
		}
	}
	revealed := gotest.Compare(*was, now.Report).Revealed
	var d delta
	for _, id := range c.Last {
		if !slices.Contains(v.Open, id) {
			d.fixed = append(d.fixed, id)
		}
	}
	for _, id := range v.Open {
		switch {
		case slices.Contains(c.Last, id):
		case !passed[id] && slices.Contains(revealed, id):
			d.shown = append(d.shown, id)
		default:
			d.broke = append(d.broke, id)
		}
	}
	return d
}

// helped reports whether a step is worth building on.
func (d delta) helped() bool { return len(d.fixed) > 0 && len(d.broke) == 0 }

func (d delta) outcome() string {
	switch {
	case len(d.broke) > 0 && len(d.fixed) > 0:
		return "fixed " + some(d.fixed, 2) + ", but broke " + some(d.broke, 2)
	case len(d.broke) > 0:
		return "broke " + some(d.broke, 2)
	case len(d.shown) > 0:
		return "fixed nothing, and showed " + some(d.shown, 2)
	}
	return "changed no test's verdict"
}

// String is what an observation says of it.
func (d delta) String() string {
	var b strings.Builder
	if len(d.fixed) > 0 {
		b.WriteString("; fixed: " + some(d.fixed, mostNamed))
	}
	switch {
	case len(d.broke) > 0 && d.again:
		b.WriteString("; open again: " + some(d.broke, mostNamed))
	case len(d.broke) > 0:
		b.WriteString("; newly broken, so revert or fix the edit: " + some(d.broke, mostNamed))
	}
	if len(d.shown) > 0 {
		b.WriteString("; failing too, but hidden before: " + some(d.shown, mostNamed))
	}
	return b.String()
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
	text, more := "", len(lines)-1
	for i, l := range lines {
		if text = strings.TrimSpace(l); text != "" {
			more = len(lines) - i - 1
			break
		}
	}
	text = "`" + excerpt.Clip(text, mostQuoted) + "`"
	if more > 0 {
		text += fmt.Sprintf(" (+%d lines)", more)
	}
	return text
}
