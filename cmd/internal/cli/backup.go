package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"

	"github.com/spf13/cobra"

	"github.com/pawl-run/pawl/journal/sqlite"
)

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
