package testfix

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/fix/internal/testrun"
	"github.com/pawl-run/pawl/tool"
)

// Bounds on one use of try_edits.
const (
	mostTryEdits = 64
	mostTryRuns  = 200
	tryRuns      = 100 // when nothing is said
	tryTime      = 5 * time.Minute
	mostTold     = 40  // identities of one list
	mostWhy      = 200 // bytes of a reason
)

type tryArgs struct {
	Edits []tryEdit `json:"edits" jsonschema:"the edits to try, the likeliest first, at most 64; each is tried alone, on the files as they are"`
	Runs  int       `json:"runs,omitempty" jsonschema:"how many runs of tests this may take, at most 200; 100 when left out"`
}

type tryEdit struct {
	Path string     `json:"path" jsonschema:"the file, relative to the project's root; a Go file that is not a test"`
	Old  string     `json:"old" jsonschema:"the text to replace, exactly as in the file, with enough context to occur only once"`
	New  string     `json:"new" jsonschema:"what takes its place"`
	Also []tryPiece `json:"also,omitempty" jsonschema:"further replacements that belong to the same edit"`
}

type tryPiece struct {
	Path string `json:"path"`
	Old  string `json:"old"`
	New  string `json:"new"`
}

// tried is the tool's result. Edits are named by their positions in the list, from one.
type tried struct {
	Summary string        `json:"summary"`
	Fixes   []improvement `json:"fixes,omitempty"`
	// Of the others each is in one of these.
	Fails    []int    `json:"still_fail,omitempty"`
	Endless  []int    `json:"do_not_end,omitempty"`
	Unbuilt  []reason `json:"do_not_compile,omitempty"`
	Refused  []reason `json:"refused,omitempty"`
	NotTried []int    `json:"not_tried,omitempty"`
	Runs     int      `json:"runs"`
	// Rules are the edits of the mechanic that fix something, tried beside the others.
	Rules []rival `json:"rules,omitempty"`
}

// rival is an edit of the mechanic after which tests pass that fail now.
type rival struct {
	tryEdit

	All    bool     `json:"all"`
	Fixed  []string `json:"fixed"`
	Broken []string `json:"broken,omitempty"`
	Open   int      `json:"open"`
}

// improvement is an edit after which tests pass that fail now.
type improvement struct {
	Edit   int      `json:"edit"`
	All    bool     `json:"all"` // every test passes then
	Fixed  []string `json:"fixed"`
	Broken []string `json:"broken,omitempty"` // passed and would not any more
	Open   int      `json:"open"`             // tests that would still not pass
}

type reason struct {
	Edit int    `json:"edit"`
	Why  string `json:"why"`
}

func (f *Fix) tryTool() pawl.Tool {
	return tool.FuncWith("try_edits", "Try small edits of Go files without making them, and get the test results for each. "+
		"Every edit is tried alone: the failing tests are run with it and, if one of them passes then, all tests. "+
		"It stops at the first edit with which every test passes. Nothing is changed: make the edit that you choose with edit_file. "+
		"Use it when several small changes are plausible, such as another operator, bound, condition or variable. "+
		"Edits are named by their places in your list, from 1; an edit under fixes with an empty broken list is worth making, any other is not. "+
		"A rule-based program adds edits of its own, which are tried after yours; those that fix something are under rules.",
		f.tryEdits, pawl.Read, &tool.Options{MaxOutput: testrun.MaxResult, Timeout: 15 * time.Minute, External: true, Alone: true})
}

func (f *Fix) tryEdits(ctx context.Context, a tryArgs) (tried, error) {
	switch {
	case len(a.Edits) == 0:
		return tried{}, errors.New("edits is empty; give the edits to try")
	case len(a.Edits) > mostTryEdits:
		return tried{}, fmt.Errorf("%d edits are too many at once; give at most %d, the likeliest first", len(a.Edits), mostTryEdits)
	case a.Runs < 0 || a.Runs > mostTryRuns:
		return tried{}, fmt.Errorf("runs is %d; it may be 1 to %d", a.Runs, mostTryRuns)
	case a.Runs == 0:
		a.Runs = tryRuns
	}
	base, err := f.current(ctx)
	if err != nil {
		return tried{}, err
	}
	if len(base.verdict.Open) == 0 {
		return tried{}, errors.New("every test passes, so there is nothing to fix")
	}
	f.Running.Lock()
	defer f.Running.Unlock()
	began := time.Now()
	own := len(a.Edits)
	a.Edits = append(a.Edits, f.rivals(ctx, base)...)
	t, err := f.trial(ctx, base, a)
	if err != nil {
		return tried{}, err
	}
	t.own = own
	defer t.close()
	t.all(ctx)
	if ctx.Err() != nil {
		return tried{}, context.Cause(ctx)
	}
	if t.err != nil {
		return tried{}, t.err
	}
	f.learn(t.slowest)
	out := t.tell(a.Edits, time.Since(began))
	f.rivalled(base.state, len(t.edits)-own-t.left(own))
	return out, nil
}

// left counts the edits from a place in the list that were not tried.
func (t *trial) left(from int) int {
	n := 0
	for _, c := range t.edits[from:] {
		if c.outcome == 0 {
			n++
		}
	}
	return n
}

// tell summarizes the outcomes.
func (t *trial) tell(edits []tryEdit, took time.Duration) tried {
	out := tried{Runs: t.runs}
	full := 0
	for i, c := range t.edits[:t.own] {
		switch n := i + 1; c.outcome {
		case fixed:
			m := improvement{
				Edit: n, All: c.open == 0, Fixed: head(c.fixed), Broken: head(c.broken), Open: c.open,
			}
			if m.All && full == 0 {
				full = n
			}
			out.Fixes = append(out.Fixes, m)
		case stillFails:
			out.Fails = append(out.Fails, n)
		case endless:
			out.Endless = append(out.Endless, n)
		case unbuilt:
			out.Unbuilt = append(out.Unbuilt, reason{n, c.why})
		case refused:
			out.Refused = append(out.Refused, reason{n, c.why})
		default:
			out.NotTried = append(out.NotTried, n)
		}
	}
	slices.SortStableFunc(out.Fixes, func(a, b improvement) int { return a.rank() - b.rank() })
	for i, c := range t.edits[t.own:] {
		if c.outcome == fixed {
			out.Rules = append(out.Rules, rival{edits[t.own+i], c.open == 0, head(c.fixed), head(c.broken), c.open})
		}
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%d of %d edits tried in %d runs of tests, %v: ", t.own-len(out.NotTried)-len(out.Refused), t.own, t.runs, took.Round(100*time.Millisecond))
	switch {
	case full > 0:
		fmt.Fprintf(&b, "with edit %d every test passes", full)
	case len(out.Fixes) > 0:
		fmt.Fprintf(&b, "%d fix some tests; none fixes all", len(out.Fixes))
	default:
		b.WriteString("none fixes a test")
	}
	if n := len(t.edits) - t.own - t.left(t.own); n > 0 {
		fmt.Fprintf(&b, "; %d edits by rules tried beside them, %d of which fix something", n, len(out.Rules))
	}
	out.Summary = b.String()
	return out
}

// rank sorts what fixes all first, then what breaks nothing, then what fixes most.
func (m improvement) rank() int {
	switch {
	case m.All:
		return 0
	case len(m.Broken) == 0:
		return 1_000_000 - len(m.Fixed)
	}
	return 3_000_000 - len(m.Fixed)
}

func head(list []string) []string {
	if len(list) > mostTold {
		return list[:mostTold]
	}
	return list
}
