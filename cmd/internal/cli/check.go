package cli

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/pawl-run/pawl/spec"
)

func checkCommand(a *app) *cobra.Command {
	d := &driving{}
	c := a.command("check SPEC [flags]", "Validate a spec and print every problem", cobra.ExactArgs(1),
		func(_ context.Context, args []string) (int, error) { return checkSpec(a, args[0], d) })
	d.flag(c, "model", "effort", "limit", "stop", "policy", "tools", "workflows")
	return c
}

func checkSpec(a *app, file string, d *driving) (int, error) {
	l, err := parseLimits(d.limit, false)
	if err != nil {
		return 0, err
	}
	registry := a.registry()
	s, err := loadSpec(file, &spec.Options{Registry: registry, Model: d.model, Effort: d.effort, Stop: d.stop, Limits: l.Set, Tools: d.tools, Workflows: d.workflows})
	err = checkPolicy(d.policy, s, registry, err)
	var problems spec.Problems
	switch {
	case errors.As(err, &problems):
	case err != nil:
		return 0, refused(err)
	case !a.json:
		a.warn(s, registry)
		if parts := s.Registered(); len(parts) > 0 {
			a.sayf("pawl: from this program: %s", strings.Join(parts, ", "))
		}
		for _, cage := range s.Cages() {
			a.sayf("pawl: %s", cage)
		}
	}
	if a.json {
		found := struct {
			Problems spec.Problems `json:"problems"`
			Warnings spec.Problems `json:"warnings"`
		}{append(spec.Problems{}, problems...), spec.Problems{}} // empty lists rather than null
		if err == nil {
			found.Warnings = append(found.Warnings, flagged(s.Warnings(registry))...)
		}
		for i := range found.Problems { // a file that cannot be read has no lines, but readers count from 1
			p := &found.Problems[i]
			p.Line, p.Column = max(p.Line, 1), max(p.Column, 1)
		}
		if err := printJSON(a.out, found); err != nil {
			return 0, err
		}
	}
	return 0, err
}

// checkPolicy reports what is wrong with a policy, or with the spec under it.
func checkPolicy(file string, s *spec.Spec, registry *spec.Registry, wrong error) error {
	policy, err := readPolicy(file)
	if problems, ok := errors.AsType[spec.Problems](err); ok {
		if before, ok := errors.AsType[spec.Problems](wrong); ok {
			return append(slices.Clip(before), problems...)
		}
		return problems
	}
	if policy == nil || wrong != nil {
		return wrong
	}
	agent, err := s.Agent(registry)
	if err == nil {
		_, err = policy.Apply(agent)
	}
	return err
}

func schemaCommand(a *app) *cobra.Command {
	return looking(a.command("schema", "Print the JSON Schema of specs, for editors", cobra.NoArgs,
		func(context.Context, []string) (int, error) {
			_, err := a.out.Write(spec.Schema())
			return 0, err
		}))
}
