package cli

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"maps"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/cmd/internal/screen"
	"github.com/pawl-run/pawl/internal/journals"
	"github.com/pawl-run/pawl/runs"
	"github.com/pawl-run/pawl/server/client"
)

func runsCommand(a *app) *cobra.Command {
	var q pawl.Query
	var status string
	var labels []string
	var search, since, until string
	children := false
	var c *cobra.Command
	c = a.command("runs [flags]", "List runs, newest first", cobra.NoArgs, func(ctx context.Context, _ []string) (int, error) {
		var err error
		if q.Labels, err = queriedLabels(labels); err != nil {
			return 0, err
		}
		f := runs.Filter{Search: search, Children: children}
		if status != "" {
			if err := f.SetStatus(status); err != nil {
				return 0, refused(err)
			}
		}
		if q.Max < 0 || q.Max == 0 && c.Flags().Changed("max") {
			return 0, misuse("--max is %d; it must be at least 1", q.Max)
		}
		if search != "" && !strings.ContainsFunc(search, journals.WordPart) {
			return 0, misuse("--search is %q; write words to look for", search)
		}
		if q.Since, err = moment("since", since); err != nil {
			return 0, err
		}
		if q.Until, err = moment("until", until); err != nil {
			return 0, err
		}
		f.Query = q
		return a.reading(ctx, func(j pawl.Journal) (int, error) {
			return 0, a.printRuns(a.list(ctx, j, f))
		})
	})
	c.Flags().StringVar(&status, "status", "", "only runs of this status; waiting: those that wait for anybody")
	c.Flags().StringVar(&q.Agent, "agent", "", "only runs of this agent")
	c.Flags().StringVar(&q.Loop, "loop", "", "only runs of this loop")
	c.Flags().StringArrayVar(&labels, "label", nil, "only runs with this label, as `KEY=VALUE`; may be repeated")
	c.Flags().StringVar(&search, "search", "", "only runs whose id, agent, input or answer has these words, or words that begin with them")
	c.Flags().StringVar(&since, "since", "", "only runs created since this time, such as 2026-01-31 or 2026-01-31T08:00:00Z, or since this long ago, such as 24h")
	c.Flags().StringVar(&until, "until", "", "only runs created before this time, in the same forms as --since")
	c.Flags().BoolVar(&children, "children", false, "also list child runs")
	c.Flags().StringVar(&q.Thread, "thread", "", "only runs of this thread, and their forks")
	c.Flags().IntVar(&q.Max, "max", 0, "list at most this many runs (default: all)")
	return looking(remotely(c))
}

// moment parses a time, or how long ago it was. A day begins at midnight here.
func moment(flag, text string) (time.Time, error) {
	if text == "" {
		return time.Time{}, nil
	}
	if ago, err := time.ParseDuration(text); err == nil && ago >= 0 {
		return time.Now().Add(-ago), nil
	}
	for _, layout := range []string{time.DateOnly, time.RFC3339} {
		if t, err := time.ParseInLocation(layout, text, time.Local); err == nil {
			return t, nil
		}
	}
	return time.Time{}, misuse("--%s is %q; write a time such as 2026-01-31 or 2026-01-31T08:00:00Z, or how long ago, such as 24h", flag, text)
}

// list finds the runs that a filter selects.
func (a *app) list(ctx context.Context, j pawl.Journal, f runs.Filter) iter.Seq2[client.RunLine, error] {
	if q := f.Query; a.far != nil {
		return a.far.Runs(ctx, client.Query{
			Status: f.Status, Waiting: f.Waiting, Agent: q.Agent, Loop: q.Loop, Labels: q.Labels, Thread: q.Thread, Search: f.Search,
			Since: q.Since, Until: q.Until, Children: f.Children, Max: q.Max,
		})
	}
	return func(yield func(client.RunLine, error) bool) {
		queue := runs.Positions{Journal: j}
		for h, err := range runs.List(ctx, j, f) {
			line := client.LineOf(h)
			if err == nil {
				line.Position, err = queue.Of(ctx, h)
			}
			if !yield(line, err) || err != nil {
				return
			}
		}
	}
}

// printRuns prints runs as they are found.
func (con *console) printRuns(lines iter.Seq2[client.RunLine, error]) error {
	n, err := tabulate(con, "RUN\tAGENT\tSTATUS\tCREATED\tITERATIONS\tCOST\tLABELS", lines, func(l client.RunLine) string {
		status := l.Status.String()
		if l.Position > 0 {
			status += fmt.Sprintf(", no. %d", l.Position)
		}
		return fmt.Sprintf("%s\t%s\t%s\t%s\t%d\t%s\t%s", screen.OneLine(l.Run), screen.OneLine(l.Agent), status, when(l.CreatedAt), l.Iterations, usd(l.CostUSD), labelText(l.Labels))
	})
	if n == 0 && err == nil && !con.json {
		con.sayf("no runs")
	}
	return err
}

// tabulate prints things as they are found, each as a line of JSON or a row of a table, and returns how many there
// are. At most together rows share column widths.
func tabulate[T any](con *console, head string, all iter.Seq2[T, error], row func(T) string) (n int, err error) {
	const together = 1000
	w := tabwriter.NewWriter(con.out, 0, 0, 2, ' ', 0)
	for one, err := range all {
		switch {
		case err != nil:
			return n, errors.Join(err, w.Flush())
		case con.json:
			err = printJSON(con.out, one)
		case n == 0:
			fmt.Fprintln(w, head)
		case n%together == 0:
			err = w.Flush()
		}
		if err != nil {
			return n, err
		}
		if n++; !con.json {
			fmt.Fprintln(w, row(one))
		}
	}
	return n, w.Flush()
}

// each yields the elements of a list, or an error.
func each[T any](all []T, err error) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		if err != nil {
			yield(*new(T), err)
			return
		}
		for _, one := range all {
			if !yield(one, nil) {
				return
			}
		}
	}
}

// labelText is labels in one line, sorted.
func labelText(labels map[string]string) string {
	var parts []string
	for _, k := range slices.Sorted(maps.Keys(labels)) {
		parts = append(parts, k+"="+labels[k])
	}
	return screen.OneLine(strings.Join(parts, " "))
}

// when formats a time in the local zone.
func when(t time.Time) string { return t.Local().Format(time.DateTime) }
