package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/journal/postgres"
	"github.com/pawl-run/pawl/journal/sqlite"
)

// A store is the journal that commands work on.
type store interface {
	pawl.Journal
	pawl.Mailbox
	pawl.Blobs
	io.Closer
}

// open opens the database for the length of one command. A file that may not be
// written is opened for reading: commands that only look do not notice, and the
// others are told at their first write.
func (a *app) open(ctx context.Context) (store, error) {
	j, err := a.openStore(ctx)
	if err != nil {
		return nil, err
	}
	a.mu.Lock()
	a.journal = j
	a.mu.Unlock()
	return j, nil
}

func (a *app) openStore(ctx context.Context) (store, error) {
	if a.server != "" {
		return opened(a.toServer())
	}
	url, err := a.databaseURL()
	if err != nil {
		return nil, err
	}
	var j store
	if onServer(url) {
		j, err = opened(postgres.Open(ctx, url, nil))
	} else if j, err = opened(sqlite.Open(ctx, url, nil)); err != nil {
		j, err = openReading(ctx, url, err)
	} else {
		a.tellDropped(j.(*sqlite.Journal), url)
	}
	return j, err
}

// tellDropped says what the database lost when a process or the computer died.
func (a *app) tellDropped(j *sqlite.Journal, path string) {
	switch bytes, commits := j.Dropped(); {
	case commits > 1:
		a.sayf("%s is damaged: behind %d bytes of its log that cannot be read, %d writes are lost; restore it from a copy if something is missing", path, bytes, commits)
	case bytes > 0:
		a.sayf("%s: a write was cut short and never came to an end; %d bytes of it were dropped", path, bytes)
	}
}

// opened makes no journal of a pointer to none.
func opened[J store](j J, err error) (store, error) {
	if err != nil {
		return nil, err
	}
	return j, nil
}

// openReading opens for reading what could not be opened for writing. What came
// of that is said if this fails, too.
func openReading(ctx context.Context, path string, writing error) (store, error) {
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

// withRuns is with for commands about runs that there are. A database that was named
// and is not there is misspelled most likely: it is not made, and not taken for one
// without runs.
func (a *app) withRuns(ctx context.Context, do func(store) (int, error)) (int, error) {
	if from, named := a.namedDatabase(); a.server == "" && named != "" && !onServer(named) {
		path, err := a.databaseURL()
		if err != nil {
			return 0, err
		}
		if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
			return 0, misuse("%s: there is no such database: %s; pawl run makes one", from, named)
		}
	}
	return a.with(ctx, do)
}

// with runs do on the open database and closes it afterwards.
func (a *app) with(ctx context.Context, do func(store) (int, error)) (int, error) {
	j, err := a.open(ctx)
	if err != nil {
		return 0, err
	}
	code, err := do(j)
	a.awaitTold()
	a.mu.Lock()
	mine := a.journal == j
	a.journal = nil
	a.mu.Unlock()
	if mine {
		err = errors.Join(err, j.Close())
	}
	return code, err
}
