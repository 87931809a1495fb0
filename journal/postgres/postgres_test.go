//go:build unix

package postgres_test

import (
	"testing"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/internal/testkit/journaltest"
	"github.com/pawl-run/pawl/journal/postgres"
)

func TestContract(t *testing.T) {
	url, schema := started(t).url(), schema()
	journaltest.Run(t,
		func(t *testing.T) pawl.Journal { return emptied(t, schema) },
		&journaltest.Options{Reopen: func(t *testing.T, j pawl.Journal) pawl.Journal {
			must(t, j.(*postgres.Journal).Close())
			return openAt(t, url, schema)
		}})
}
