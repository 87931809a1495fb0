package cli

import (
	"context"
	"io"

	"github.com/spf13/cobra"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/runs"
)

func (a *app) explainCommand() *cobra.Command {
	return looking(remotely(a.runArgument(a.command("explain RUN [flags]", "Explain why a run stopped, what it did, what it cost and what to do next", cobra.ExactArgs(1),
		func(ctx context.Context, args []string) (int, error) {
			return a.onRun(ctx, args[0], func(j store, h pawl.Head) (int, error) {
				report, err := runs.Report(ctx, j, h, a.place())
				if err != nil {
					return 0, err
				}
				if a.json {
					return 0, printJSON(a.out, report)
				}
				_, err = io.WriteString(a.out, report.Markdown())
				return 0, err
			})
		}))))
}
