package cli

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/internal/meter"
	"github.com/pawl-run/pawl/runs"
	"github.com/pawl-run/pawl/spec"
)

// driving holds the flags of commands that drive a run.
type driving struct {
	model  string
	effort string
	limit  []string
	stop   string
	label  []string
	events string

	resources []string // of MCP servers, and files, to attach

	tools     string
	workflows string

	policy    string
	approvals approvalsMode
}

// flag adds flags that several commands have, by name. raise is --limit for a run that exists.
func (d *driving) flag(c *cobra.Command, names ...string) {
	f := c.Flags()
	for _, name := range names {
		switch name {
		case "model":
			f.Func(name, "use this model, as `PROVIDER/NAME` or script:FILE (default: that of the run or spec, else $PAWL_MODEL)", func(text string) error {
				d.model = unfiled(text)
				return nil
			})
		case "effort":
			f.Func(name, "how much the model thinks, as a `LEVEL`: "+strings.Join(pawl.Efforts, ", ")+" (default: that of the spec, else the provider's)", func(text string) error {
				if d.effort = text; !slices.Contains(pawl.Efforts, text) {
					return fmt.Errorf("want one of %s", strings.Join(pawl.Efforts, ", "))
				}
				return nil
			})
		case "limit":
			f.StringArrayVar(&d.limit, name, nil, "limits that override the spec's, as `iterations=N`,tokens=N,time=30m,cost=2.00")
		case "raise":
			f.StringArrayVar(&d.limit, "limit", nil, "new limits, as `iterations=N`,tokens=N,time=30m,cost=2.00, or relative as iterations=+5")
		case "stop":
			f.StringVar(&d.stop, name, "", "a stop condition that replaces the agent's")
		case "label":
			f.StringArrayVar(&d.label, name, nil, "a label for the run, as `KEY=VALUE`; may be repeated")
		case "events":
			f.StringVar(&d.events, name, "", "append the run's entries to this file as they happen; - for standard error")
		case "policy":
			f.StringVar(&d.policy, name, "", "also apply this policy file: limits, allowed models, denied and gated tools")
		case "approvals":
			f.Func(name, "calls that need approval: `ask|park|deny`, that is ask here, suspend the run, or deny them (default: ask on a terminal, else park)", d.approvals.set)
		case "parking":
			f.Func("approvals", "calls that need approval: `ask|park|deny`, that is suspend their runs (park), or deny them (default: park)", d.approvals.set)
		case "tools":
			f.StringVar(&d.tools, name, "", "a file with the tools that a Hyphen loop document names as actions")
		case "workflows":
			f.StringVar(&d.workflows, name, "", "a directory with the specs that a Hyphen loop document names as workflows")
		}
	}
}

// parks checks --approvals for a process without a terminal.
func (d *driving) parks(what string) error {
	if d.approvals == modeAsk {
		return misuse("--approvals ask needs a terminal, which %s does not have; write park or deny", what)
	}
	d.approvals = cmp.Or(d.approvals, modePark)
	return nil
}

// parseLimits parses the values of --limit, each a list with commas.
func parseLimits(texts []string, relative bool) (runs.Limits, error) {
	return eachLimit(texts, relative, func(string, string) {})
}

// eachLimit is [parseLimits] that also yields each limit as it is written.
func eachLimit(texts []string, relative bool, yield func(name, value string)) (runs.Limits, error) {
	var l runs.Limits
	for _, text := range texts {
		for part := range strings.SplitSeq(text, ",") {
			part = strings.TrimSpace(part)
			name, value, ok := strings.Cut(part, "=")
			if !ok {
				return l, misuse("--limit: %s: write %s", part, runs.LimitForms)
			}
			if err := l.Say(name, value, relative); err != nil {
				return l, misuse("--limit: %s: %w; write %s", part, err, runs.LimitForms)
			}
			yield(name, value)
		}
	}
	return l, nil
}

// over returns the limits of a run after l is applied.
func over(l runs.Limits, now pawl.Limits, price *pawl.Price, lower func(pawl.Limits) pawl.Limits) (pawl.Limits, error) {
	next, err := l.Over(now, price, lower)
	if err != nil {
		return next, misuse("--limit: %w", err)
	}
	return next, nil
}

// lowered lists the limits that are lower than what was asked for, in the form of --limit.
func lowered(asked, got pawl.Limits) (list []string) {
	held := meter.Combine(asked, got, func(_ string, asked, got float64) float64 {
		if got < asked {
			return got
		}
		return 0
	})
	return spec.Assignments(held)
}

// parseLabels parses the values of --label that a run gets.
func parseLabels(texts []string) (map[string]string, error) {
	labels, err := queriedLabels(texts)
	for key, value := range labels {
		if value == "" { // it would be one with the runs without the label
			return nil, misuse("--label: %q has no value; write KEY=VALUE, or leave it out", key+"=")
		}
	}
	return labels, err
}

// queriedLabels parses the values of --label that select runs.
func queriedLabels(texts []string) (map[string]string, error) {
	labels := map[string]string{}
	for _, text := range texts {
		key, value, ok := strings.Cut(text, "=")
		if !ok || key == "" {
			return nil, misuse("--label: %q: write KEY=VALUE", text)
		}
		labels[key] = value
	}
	return labels, nil
}

// caps limit which queued runs a worker or server takes.
type caps struct{ perAgent, perTenant uint }

func (c *caps) flags(to *pflag.FlagSet) {
	to.UintVar(&c.perAgent, "max-per-agent", 0, "take no queued run of an agent while this many of its runs are driven (default: no limit)")
	to.UintVar(&c.perTenant, "max-per-tenant", 0, "take no queued run of a tenant while this many of its runs are driven (default: no limit)")
}
