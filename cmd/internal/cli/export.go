package cli

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/engine/archive"
	"github.com/pawl-run/pawl/runs"
)

func exportCommand(a *app) *cobra.Command {
	o := &archive.Options{}
	c := oneRun(a, "export RUN [flags]", "Print a run as JSON lines for import, with likely secrets removed", func(ctx context.Context, j store, h pawl.Head) (int, error) {
		out := bufio.NewWriter(a.out)
		err := archive.Export(ctx, j, h.Run, out, o)
		return 0, errors.Join(err, out.Flush())
	})
	c.Flags().BoolVar(&o.Raw, "raw", false, "export the log unredacted, with its blobs; only such an export can be resumed after import")
	return c
}

func importCommand(a *app) *cobra.Command {
	return a.command("import FILE [flags]", "Import a run from the output of export; FILE may be - for standard input", cobra.ExactArgs(1),
		func(ctx context.Context, args []string) (int, error) {
			in := io.NopCloser(a.in)
			if args[0] != "-" {
				f, err := os.Open(args[0])
				if err != nil {
					return 0, refused(err)
				}
				in = f
			}
			code, err := a.with(ctx, func(j store) (int, error) { return 0, importLog(ctx, a, j, args[0], in) })
			return code, errors.Join(err, in.Close())
		})
}

// importLog imports a file, and reports what is missing.
func importLog(ctx context.Context, a *app, j store, name string, in io.Reader) error {
	got, err := archive.Import(ctx, j, in)
	if errors.As(err, new(*archive.DamagedError)) || errors.Is(err, pawl.ErrRunExists) {
		return refused(fmt.Errorf("%s: %w", name, err))
	}
	if err != nil {
		return err
	}
	switch missing := got.Of - got.Entries; {
	case missing > 0:
		a.sayf("%s is truncated: imported %d of %d entries, %d are lost; the run can be read and forked, not resumed", name, got.Entries, got.Of, missing)
	case got.Torn:
		a.sayf("%s is truncated after the last entry: imported all %d entries, blobs may be missing", name, got.Entries)
	}
	if got.Redacted {
		a.sayf("%s is redacted: the run can be read, not resumed", name)
	}
	if got.Continues != "" && !got.Redacted {
		if _, err := runs.Head(ctx, j, got.Continues); errors.Is(err, pawl.ErrUnknownRun) {
			a.sayf("run %s continues run %s, which is not in this database: import that run too before resuming or replaying", got.Run, got.Continues)
		}
	}
	if a.json {
		return printJSON(a.out, got)
	}
	_, err = fmt.Fprintln(a.out, got.Run)
	return err
}
