package cli

import (
	"context"
	"fmt"
	"io"
	"os"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/cmd/internal/screen"
	"github.com/pawl-run/pawl/engine"
	"github.com/pawl-run/pawl/explain"
	"github.com/pawl-run/pawl/internal/display"
	"github.com/pawl-run/pawl/runs"
	"github.com/pawl-run/pawl/spec"
	"github.com/pawl-run/pawl/team"
)

func showCommand(a *app) *cobra.Command {
	effective, spent, dir := false, false, ""
	c := a.command("show RUN [flags]", "Show the status and result of a run", cobra.ExactArgs(1),
		func(ctx context.Context, args []string) (int, error) {
			return a.onRun(ctx, args[0], func(j pawl.Journal, h pawl.Head) (int, error) {
				if effective {
					return 0, a.showSpec(ctx, j, h.Run)
				}
				if dir != "" {
					return 0, a.writeFiles(ctx, j, h.Run, dir)
				}
				report, err := a.reportOf(ctx, j, h)
				if err != nil {
					return 0, err
				}
				if spent {
					return 0, a.showCost(report)
				}
				if a.json {
					return 0, printJSON(a.out, report.Result)
				}
				s, err := engine.Load(ctx, j, h.Run)
				if err != nil {
					return 0, err
				}
				return 0, a.show(report, h, team.TasksOf(s), runs.Files(s))
			})
		})
	c.Flags().BoolVar(&effective, "spec", false, "show the spec that the run recorded, and what is in force")
	c.Flags().BoolVar(&spent, "cost", false, "show what the run's tokens and dollars were spent on")
	c.Flags().StringVar(&dir, "files", "", "write the files of the run's input and of its tools into `DIR`")
	c.MarkFlagsMutuallyExclusive("spec", "cost", "files")
	return looking(remotely(c))
}

// showSpec prints what a run recorded of its agent's spec, and what is in force.
func (con *console) showSpec(ctx context.Context, j pawl.Journal, run string) error {
	s, err := engine.Load(ctx, j, run)
	if err != nil {
		return err
	}
	if con.json {
		return printJSON(con.out, spec.Of(s))
	}
	_, err = io.WriteString(con.out, spec.Of(s).String())
	return err
}

// show prints a summary for people.
func (con *console) show(r explain.Report, h pawl.Head, board []team.Task, files []runs.File) error {
	w := tabwriter.NewWriter(con.out, 0, 0, 2, ' ', 0)
	row := func(name, value string) {
		if value != "" {
			fmt.Fprintf(w, "%s\t%s\n", name, screen.OneLine(value))
		}
	}
	row("run", r.Run)
	row("agent", r.Agent)
	row("status", r.Status.String())
	if r.Status != pawl.StatusPlanFailed { // the status already says it
		row("because", r.Reason.Condition)
	}
	row("detail", r.Reason.Detail)
	if r.Thread != nil {
		row("thread", *r.Thread)
	}
	for _, leg := range r.Conversation {
		here := ""
		if leg.Run == r.Run {
			here = "this run: "
		}
		row("leg", here+leg.String())
	}
	row("labels", labelText(r.Labels))
	row("created", when(h.Created))
	row("updated", when(h.Updated))
	if h.Status == pawl.StatusRunning && runs.Owned(h.Lease) {
		row("owner", runs.OwnerText(h.Lease.Owner))
	}
	row("used", r.Used())
	if r.Confidence != nil {
		row("confidence", fmt.Sprintf("%.2f", *r.Confidence))
	}
	for _, t := range board {
		row("board", fmt.Sprintf("%s %s: %s", t.ID, t.Status, gist(t.Text)))
	}
	for i, f := range files {
		if i == mostFiles {
			row("files", fmt.Sprintf("%d more", len(files)-i))
			break
		}
		row("file", fileText(f))
	}
	for _, p := range r.Pending {
		row("waits for", pendingText(p))
	}
	for _, next := range r.Next {
		row("next", pasted(next))
	}
	if err := w.Flush(); err != nil {
		return err
	}
	if answer := display.Clean(r.Answer); strings.TrimSpace(answer) != "" {
		answer = "\n" + strings.TrimRight(answer, "\n") + "\n"
		for _, source := range r.Citations {
			answer += "source: " + gist(source.String()) + "\n"
		}
		_, err := io.WriteString(con.out, answer)
		return err
	}
	return nil
}

func explainCommand(a *app) *cobra.Command {
	return looking(remotely(oneRun(a, "explain RUN [flags]", "Explain why a run stopped, what it did, what it cost and what to do next", func(ctx context.Context, j pawl.Journal, h pawl.Head) (int, error) {
		report, err := a.reportOf(ctx, j, h)
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

// outTerminal is the terminal that standard output is; nil: it is none.
func (con *console) outTerminal() *os.File {
	to, _ := con.out.(resultWriter)
	return screen.Terminal(to.w)
}

// cost is what a run cost, as JSON.
type cost struct {
	Run        string        `json:"run"`
	Agent      string        `json:"agent"`
	Status     pawl.Status   `json:"status"`
	Iterations int           `json:"iterations"`
	ModelCalls int           `json:"model_calls"`
	UsedTokens int           `json:"used_tokens"`
	CostUSD    *pawl.Decimal `json:"cost_usd"`
	explain.Spending
}

// showCost prints what a run cost: the part of the report of pawl explain.
func (a *app) showCost(r explain.Report) error {
	if a.json {
		return printJSON(a.out, cost{Run: r.Run, Agent: r.Agent, Status: r.Status, Iterations: r.Iterations, ModelCalls: r.Usage.ModelCalls,
			UsedTokens: r.Usage.Input + r.Usage.Output, CostUSD: r.CostUSD, Spending: r.Spending})
	}
	_, err := io.WriteString(a.out, r.CostMarkdown())
	return err
}

// usd formats an amount of dollars; a dash if it is unknown.
func usd(v *pawl.Decimal) string {
	switch {
	case v == nil:
		return "–"
	case *v >= 100:
		return fmt.Sprintf("$%.2f", *v)
	}
	return display.Dollars(float64(*v))
}
