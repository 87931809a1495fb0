package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/engine"
	"github.com/pawl-run/pawl/internal/display"
	"github.com/pawl-run/pawl/runs"
	"github.com/pawl-run/pawl/spec"
)

// upgrading holds the options of pawl upgrade.
type upgrading struct {
	to  string
	dry bool
}

func upgradeCommand(a *app) *cobra.Command {
	u := &upgrading{}
	c := a.command("upgrade [SPEC…|DIR…] [flags]", "Move waiting runs to a changed agent, by its spec's upgrade rule", cobra.ArbitraryArgs,
		func(ctx context.Context, args []string) (int, error) {
			specs, err := u.specs(a, args)
			if err != nil {
				return 0, err
			}
			return a.withRuns(ctx, func(j store) (int, error) { return upgradeRuns(ctx, a, j, u, specs) })
		})
	c.Long = `Compare the suspended runs of the agents in the specs with those specs. Without
specs, compare all suspended runs with the current files of their specs. For each
run whose agent has changed, print what changed and what the rule of the new spec
(upgrade: refuse, compatible or fork) does with the run, and then apply the rule.
The command drives no run: the runs stay suspended, and what they wait for stays
valid. Runs with an owner stay unchanged. Exit code 1 means that a run was refused,
2 that a spec is invalid or a key is missing.`
	c.Example = `  pawl upgrade --dry-run              # which waiting runs does my change touch?
  pawl upgrade agents/ --to 3         # move them to version 3`
	c.Flags().BoolVar(&u.dry, "dry-run", false, "print what would happen, and change nothing")
	c.Flags().StringVar(&u.to, "to", "", "move to this version (default: the newest of each agent)")
	return c
}

// specs are the files of the agents to move to, by name; nil: each run's own.
func (u *upgrading) specs(a *app, args []string) (map[string]string, error) {
	if len(args) == 0 {
		if u.to != "" {
			return nil, misuse("--to needs the specs with that version; name them")
		}
		return nil, nil
	}
	files, specs, err := a.loadSpecs(args, spec.Options{})
	if err != nil {
		return nil, err
	}
	newest, found := map[string]*spec.Spec{}, map[string]string{}
	var versions []string
	for i, s := range specs {
		versions = append(versions, strings.TrimSuffix(s.Name+"@"+s.Version, "@"))
		if u.to != "" && s.Version != u.to {
			continue
		}
		if was := newest[s.Name]; was == nil || newer(s.Version, was.Version) {
			newest[s.Name], found[s.Name] = s, files[i]
		}
	}
	if len(found) == 0 {
		slices.Sort(versions)
		return nil, misuse("no agent has the version %q; there is %s", u.to, strings.Join(versions, ", "))
	}
	return found, nil
}

// upgraded is one line of the output.
type upgraded struct {
	Run     string   `json:"run"`
	Agent   string   `json:"agent"`
	Status  string   `json:"status"`
	From    string   `json:"from"`
	To      string   `json:"to"`
	Changed []string `json:"changed"`
	Rule    string   `json:"rule"`
	Outcome string   `json:"outcome"` // compatible, fork or refused
	Why     string   `json:"why"`
	Fork    string   `json:"fork"`
}

