package cli

import (
	"context"
	"fmt"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/budget"
	"github.com/pawl-run/pawl/internal/figure"
	"github.com/pawl-run/pawl/internal/terminal"
	"github.com/pawl-run/pawl/server/client"
)

func budgetsCommand(a *app) *cobra.Command {
	all := false
	c := a.command("budgets [flags]", "List what budgets have spent, across runs", cobra.NoArgs, func(ctx context.Context, _ []string) (int, error) {
		return a.withRuns(ctx, func(j store) (int, error) {
			var found []client.Budget
			var err error
			if r, ok := j.(*remote); ok {
				found, err = r.Budgets(ctx, all)
			} else if ledger, ok := j.(budget.Ledger); ok {
				for b, err := range client.BudgetsOf(ctx, ledger, time.Now(), all) {
					if err != nil {
						return 0, err
					}
					found = append(found, b)
				}
			}
			if err != nil {
				return 0, err
			}
			return 0, a.printBudgets(found)
		})
	})
	c.Flags().BoolVar(&all, "all", false, "also list earlier periods")
	return looking(remotely(c))
}

// printBudgets prints a line for each account.
func (con *console) printBudgets(all []client.Budget) error {
	w := tabwriter.NewWriter(con.out, 0, 0, 2, ' ', 0)
	for i, b := range all {
		if con.json {
			if err := printJSON(con.out, b); err != nil {
				return err
			}
			continue
		}
		if i == 0 {
			fmt.Fprintln(w, "OF\tPER\tSPENT\tRESERVED\tLIMIT\tSINCE\tUNTIL")
		}
		of := "all runs"
		if b.Label != "" {
			of = terminal.Clean(b.Label + "=" + b.Value)
		}
		var limit []string
		if b.LimitUSD != nil {
			limit = append(limit, figure.Dollars(float64(*b.LimitUSD)))
		}
		if b.LimitTokens != nil {
			limit = append(limit, tokens(*b.LimitTokens))
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%s\t%s\n", of, b.Per, used(b.SpentUSD, b.SpentTokens), used(b.ReservedUSD, b.ReservedTokens),
			strings.Join(limit, ", "), boundary(b.Since), boundary(b.Until))
	}
	if len(all) == 0 && !con.json {
		con.sayf("no budget has been used")
	}
	return w.Flush()
}

func tokens(n int64) string { return figure.Count(int(n), "token") }

func used(usd pawl.Decimal, n int64) string {
	return figure.Dollars(float64(usd)) + ", " + tokens(n)
}

// boundary is the begin or end of a period.
func boundary(t *time.Time) string {
	if t == nil {
		return "-"
	}
	return t.UTC().Format("2006-01-02T15:04Z")
}
