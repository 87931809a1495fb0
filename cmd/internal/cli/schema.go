package cli

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/pawl-run/pawl/spec"
)

func schemaCommand(a *app) *cobra.Command {
	return looking(a.command("schema", "Print the JSON Schema of specs, for editors", cobra.NoArgs,
		func(context.Context, []string) (int, error) {
			_, err := a.out.Write(spec.Schema())
			return 0, err
		}))
}
