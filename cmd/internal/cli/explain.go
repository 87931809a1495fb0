package cli

import (
	"context"
	"io"
	"os"

	"github.com/spf13/cobra"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/cmd/internal/markdown"
)

func explainCommand(a *app) *cobra.Command {
	return looking(remotely(oneRun(a, "explain RUN [flags]", "Explain why a run stopped, what it did, what it cost and what to do next", func(ctx context.Context, j pawl.Journal, h pawl.Head) (int, error) {
		report, err := a.reportOf(ctx, j, h)
		if err != nil {
			return 0, err
		}
		if a.json {
			return 0, printJSON(a.out, report)
		}
		w := a.page()
		if _, err := io.WriteString(w, report.Markdown()); err != nil {
			return 0, err
		}
		return 0, w.Close()
	})))
}

// page returns a writer of Markdown to standard output, which renders it on a terminal
// unless NO_COLOR is set. Files and pipes get the Markdown as it is.
func (a *app) page() io.WriteCloser {
	f := a.outTerminal()
	if f == nil {
		return unclosed{a.out}
	}
	return markdown.NewWriter(resultWriter{f}, min(columns(f), mostColumns), a.coloured())
}

// outTerminal is the terminal that standard output is; nil: it is none.
func (con *console) outTerminal() *os.File {
	to, _ := con.out.(resultWriter)
	if on, ok := to.w.(*inertWriter); ok {
		f, _ := on.w.(*os.File)
		return f
	}
	return nil
}

// mostColumns is the most columns that text takes, so that it stays readable.
const mostColumns = 100

// unclosed is a writer that others close.
type unclosed struct{ io.Writer }

func (unclosed) Close() error { return nil }
