package cli

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/approval"
	"github.com/pawl-run/pawl/budget"
	"github.com/pawl-run/pawl/cmd/internal/screen"
	"github.com/pawl-run/pawl/engine"
	"github.com/pawl-run/pawl/internal/display"
	"github.com/pawl-run/pawl/internal/redact"
	"github.com/pawl-run/pawl/server/client"
)

func approvalsCommand(a *app) *cobra.Command {
	p, all := &post{}, false
	c := a.command("approvals [revoke ID] [flags]", "List standing permissions, or revoke one", revokesOrLists, func(ctx context.Context, args []string) (int, error) {
		return a.reading(ctx, func(j pawl.Journal) (int, error) {
			if len(args) > 0 {
				return 0, a.revoke(ctx, j, args[1], p.sender())
			}
			n, err := tabulate(&a.console, "ID\tBY\tCOVERS\tUSED\tUNTIL", a.permissions(ctx, j, all), permissionRow)
			if n == 0 && err == nil && !a.json {
				a.sayf("there are no standing permissions")
			}
			return 0, err
		})
	})
	c.Flags().BoolVar(&all, "all", false, "also list those that are revoked, used up or expired")
	c.Flags().StringVar(&p.by, "by", "", "the name to record with a revocation (default: yours)")
	return looking(remotely(c))
}

func revokesOrLists(_ *cobra.Command, args []string) error {
	if len(args) == 0 || len(args) == 2 && args[0] == "revoke" {
		return nil
	}
	return errors.New("write revoke and the ID of one permission, or nothing to list them")
}

// permissions are those that the person may see.
func (a *app) permissions(ctx context.Context, j pawl.Journal, all bool) iter.Seq2[approval.Permission, error] {
	if a.far != nil {
		return each(a.far.Permissions(ctx, all))
	}
	return func(yield func(approval.Permission, error) bool) {
		for p, err := range engine.Permissions(ctx, j, all) {
			p.Args = redact.JSON(p.Args)
			if !yield(p, err) {
				return
			}
		}
	}
}

// revoke revokes the permission whose id begins with a text.
func (a *app) revoke(ctx context.Context, j pawl.Journal, id, by string) error {
	var found []string
	for p, err := range a.permissions(ctx, j, true) {
		if err != nil {
			return err
		}
		if strings.HasPrefix(p.ID, id) {
			found = append(found, p.ID)
		}
	}
	switch {
	case len(found) == 0:
		return misuse("there is no permission %s; pawl approvals lists them", id)
	case len(found) > 1:
		return misuse("several permissions begin with %s: %s", id, strings.Join(found, ", "))
	}
	var err error
	if a.far != nil {
		err = a.far.Revoke(ctx, found[0], by)
	} else {
		err = engine.Revoke(ctx, j, found[0], by)
	}
	if err == nil {
		a.sayf("%s is revoked", found[0])
	}
	return err
}

func permissionRow(p approval.Permission) string {
	used := strconv.Itoa(p.Used)
	if p.Times > 0 {
		used += " of " + strconv.Itoa(p.Times)
	}
	return fmt.Sprintf("%s\t%s\t%s\t%s\t%s", p.ID, screen.OneLine(p.By), display.Escape(p.Covers()), used, boundary(&p.Until))
}

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
