package sqlite

import (
	"context"
	"time"

	"github.com/ncruces/go-sqlite3"

	"github.com/pawl-run/pawl/internal/journals"
)

// Reserve takes from the buckets of a rate; see engine.Limiter.
func (j *Journal) Reserve(ctx context.Context, name string, requests, tokens, within time.Duration) (wait time.Duration, err error) {
	err = j.write(ctx, func(w *writer) (refusal, broken error) {
		var of journals.Buckets
		if broken = w.query(`SELECT requests, tokens FROM rates WHERE name = ?`, func(s *sqlite3.Stmt) (bool, error) {
			of = journals.Buckets{Requests: instant(s, 0), Tokens: instant(s, 1)}
			return true, nil
		}, name); broken != nil {
			return nil, broken
		}
		var taken bool
		if wait, taken = of.Take(time.Now().UTC().Round(0), requests, tokens, within); !taken {
			return nil, nil
		}
		return nil, w.exec(`INSERT INTO rates (name, requests, tokens) VALUES (?, ?, ?)
			ON CONFLICT DO UPDATE SET requests = excluded.requests, tokens = excluded.tokens`, name, of.Requests, of.Tokens)
	})
	return wait, err
}
