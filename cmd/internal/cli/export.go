package cli

import (
	"bufio"
	"context"
	"crypto/ed25519"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"github.com/spf13/cobra"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/cmd/internal/screen"
	"github.com/pawl-run/pawl/engine/archive"
	"github.com/pawl-run/pawl/internal/display"
	"github.com/pawl-run/pawl/journal/sqlite"
	"github.com/pawl-run/pawl/runs"
)

func exportCommand(a *app) *cobra.Command {
	o, key := &archive.Options{}, ""
	c := oneRun(a, "export RUN [flags]", "Print a run as JSON lines for import, with likely secrets removed", func(ctx context.Context, j pawl.Journal, h pawl.Head) (int, error) {
		if key != "" {
			var err error
			if o.Key, err = readKey[ed25519.PrivateKey](key, "PRIVATE KEY", x509.ParsePKCS8PrivateKey); err != nil {
				return 0, err
			}
		}
		out := bufio.NewWriter(a.out)
		err := archive.Export(ctx, j, h.Run, out, o)
		return 0, errors.Join(err, out.Flush())
	})
	c.Flags().BoolVar(&o.Raw, "raw", false, "export the log unredacted, with its blobs; only such an export can be resumed after import")
	c.Flags().StringVar(&key, "sign", "", "sign the export with the Ed25519 private key in this PEM `FILE`; verify checks it with the public key")
	return c
}

func importCommand(a *app) *cobra.Command {
	restored := false
	c := a.command("import FILE [flags]", "Import a run from the output of export", cobra.MaximumNArgs(1),
		func(ctx context.Context, args []string) (int, error) {
			switch {
			case restored && len(args) > 0:
				return 0, misuse("--restored marks the runs that are in the database, and imports no file")
			case restored:
				return a.withRuns(ctx, func(j store) (int, error) { return 0, markRestored(ctx, a, j) })
			case len(args) == 0:
				return 0, misuse("import needs a FILE, or - for standard input")
			}
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
	c.Flags().BoolVar(&restored, "restored", false, "after a restore from a backup, before anything drives its runs: those that had not ended can be forked, but not resumed")
	return c
}

// markRestored marks the runs that a restore may have set back, and prints their ids. A child
// is driven by its parent, which is marked.
func markRestored(ctx context.Context, a *app, j store) error {
	var all []pawl.Head
	for h, err := range j.List(ctx, pawl.Query{}) {
		if err != nil {
			return err
		}
		if !runs.IsChild(h) {
			all = append(all, h)
		}
	}
	n := 0
	for _, h := range all {
		marked, err := archive.Restored(ctx, j, h)
		if err != nil {
			return fmt.Errorf("run %s, after %s: stop what drives runs and repeat this: %w", h.Run, display.Count(n, "run"), err)
		}
		if marked {
			n++
			if err := a.printRestored(h); err != nil {
				return err
			}
		}
	}
	a.sayf("%s had not ended; each can be forked from where it is known to have stood, not resumed", display.Count(n, "run"))
	return nil
}

func (con *console) printRestored(h pawl.Head) error {
	if con.json {
		return printJSON(con.out, struct {
			Run    string      `json:"run"`
			Agent  string      `json:"agent"`
			Status pawl.Status `json:"status"`
			Seq    uint64      `json:"seq"`
		}{h.Run, h.Agent, h.Status, h.Seq})
	}
	_, err := fmt.Fprintf(con.out, "%s\t%s\t%v\n", h.Run, screen.OneLine(h.Agent), h.Status)
	return err
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
		a.sayf("%s is truncated: imported %d of %d entries, %d lost; the run can be read and forked, not resumed", name, got.Entries, got.Of, missing)
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

func backupCommand(a *app) *cobra.Command {
	return a.command("backup FILE", "Copy the SQLite database as of one moment to a new file, while it is in use", cobra.ExactArgs(1),
		func(ctx context.Context, args []string) (int, error) {
			return a.withRuns(ctx, func(j store) (int, error) {
				s, ok := j.(*sqlite.Journal)
				if !ok {
					return 0, misuse("pawl backup copies SQLite databases; for PostgreSQL use pg_dump -n pawl, or a base backup with archived logs")
				}
				err := s.Backup(ctx, args[0])
				if at, ok := errors.AsType[*fs.PathError](err); ok {
					return 0, misuse("%s: %w", args[0], at.Err)
				}
				if err == nil {
					_, err = fmt.Fprintln(a.out, args[0])
				}
				return 0, err
			})
		})
}
