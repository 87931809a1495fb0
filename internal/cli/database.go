package cli

import (
	"context"
	"errors"

	"github.com/pawl-run/pawl/journal/sqlite"
)

// open opens the database for the length of one command.
func (a *app) open(ctx context.Context) (*sqlite.Journal, error) {
	path, err := a.databasePath()
	if err != nil {
		return nil, err
	}
	j, err := sqlite.Open(ctx, path, nil)
	if err != nil {
		return nil, err
	}
	a.mu.Lock()
	a.journal = j
	a.mu.Unlock()
	return j, nil
}

// with runs do on the open database and closes it afterwards.
func (a *app) with(ctx context.Context, do func(*sqlite.Journal) (int, error)) (int, error) {
	j, err := a.open(ctx)
	if err != nil {
		return 0, err
	}
	code, err := do(j)
	a.mu.Lock()
	mine := a.journal == j
	a.journal = nil
	a.mu.Unlock()
	if mine {
		err = errors.Join(err, j.Close())
	}
	return code, err
}