func upgradeRuns(ctx context.Context, a *app, j store, u *upgrading, specs map[string]string) (int, error) {
	var waiting []pawl.Head
	for h, err := range j.List(ctx, pawl.Query{}) {
		if err != nil {
			return 0, err
		}
		if _, named := specs[h.Agent]; (named || specs == nil) && runs.Suspended(h) && !runs.IsChild(h) {
			waiting = append(waiting, h)
		}
	}
	outcomes, before, problems := map[string]int{}, 0, spec.Problems(nil)
	lines := func(yield func(*upgraded, error) bool) {
		for _, h := range waiting {
			line, err := upgradeRun(ctx, a, j, h, specs[h.Agent], u.dry)
			if bad, ok := errors.AsType[spec.Problems](err); ok { // of its agent; the others can be made
				if err = nil; !slices.Contains(problems, bad[0]) {
					problems = append(problems, bad...)
				}
			}
			switch {
			case line == nil || err != nil:
			case line.Outcome == "":
				before++
				continue
			default:
				outcomes[line.Outcome]++
			}
			if (line != nil || err != nil) && !yield(line, err) {
				return
			}
		}
	}
	touched, err := tabulate(&a.console, "RUN\tAGENT\tSTATUS\tFROM\tTO\tOUTCOME\tWHY", lines, func(l *upgraded) string {
		return fmt.Sprintf("%s\t%s\t%s\t%s\t%s\t%s\t%s", l.Run, l.Agent, l.Status, cmp.Or(l.From, "-"), cmp.Or(l.To, "-"), l.Outcome, l.Why)
	})
	if err != nil {
		return 0, err
	}
	if !a.quiet {
		form := "%d of %s waiting or paused with a changed agent: moved %d, forked %d, refused %d; %d forked before"
		if u.dry {
			form = "%d of %s waiting or paused with a changed agent: would move %d, fork %d and refuse %d; %d forked before"
		}
		a.sayf(form, touched, display.Count(len(waiting), "run"), outcomes["compatible"], outcomes["fork"], outcomes["refused"], before)
	}
	switch {
	case len(problems) > 0:
		return 0, problems
	case outcomes["refused"] > 0:
		return 1, nil
	}
	return 0, nil
}

// upgradeRun plans or does the upgrade of one run; nil: its agent has not changed. The result
// has no outcome if a fork already continues the run. It is also returned with Problems of the
// spec as the error.
func upgradeRun(ctx context.Context, a *app, j store, h pawl.Head, file string, dry bool) (*upgraded, error) {
	s, err := engine.Load(ctx, j, h.Run)
	if err != nil {
		return nil, err
	}
	d := s.Declaration()
	line := &upgraded{Run: h.Run, Agent: h.Agent, Status: h.Status.String(), From: d.Version, Changed: []string{}, Outcome: "refused"}
	beside := a.beside()
	defer beside.disconnect()
	work, err := beside.workOf(ctx, j, s, remake{spec: file})
	if err != nil {
		if codeOf(err) != exitUsage {
			return nil, err
		}
		line.Why, _, _ = strings.Cut(err.Error(), "\n")
		if errors.As(err, new(spec.Problems)) {
			return line, err
		}
		return line, nil
	}
	defer work.drop()
	e := engine.New(j, a.options(work.agent.Source))
	plan := e.Upgrade
	if dry {
		plan = e.PlanUpgrade
	}
	p, err := plan(ctx, work.agent, h.Run, work.upgrade)
	if err != nil {
		line.Why = err.Error()
		return line, nil
	}
	if len(p.Changed) == 0 && p.From == p.To {
		return nil, nil
	}
	line.To, line.Rule, line.Fork = p.To, p.Rule.String(), p.Fork
	line.Changed = append(line.Changed, p.Changed...)
	changed := cmp.Or(strings.Join(p.Changed, ", "), "only the version") + " changed"
	switch {
	case p.Refused != "" && p.Fork != "":
		line.Outcome = ""
	case p.Refused != "":
		line.Why = changed + "; " + p.Refused
	case p.Fork != "":
		line.Outcome, line.Why = "fork", changed+"; run "+p.Fork+" goes on in its place"
	default:
		line.Outcome, line.Why = "compatible", changed
	}
	return line, nil
}

// newer reports whether one version of an agent is newer than another.
func newer(a, b string) bool { return compareVersions(a, b) > 0 }

// compareVersions orders versions of an agent: part by part between dots, numbers by their
// value and before words, and none before any.
func compareVersions(a, b string) int {
	if a == "" || b == "" {
		return cmp.Compare(len(a), len(b))
	}
	return slices.CompareFunc(strings.Split(a, "."), strings.Split(b, "."), func(a, b string) int {
		x, notX := strconv.ParseUint(strings.TrimPrefix(a, "v"), 10, 64)
		y, notY := strconv.ParseUint(strings.TrimPrefix(b, "v"), 10, 64)
		switch {
		case notX == nil && notY == nil:
			return cmp.Compare(x, y)
		case notX == nil:
			return -1
		case notY == nil:
			return 1
		}
		return cmp.Compare(a, b)
	})
}
