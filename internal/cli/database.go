package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/pawl-run/pawl/journal/sqlite"
)

// open opens the database for the length of one command. One that may not be
// written is opened for reading: commands that only look do not notice, and the
// others are told at their first write.
func (a *app) open(ctx context.Context) (*sqlite.Journal, error) {
	path, err := a.databasePath()
	if err != nil {
		return nil, err
	}
	j, err := sqlite.Open(ctx, path, nil)
	if err != nil {
		if j, err = openReading(ctx, path, err); err != nil {
			return nil, err
		}
	}
	a.mu.Lock()
	a.journal = j
	a.mu.Unlock()
	return j, nil
}

// openReading opens for reading what could not be opened for writing. What came
// of that is said if this fails, too.
func openReading(ctx context.Context, path string, writing error) (*sqlite.Journal, error) {
	j, err := sqlite.Open(ctx, path, &sqlite.Options{ReadOnly: true})
	if err == nil {
		return j, nil
	}
	why := errors.Unwrap(err) // without the path a second time
	if _, missing := os.Stat(path); missing != nil || why == nil || strings.Contains(writing.Error(), why.Error()) {
		return nil, writing
	}
	return nil, fmt.Errorf("%w; nor can it only be read: %w", writing, why)
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
