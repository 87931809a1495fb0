//go:build unix

package postgres_test

import (
	"testing"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/internal/testkit/journaltest"
	"github.com/pawl-run/pawl/journal/postgres"
	"github.com/pawl-run/pawl/journal/seal"
)

func TestContract(t *testing.T) { contract(t, nil) }

func TestContractSealed(t *testing.T) {
	keys, err := seal.NewKeys(seal.Key{ID: "a", Secret: make([]byte, 32)})
	must(t, err)
	contract(t, keys)
}

func contract(t *testing.T, codec seal.Codec) {
	schema := schema()
	journaltest.Run(t,
		func(t *testing.T) pawl.Journal { return emptied(t, schema, codec) },
		&journaltest.Options{Sealed: codec != nil, Reopen: func(t *testing.T, j pawl.Journal) pawl.Journal {
			must(t, j.(*postgres.Journal).Close())
			return openSealed(t, started(t).url(), schema, codec)
		}})
}
