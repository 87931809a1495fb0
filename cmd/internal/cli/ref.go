package cli

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/runs"
)

// mostCandidates is how many runs are listed when a name fits none or several.
const mostCandidates = 10

// find returns the run that RUN names: an id, the beginning of one, or "last". Its
// usage error lists the candidates.
func find(ctx context.Context, j pawl.Journal, ref string) (pawl.Head, error) {
	if ref == "last" {
		newest, err := heads(ctx, j, pawl.Query{}, 1, isRoot)
		if err == nil && len(newest) == 0 {
			err = misuse("there are no runs yet")
		}
		if err != nil {
			return pawl.Head{}, err
		}
		return newest[0], nil
	}
	var found []pawl.Head
	for _, id := range []string{ref, strings.ToUpper(ref)} { // generated ids are in capitals; a program may use others
		if id == "" || len(found) > 0 {
			break
		}
		var err error
		if found, err = heads(ctx, j, pawl.Query{Run: id}, 0, nil); err != nil {
			return pawl.Head{}, err
		}
		if i := slices.IndexFunc(found, func(h pawl.Head) bool { return h.Run == id }); i >= 0 {
			return found[i], nil
		}
		// A child's id begins with its parent's: prefer the parent.
		among := slices.DeleteFunc(slices.Clone(found), func(h pawl.Head) bool {
			return slices.ContainsFunc(found, func(p pawl.Head) bool { return strings.HasPrefix(h.Run, p.Run+".") })
		})
		if found = among; len(found) == 1 {
			return found[0], nil
		}
	}
	if len(found) > 0 {
		return pawl.Head{}, misuse("%q matches several runs; give more of the id:\n%s", ref, candidates(found))
	}
	recent, err := heads(ctx, j, pawl.Query{}, mostCandidates+1, isRoot)
	if err != nil {
		return pawl.Head{}, err
	}
	if len(recent) == 0 {
		return pawl.Head{}, misuse("run %q does not exist; there are no runs yet", ref)
	}
	return pawl.Head{}, misuse("run %q does not exist; the latest are:\n%s", ref, candidates(recent))
}

// heads lists runs that are wanted (nil: all), newest first, without those that were claimed but
// never begun: at most that many, or all if most is zero.
func heads(ctx context.Context, j pawl.Journal, q pawl.Query, most int, want func(pawl.Head) bool) ([]pawl.Head, error) {
	var out []pawl.Head
	for h, err := range j.List(ctx, q) {
		if err != nil {
			return nil, err
		}
		if h.Seq == 0 || want != nil && !want(h) {
			continue
		}
		if out = append(out, h); len(out) == most {
			break
		}
	}
	return out, nil
}

// isRoot reports whether a run is neither a child nor a memory.
func isRoot(h pawl.Head) bool { return !runs.IsChild(h) && !runs.IsMemory(h) }

func candidates(runs []pawl.Head) string {
	var b strings.Builder
	for i, h := range runs {
		if i == mostCandidates {
			b.WriteString("  …")
			break
		}
		fmt.Fprintf(&b, "  %s  %s  %v  %s\n", h.Run, h.Agent, h.Status, when(h.Created))
	}
	return strings.TrimRight(b.String(), "\n")
}

// onRun is [app.reading] for a command about one run.
func (a *app) onRun(ctx context.Context, ref string, do func(j pawl.Journal, h pawl.Head) (int, error)) (int, error) {
	return a.reading(ctx, func(j pawl.Journal) (int, error) {
		h, err := find(ctx, j, ref)
		if err != nil {
			return 0, err
		}
		if h, err = runs.Head(ctx, j, h.Run); err != nil { // the list of a server does not have all fields
			return 0, err
		}
		return do(j, h)
	})
}

// oneRun makes a command about one run, its only argument.
func oneRun(a *app, use, short string, do func(ctx context.Context, j pawl.Journal, h pawl.Head) (int, error)) *cobra.Command {
	return a.command(use, short, cobra.ExactArgs(1), func(ctx context.Context, args []string) (int, error) {
		return a.onRun(ctx, args[0], func(j pawl.Journal, h pawl.Head) (int, error) { return do(ctx, j, h) })
	})
}
