package sqlite_test

import (
	"context"
	"path/filepath"
	"testing"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/internal/testkit/check"
	"github.com/pawl-run/pawl/internal/testkit/journaltest"
	"github.com/pawl-run/pawl/journal/seal"
	"github.com/pawl-run/pawl/journal/sqlite"
)

func TestContract(t *testing.T) { contract(t, nil) }

func TestContractSealed(t *testing.T) { contract(t, keys(t, "a")) }

func contract(t *testing.T, codec seal.Codec) {
	paths := make(map[pawl.Journal]string)
	open := func(t *testing.T, path string) pawl.Journal {
		t.Helper()
		// What power cuts cost is not looked at here, so the disk is not waited for.
		j := openAt(t, path, &sqlite.Options{Normal: true, Codec: codec})
		paths[j] = path
		return j
	}
	journaltest.Run(t,
		func(t *testing.T) pawl.Journal { return open(t, filepath.Join(t.TempDir(), "a dir?", "j%20#.db")) },
		&journaltest.Options{Sealed: codec != nil, Reopen: func(t *testing.T, j pawl.Journal) pawl.Journal {
			must(t, j.(*sqlite.Journal).Close())
			return open(t, paths[j])
		}})
}

// openAt opens a journal that is closed when the test ends.
func openAt(tb testing.TB, path string, o *sqlite.Options) *sqlite.Journal {
	tb.Helper()
	j, err := sqlite.Open(context.Background(), path, o)
	must(tb, err)
	tb.Cleanup(func() { must(tb, j.Close()) })
	return j
}

var must = check.Must
