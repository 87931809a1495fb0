package postgres

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"math"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/journal/internal/shared"
)

// Append adds a batch; see [pawl.Journal]. An empty batch is an error, and so is one of more than
// 64 MB.
//
// Once the statement is sent, the context no longer counts. If the connection breaks before
// the answer arrives, the batch is sent again on another connection; if the first try had
// succeeded, the repeat is recognised and changes nothing.
func (j *Journal) Append(ctx context.Context, b pawl.Batch) error {
	add, err := appending(b)
	if err != nil {
		return err
	}
	err = j.write(ctx, func(ctx context.Context, c *pgx.Conn, again bool) (refusal, broken error) {
		_, refusal, broken = add(ctx, c, again)
		return refusal, broken
	})
	if err == nil {
		j.news.about(b.Run, b.Head.Status == pawl.StatusQueued)
	}
	return err
}

// appending prepares the statement that appends a batch. added is false if a previous try has
// appended it.
func appending(b pawl.Batch) (add func(ctx context.Context, c *pgx.Conn, again bool) (added bool, refusal, broken error), err error) {
	if err := shared.CheckBatch(&b, math.MaxInt64); err != nil {
		return nil, err
	}
	last := b.After + uint64(len(b.Records))
	if b.Epoch > math.MaxInt64 {
		return nil, fmt.Errorf("run %s: epoch %d was never assigned: %w", b.Run, b.Epoch, pawl.ErrFenced)
	}
	var labels []byte
	if len(b.Head.Labels) > 0 {
		if labels, err = json.Marshal(b.Head.Labels); err != nil {
			return nil, fmt.Errorf("run %s: labels: %w", b.Run, err)
		}
	}
	data, sizes := shared.Join(b.Records)
	h, run := b.Head, []byte(b.Run)
	var status string
	if h.Status != 0 {
		status = h.Status.String()
	}
	found := marks(h.Agent, h.Labels)
	lane, rank := place(h.Labels)
	args := []any{
		run, b.Epoch, b.After, last, h.Iterations, h.Cost, h.Priced, instant(h.Updated), status, []byte(h.Agent),
		[]byte(h.Loop), labels, []byte(h.Thread), []byte(h.Parent), []byte(h.Origin), instant(h.Created), instant(h.WakeAt), found,
		sizes, checksum(run, last, sizes, data), data, lane,
	}
	queued, turn, text := "", "", ""
	if h.Status == pawl.StatusQueued {
		queued, turn, args = enterQueue, `, rank = $23, turn = CASE WHEN status = 'queued' THEN turn ELSE (SELECT turn FROM mine) END`, append(args, rank)
	}
	if b.Text != "" {
		args = append(args, lexemes(b.Run+" "+h.Agent+" "+b.Text))
		text = fmt.Sprintf(`, text AS (INSERT INTO texts (run, words) SELECT ref, array_to_tsvector($%d::text[]) FROM run `+replaceText+`)`, len(args))
	}
	return func(ctx context.Context, c *pgx.Conn, again bool) (added bool, refusal, broken error) {
		done, err := c.Exec(ctx, `WITH `+queued+`run AS (
				UPDATE runs SET seq = $4, iterations = $5, cost = $6, priced = $7, updated = $8, status = $9, agent = $10,
					loop = $11, labels = $12, thread = $13, parent = $14, origin = $15, created = $16, wake_at = $17, marks = $18, lane = $22`+turn+`
				WHERE id = $1 AND epoch = $2 AND seq = $3 RETURNING ref)`+text+`
			INSERT INTO batches (run, seq, epoch, sizes, crc, data) SELECT ref, $4, $2, $19, $20, $21 FROM run`, args...)
		if err != nil || done.RowsAffected() == 1 {
			return err == nil, nil, err
		}
		refusal, broken = refuse(ctx, c, b, last, sizes, data, again)
		return false, refusal, broken
	}, nil
}

// refuse returns why a batch was refused, or nil if an earlier try of it was accepted. A
// batch is known by its place, its bytes and its epoch: an epoch has one owner.
func refuse(ctx context.Context, c *pgx.Conn, b pawl.Batch, last uint64, sizes, data []byte, again bool) (refusal, broken error) {
	var epoch, end uint64
	err := c.QueryRow(ctx, `SELECT epoch, seq FROM runs WHERE id = $1`, []byte(b.Run)).Scan(&epoch, &end)
	if errors.Is(err, pgx.ErrNoRows) {
		return shared.Unknown(b.Run), nil
	}
	if err == nil && again {
		var ours bool
		err = c.QueryRow(ctx, `SELECT EXISTS (SELECT FROM batches b JOIN runs r ON r.ref = b.run
			WHERE r.id = $1 AND b.seq = $2 AND b.epoch = $3 AND b.sizes IS NOT DISTINCT FROM $4 AND b.data = $5)`,
			[]byte(b.Run), last, b.Epoch, sizes, data).Scan(&ours)
		if err == nil && ours {
			return nil, nil
		}
	}
	switch {
	case err != nil:
		return nil, err
	case epoch != b.Epoch:
		return shared.Fenced(b.Run, b.Epoch, epoch), nil
	}
	return shared.Conflict(b.Run, end, b.After), nil
}

// checksum detects what the server may not: bytes that changed on its disk, since page
// checksums are optional, and rows that moved.
func checksum(run []byte, last uint64, sizes, data []byte) uint32 {
	crc := crc32.Update(0, castagnoli, run)
	crc = crc32.Update(crc, castagnoli, binary.BigEndian.AppendUint64(nil, last))
	crc = crc32.Update(crc, castagnoli, sizes)
	return crc32.Update(crc, castagnoli, data)
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// marks are what lists search for: digests of the agent and of each label, which fit into an index
// whatever their length.
func marks(agent string, labels map[string]string) [][]byte {
	var out [][]byte
	mark := func(parts ...string) {
		h := sha256.New()
		for _, p := range parts {
			h.Write(binary.AppendUvarint(nil, uint64(len(p))))
			h.Write([]byte(p))
		}
		out = append(out, h.Sum(nil)[:16])
	}
	if agent != "" {
		mark("agent", agent)
	}
	for k, v := range labels {
		mark("label", k, v)
	}
	slices.SortFunc(out, slices.Compare)
	return out
}

// instant converts a time for the database, NULL for the zero time.
func instant(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	t = t.UTC().Truncate(time.Microsecond)
	return &t
}

// moment is the inverse of instant.
func moment(t *time.Time) time.Time {
	if t == nil {
		return time.Time{}
	}
	return t.UTC()
}
