package sqlite

import (
	"context"
	"fmt"
)

// OnDisk has a journal opened on a file system by its name.
func (o *Options) OnDisk(name string) *Options {
	o.vfs = name
	return o
}

// Emptied has the write-ahead log moved into the file whenever it has so many pages.
func (j *Journal) Emptied(pages int) error {
	return j.writer.Exec(fmt.Sprintf(`PRAGMA wal_autocheckpoint = %d`, pages))
}

// Abandon leaves all runs without an owner, as the end of their process does.
func (j *Journal) Abandon(ctx context.Context) error {
	return j.write(ctx, func(w *writer) (refusal, broken error) {
		return nil, w.exec(`UPDATE runs SET owner = '', until = NULL`)
	})
}

// NewDisk gives a file system that loses what was not synced, and can break.
var NewDisk = newDisk

// The statements of the queue.
const (
	QueueSQL  = queueSQL
	QueuedSQL = queuedSQL
	TakenSQL  = takenSQL
	OwnedSQL  = ownedSQL
)

// Selection is the SQL of a query.
var Selection = selection
