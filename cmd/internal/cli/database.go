package cli

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/journal/postgres"
	"github.com/pawl-run/pawl/journal/sqlite"
)

// A store is the journal that commands work on.
type store interface {
	pawl.Journal
	pawl.Inbox
	pawl.Blobs
	io.Closer
}

// open opens the database for the length of one command. It opens a read-only file
// for reading: commands that only read work, and others fail at their first write.
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

// current is the open database; nil: a second signal has closed it.
func (a *app) current() store {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.journal
}

func (a *app) openStore(ctx context.Context) (store, error) {
	if a.server != "" {
		return opened(a.toServer())
	}
	url, err := a.databaseURL()
	if err != nil {
		return nil, err
	}
	if info, err := os.Stat(url); err == nil && info.IsDir() {
		return nil, misuse("the database %s is a directory; name a file in it, as in --database sqlite:PATH", url)
	}
	var j store
	if onServer(url) {
		j, err = opened(postgres.Open(ctx, url, nil))
	} else if j, err = opened(sqlite.Open(ctx, url, nil)); err != nil {
		j, err = openReading(ctx, url, err)
	}
	return j, err
}

// opened turns a nil pointer into a nil interface.
func opened[J store](j J, err error) (store, error) {
	if err != nil {
		return nil, err
	}
	return j, nil
}

// openReading opens for reading what could not be opened for writing.
func openReading(ctx context.Context, path string, writing error) (store, error) {
	j, err := sqlite.Open(ctx, path, &sqlite.Options{ReadOnly: true})
	if err != nil {
		return nil, writing
	}
	return j, nil
}

// withRuns is [app.with] for commands that need existing runs. If a named database
// does not exist, its name is probably misspelled: withRuns fails rather than
// creating it.
func (a *app) withRuns(ctx context.Context, do func(store) (int, error)) (int, error) {
	if from, named := a.namedDatabase(); a.server == "" && named != "" && !onServer(named) {
		path, err := a.databaseURL()
		if err != nil {
			return 0, err
		}
		if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
			return 0, misuse("%s: database %s does not exist; pawl run creates it", from, named)
		}
	}
	return a.with(ctx, do)
}

// with calls do on the open database and closes it afterwards.
func (a *app) with(ctx context.Context, do func(store) (int, error)) (int, error) {
	j, err := a.open(ctx)
	if err != nil {
		return 0, err
	}
	code, err := do(j)
	a.awaitDeliveries()
	a.mu.Lock()
	mine := a.journal == j
	a.journal = nil
	a.mu.Unlock()
	if mine {
		err = errors.Join(err, j.Close())
	}
	return code, err
}
