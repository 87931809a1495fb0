package cli

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/pawl-run/pawl"
)

// driving holds the flags of commands that drive a run.
type driving struct {
	model  string
	limit  []string
	stop   string
	label  []string
	events string

	tools     string
	workflows string

	policy    string
	approvals approvalsMode

	record func(ctx context.Context, j pawl.Journal, run string) error // the ended run; nil: it is not recorded
}

func (d *driving) policyFlag(c *cobra.Command) {
	c.Flags().StringVar(&d.policy, "policy", "", "also apply this policy file: limits, allowed models, denied and gated tools")
}

func (d *driving) approvalsFlag(c *cobra.Command) {
	c.Flags().Var(&d.approvals, "approvals", "calls that need approval: ask here, park the run, or deny them (default: ask on a terminal, else park)")
}

// hyphenFlags adds the flags for Hyphen loop documents.
func (d *driving) hyphenFlags(c *cobra.Command) {
	c.Flags().StringVar(&d.tools, "tools", "", "a file with the tools that a Hyphen loop document names as actions")
	c.Flags().StringVar(&d.workflows, "workflows", "", "a directory with the specs that a Hyphen loop document names as workflows")
}

func (d *driving) modelFlag(c *cobra.Command) {
	c.Flags().Var((*modelValue)(&d.model), "model", "use this model, as PROVIDER/NAME or script:FILE (default: the spec's, or $PAWL_MODEL)")
}

// A modelValue is the value of --model.
type modelValue string

func (m *modelValue) Set(text string) error { *m = modelValue(unfiled(text)); return nil }
func (m *modelValue) String() string        { return string(*m) }
func (m *modelValue) Type() string          { return "string" }

func (d *driving) limitFlag(c *cobra.Command, relative bool) {
	usage := "limits that override the spec's, as iterations=N,tokens=N,time=30m,cost=2.00"
	if relative {
		usage = "new limits, as iterations=N,tokens=N,time=30m,cost=2.00, or relative as iterations=+5"
	}
	c.Flags().StringArrayVar(&d.limit, "limit", nil, usage)
}

func (d *driving) stopFlag(c *cobra.Command) {
	c.Flags().StringVar(&d.stop, "stop", "", "a stop condition that replaces the agent's")
}

func (d *driving) labelFlag(c *cobra.Command) {
	c.Flags().StringArrayVar(&d.label, "label", nil, "a label for the run, as KEY=VALUE; may be repeated")
}

func (d *driving) eventsFlag(c *cobra.Command) {
	c.Flags().StringVar(&d.events, "events", "", "append the run's entries to this file as they happen; - for standard error")
}
