package mechanic

import (
	"regexp"
	"strconv"
	"strings"
)

// outcome is what an observation says of a run of the tests.
type outcome struct {
	ok                      bool
	passed, failed, skipped int
	open                    map[string]string // identity to kind
	more                    bool              // identities are left out
}

var (
	headLine = regexp.MustCompile(`^(ok|FAIL): (\d+) passed, (\d+) failed, (\d+) skipped in \d+ packages$`)
	openLine = regexp.MustCompile(`^- (.+) \(([a-z]+)\)$`)
	testName = regexp.MustCompile(`\.(Test|Example|Fuzz|Benchmark)`)
)

// Observations begin with the first of these words in the conversation; one whose text
// continues with the second repeats what is known.
const (
	observation = "Observation:\n"
	unchanged   = "Unchanged since "
)

// readOutcome reads the counts and the list of identities from an observation;
// false when it is none of go test.
func readOutcome(text string) (outcome, bool) {
	head, rest, _ := strings.Cut(text, "\n")
	m := headLine.FindStringSubmatch(head)
	if m == nil {
		return outcome{}, false
	}
	o := outcome{ok: m[1] == "ok", open: map[string]string{}}
	o.passed, _ = strconv.Atoi(m[2])
	o.failed, _ = strconv.Atoi(m[3])
	o.skipped, _ = strconv.Atoi(m[4])
	listed := true
	for line := range strings.Lines(rest) {
		line = strings.TrimSuffix(line, "\n")
		id := openLine.FindStringSubmatch(line)
		switch {
		case listed && id != nil:
			o.open[id[1]] = id[2]
			continue
		case listed && strings.HasPrefix(line, "and "):
			o.more = true
		case strings.HasPrefix(line, "* "): // has no verdict any more
			o.open[line[2:]] = "gone"
		}
		listed = false
	}
	return o, true
}

// hides lists the kinds of failure that keep other tests of the package from running, so that
// fixing one may reveal others.
var hides = map[string]bool{
	"build": true, "panic": true, "timeout": true, "race": true, "setup": true, "unfinished": true,
}

// beyond lists the kinds that no edit of this program fixes.
var beyond = map[string]bool{"build": true, "setup": true}

// better reports whether now is progress over before: it fixes some identity, adds none that
// was not hidden, and more tests pass.
func (o outcome) better(before outcome) bool {
	if o.passed <= before.passed || o.skipped > before.skipped {
		return false
	}
	if o.more || before.more {
		return o.failed < before.failed
	}
	fixed := 0
	freed := map[string]bool{} // packages that a failure no longer hides
	for id, kind := range before.open {
		if _, still := o.open[id]; still {
			continue
		}
		fixed++
		if hides[kind] {
			freed[packageOf(id)] = true
		}
	}
	for id := range o.open {
		if _, was := before.open[id]; !was && !freed[packageOf(id)] {
			return false
		}
	}
	return fixed > 0
}

// repairable reports whether anything fails that an edit could fix.
func (o outcome) repairable() bool {
	for _, kind := range o.open {
		if !beyond[kind] {
			return true
		}
	}
	return o.more
}

// packageOf returns the import path of an identity.
func packageOf(id string) string {
	if at := testName.FindStringIndex(id); at != nil {
		return id[:at[0]]
	}
	path, _, _ := strings.Cut(id, " [")
	return path
}
