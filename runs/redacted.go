package runs

import (
	"context"
	"iter"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/engine"
	"github.com/pawl-run/pawl/internal/redact"
)

// shown is a journal as it may be shown: it has what was said and done, and who
// reads about it need not have the keys.
type shown struct{ pawl.Journal }

// Read yields rows without what looks like a secret.
func (j shown) Read(ctx context.Context, run string, from uint64) iter.Seq2[pawl.Row, error] {
	return func(yield func(pawl.Row, error) bool) {
		for row, err := range j.Journal.Read(ctx, run, from) {
			row.Data = redact.JSON(row.Data)
			if !yield(row, err) {
				return
			}
		}
	}
}

// entries are a run's entries as they may be shown.
func entries(ctx context.Context, j pawl.Journal, run string) iter.Seq2[pawl.Entry, error] {
	return engine.Entries(ctx, shown{j}, run, 1)
}
