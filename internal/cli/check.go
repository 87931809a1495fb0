package cli

import (
	"context"
	"errors"

	"github.com/spf13/cobra"

	"github.com/pawl-run/pawl/spec"
)

func (a *app) checkCommand() *cobra.Command {
	return a.command("check SPEC [flags]", "Check a spec and print everything that is wrong with it", cobra.ExactArgs(1),
		func(_ context.Context, args []string) (int, error) { return a.check(args[0]) })
}

func (a *app) check(file string) (int, error) {
	registry := a.registry()
	s, err := loadSpec(file, &spec.Options{Registry: registry})
	var problems spec.Problems
	switch {
	case errors.As(err, &problems):
	case err != nil:
		return 0, refused(err)
	default:
		a.warn(s, registry)
	}
	if a.json {
		found := append(spec.Problems{}, problems...) // an empty list, not none
		if err := printJSON(a.out, struct {
			Problems spec.Problems `json:"problems"`
		}{found}); err != nil {
			return 0, err
		}
	}
	return 0, err
}
