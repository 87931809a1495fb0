package postgres

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"iter"

	"github.com/jackc/pgx/v5"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/approval"
	"github.com/pawl-run/pawl/journal/internal/shared"
)

// PutBlob stores data; see [pawl.Blobs]. It fails if the data does not have the digest, or
// has more than 64 MB.
func (j *Journal) PutBlob(ctx context.Context, digest string, data []byte) error {
	key, err := shared.CheckBlob(digest, data)
	if err != nil {
		return err
	}
	if data == nil {
		data = []byte{} // nil is NULL
	}
	if data, err = j.box.Seal(data, "blob", digest); err != nil {
		return j.err(err)
	}
	return j.write(ctx, func(ctx context.Context, c *pgx.Conn, _ bool) (refusal, broken error) {
		_, err := c.Exec(ctx, `INSERT INTO blobs (digest, data) VALUES ($1, $2) ON CONFLICT (digest) DO UPDATE SET stored = clock_timestamp()`, key, data)
		return nil, err
	})
}

// Blob returns what PutBlob stored; see [pawl.Blobs].
func (j *Journal) Blob(ctx context.Context, digest string) ([]byte, error) {
	key, err := hex.DecodeString(digest)
	if err != nil {
		return nil, fmt.Errorf("blob %q: %w", digest, pawl.ErrUnknownBlob)
	}
	var data []byte
	err = j.read(ctx, func(ctx context.Context, c *pgx.Conn, _ bool) (refusal, broken error) {
		err := c.QueryRow(ctx, `SELECT data FROM blobs WHERE digest = $1`, key).Scan(&data)
		if errors.Is(err, pgx.ErrNoRows) {
			return fmt.Errorf("blob %s: %w", digest, pawl.ErrUnknownBlob), nil
		}
		return nil, err
	})
	if err != nil {
		return nil, err
	}
	if data, err = j.box.OpenBlob(data, digest); err != nil {
		return nil, j.err(fmt.Errorf("blob %s: %w", digest, err))
	}
	if sum := sha256.Sum256(data); string(sum[:]) != string(key) {
		return nil, j.err(fmt.Errorf("blob %s is damaged", digest))
	}
	return data, nil
}

var _ approval.Keeper = (*Journal)(nil)

// Kept yields the records with a prefix; see [approval.Keeper].
func (j *Journal) Kept(ctx context.Context, prefix string) iter.Seq2[approval.Record, error] {
	return listed(ctx, j, "the records", func(r pgx.Row) (k approval.Record, err error) {
		var name []byte
		err = r.Scan(&name, &k.Data)
		if k.Name = string(name); err == nil {
			k.Data, err = j.box.Open(k.Data, "kept", k.Name)
		}
		return k, err
	}, `SELECT name, data FROM kept WHERE name >= $1 AND name < $2 ORDER BY name`, []byte(prefix), []byte(cmp.Or(shared.AfterPrefix(prefix), "\xff")))
}

// Keep replaces a record; see [approval.Keeper].
func (j *Journal) Keep(ctx context.Context, name string, was, now []byte) error {
	conflict := fmt.Errorf("record %s: %w", name, pawl.ErrConflict)
	sealed := now
	if now != nil {
		var err error
		if sealed, err = j.box.Seal(now, "kept", name); err != nil {
			return err
		}
	}
	return j.write(ctx, func(ctx context.Context, c *pgx.Conn, _ bool) (refusal, broken error) {
		sql, args := `INSERT INTO kept (name, data) VALUES ($1, $2) ON CONFLICT DO NOTHING`, []any{[]byte(name), sealed}
		if was != nil {
			var stored []byte // which no other text is sealed to
			if err := c.QueryRow(ctx, `SELECT data FROM kept WHERE name = $1`, []byte(name)).Scan(&stored); errors.Is(err, pgx.ErrNoRows) {
				return conflict, nil
			} else if err != nil {
				return nil, err
			}
			if is, err := j.box.Open(stored, "kept", name); err != nil || !bytes.Equal(is, was) {
				return cmp.Or(err, conflict), nil
			}
			sql, args = `UPDATE kept SET data = $3 WHERE name = $1 AND data = $2`, []any{[]byte(name), stored, sealed}
			if now == nil {
				sql, args = `DELETE FROM kept WHERE name = $1 AND data = $2`, args[:2]
			}
		}
		done, err := c.Exec(ctx, sql, args...)
		if err == nil && done.RowsAffected() == 0 {
			return conflict, nil
		}
		return nil, err
	})
}
