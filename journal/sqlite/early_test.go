package sqlite

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
)

// A connection that was opened before somebody else made the database is not
// used: it would read pages of the wrong size, and write some without their sums.
func TestEarlyConnection(t *testing.T) {
	path := filepath.Join(t.TempDir(), "j.db")
	must(t, os.WriteFile(path, nil, 0o600))
	early, err := connect(t.Context(), path, &Options{}, view{})
	must(t, err)
	defer func() {
		if err := early.close(); err != nil {
			t.Error(err)
		}
	}()
	for _, moved := range []bool{false, true} { // out of the write-ahead log, into the file
		j, err := Open(t.Context(), path, nil)
		must(t, err)
		if moved {
			must(t, j.writer.c.Exec(`PRAGMA wal_checkpoint(TRUNCATE)`))
		}
		if err := create(t.Context(), early); !errors.Is(err, errEarly) && !damaged(err) || !early.early {
			t.Errorf("moved %v: it goes on with %v", moved, err)
		}
		must(t, j.Close())
	}
}
