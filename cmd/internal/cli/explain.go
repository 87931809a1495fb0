package cli

import (
	"context"
	"io"

	"github.com/spf13/cobra"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/runs"
)

func explainCommand(a *app) *cobra.Command {
	return looking(remotely(oneRun(a, "explain RUN [flags]", "Explain why a run stopped, what it did, what it cost and what to do next", func(ctx context.Context, j store, h pawl.Head) (int, error) {
		report, err := runs.Report(ctx, j, h, a.place())
		if err != nil {
			return 0, err
		}
		if a.json {
			return 0, printJSON(a.out, report)
		}
		_, err = io.WriteString(a.out, report.Markdown())
		return 0, err
	})))
}
