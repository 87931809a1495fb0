package sqlite

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"iter"
	"time"

	"github.com/ncruces/go-sqlite3"

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
	if data, err = j.box.Seal(data, "blob", digest); err != nil {
		return j.err(err)
	}
	return j.write(ctx, func(w *writer) (refusal, broken error) {
		if err := w.exec(`INSERT INTO blobs (digest, data) VALUES (?, ?) ON CONFLICT DO NOTHING`, key, data); err != nil {
			return nil, err
		}
		return nil, w.exec(`INSERT INTO stored (blob, time) SELECT ref, ? FROM blobs WHERE digest = ? ON CONFLICT DO UPDATE SET time = excluded.time`, time.Now(), key)
	})
}

// Blob returns what PutBlob stored; see [pawl.Blobs].
func (j *Journal) Blob(ctx context.Context, digest string) ([]byte, error) {
	key, err := hex.DecodeString(digest)
	if err != nil {
		return nil, fmt.Errorf("blob %q: %w", digest, pawl.ErrUnknownBlob)
	}
	var data []byte
	found := false
	err = j.pool.read(ctx, func(r *reader) (err error) {
		found, err = r.first(`SELECT data FROM blobs WHERE digest = ?`, func(s *sqlite3.Stmt) { data = s.ColumnBlob(0, nil) }, key)
		return err
	})
	if err != nil {
		return nil, j.err(err)
	}
	if !found {
		return nil, fmt.Errorf("blob %s: %w", digest, pawl.ErrUnknownBlob)
	}
	if data, err = j.box.OpenBlob(data, digest); err != nil {
		return nil, j.err(fmt.Errorf("blob %s: %w", digest, err))
	}
	if sum := sha256.Sum256(data); string(sum[:]) != string(key) {
		return nil, j.err(fmt.Errorf("blob %s is damaged: its digest is %x; %s", digest, sum, restore))
	}
	return data, nil
}

var _ approval.Keeper = (*Journal)(nil)

// Kept yields the records with a prefix; see [approval.Keeper].
func (j *Journal) Kept(ctx context.Context, prefix string) iter.Seq2[approval.Record, error] {
	return listed(ctx, j, func(s *sqlite3.Stmt) (approval.Record, error) {
		r := approval.Record{Name: s.ColumnText(0)}
		var err error
		r.Data, err = j.box.Open(s.ColumnBlob(1, nil), "kept", r.Name)
		return r, err
	}, `SELECT name, data FROM kept WHERE name >= ? AND name < ? ORDER BY name`, prefix, cmp.Or(shared.AfterPrefix(prefix), "\xff"))
}

// Keep replaces a record; see [approval.Keeper].
func (j *Journal) Keep(ctx context.Context, name string, was, now []byte) error {
	return j.write(ctx, func(w *writer) (refusal, broken error) {
		var is []byte
		known, err := w.first(`SELECT data FROM kept WHERE name = ?`, func(s *sqlite3.Stmt) { is = s.ColumnBlob(0, nil) }, name)
		if err != nil {
			return nil, err
		}
		if is, err = w.box.Open(is, "kept", name); err != nil {
			return err, nil
		}
		if known != (was != nil) || !bytes.Equal(is, was) {
			return fmt.Errorf("record %s: %w", name, pawl.ErrConflict), nil
		}
		if now == nil {
			return nil, w.exec(`DELETE FROM kept WHERE name = ?`, name)
		}
		sealed, err := w.box.Seal(now, "kept", name)
		if err != nil {
			return err, nil
		}
		return nil, w.exec(`INSERT OR REPLACE INTO kept (name, data) VALUES (?, ?)`, name, sealed)
	})
}
