package cli

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/budget"
	"github.com/pawl-run/pawl/internal/display"
	"github.com/pawl-run/pawl/server/client"
)

func budgetsCommand(a *app) *cobra.Command {
	all := false
	c := a.command("budgets [flags]", "List what budgets have spent, across runs", cobra.NoArgs, func(ctx context.Context, _ []string) (int, error) {
		return a.reading(ctx, func(j pawl.Journal) (int, error) {
			found := each[client.Budget](nil, nil)
			if a.far != nil {
				found = each(a.far.Budgets(ctx, all))
			} else if ledger, ok := j.(budget.Ledger); ok {
				found = client.BudgetsOf(ctx, ledger, time.Now(), all)
			}
			n, err := tabulate(&a.console, "OF\tPER\tSPENT\tRESERVED\tLIMIT\tSINCE\tUNTIL", found, budgetRow)
			if n == 0 && err == nil && !a.json {
				a.sayf("no budget has been used")
			}
			return 0, err
		})
	})
	c.Flags().BoolVar(&all, "all", false, "also list earlier periods")
	return looking(remotely(c))
}

func budgetRow(b client.Budget) string {
	of := "all runs"
	if b.Label != "" {
		of = display.Clean(b.Label + "=" + b.Value)
	}
	var limit []string
	if b.LimitUSD != nil {
		limit = append(limit, display.Dollars(float64(*b.LimitUSD)))
	}
	if b.LimitTokens != nil {
		limit = append(limit, tokens(*b.LimitTokens))
	}
	return fmt.Sprintf("%s\t%s\t%s\t%s\t%s\t%s\t%s", of, b.Per, used(b.SpentUSD, b.SpentTokens), used(b.ReservedUSD, b.ReservedTokens),
		strings.Join(limit, ", "), boundary(b.Since), boundary(b.Until))
}

func tokens(n int64) string { return display.Count(int(n), "token") }

func used(usd pawl.Decimal, n int64) string {
	return display.Dollars(float64(usd)) + ", " + tokens(n)
}

// boundary is the begin or end of a period.
func boundary(t *time.Time) string {
	if t == nil {
		return "-"
	}
	return t.UTC().Format("2006-01-02T15:04Z")
}
