package postgres

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/internal/journals"
	"github.com/pawl-run/pawl/journal/internal/shared"
)

// Append adds a batch; see [pawl.Journal]. An empty batch is an error, and so is one of more than
// 64 MB.
//
// Once the statement is sent, the context no longer counts. If the connection breaks before
// the answer arrives, the batch is sent again on another connection; if the first try had
// succeeded, the repeat is recognised and changes nothing.
func (j *Journal) Append(ctx context.Context, b pawl.Batch) error {
	add, appended, err := j.appending(b)
	if err != nil {
		return err
	}
	err = j.write(ctx, func(ctx context.Context, c *pgx.Conn, again bool) (refusal, broken error) {
		_, refusal, broken = add(ctx, c, again)
		return refusal, broken
	})
	if err == nil {
		appended()
	}
	return err
}

// appending prepares the statement that appends a batch. added is false if a previous try has
// appended it. Once the batch is durable, the caller calls appended.
func (j *Journal) appending(b pawl.Batch) (add func(ctx context.Context, c *pgx.Conn, again bool) (added bool, refusal, broken error), appended func(), err error) {
	if err := shared.CheckBatch(&b, math.MaxInt64); err != nil {
		return nil, nil, err
	}
	last := b.After + uint64(len(b.Records))
	if b.Epoch > math.MaxInt64 {
		return nil, nil, fmt.Errorf("run %s: epoch %d was never assigned: %w", b.Run, b.Epoch, pawl.ErrFenced)
	}
	var labels []byte
	if len(b.Head.Labels) > 0 {
		if labels, err = json.Marshal(b.Head.Labels); err != nil {
			return nil, nil, fmt.Errorf("run %s: labels: %w", b.Run, err)
		}
	}
	data, sizes := shared.Join(b.Records)
	if data, err = j.box.Seal(data, shared.About(b.Run, int64(last))...); err != nil {
		return nil, nil, j.err(err)
	}
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
		sizes, nil, data, lane,
	}
	queued, turn, text := "", "", ""
	if h.Status == pawl.StatusQueued {
		queued, turn, args = enterQueue, `, rank = $23, turn = CASE WHEN status = 'queued' THEN turn ELSE (SELECT turn FROM mine) END`, append(args, rank)
	}
	if b.Text != "" {
		args = append(args, lexemes(b.Run+" "+h.Agent+" "+j.box.Text(b.Text)))
		text = fmt.Sprintf(`, text AS (INSERT INTO texts (run, words) SELECT ref, array_to_tsvector($%d::text[]) FROM run `+replaceText+`)`, len(args))
	}
	var digests []byte
	add = func(ctx context.Context, c *pgx.Conn, again bool) (added bool, refusal, broken error) {
		if digests == nil {
			before, err := j.digestAt(ctx, c, &b)
			if err != nil {
				return false, nil, err
			}
			digests = before.Digests(b.Records)
			args[19] = digests
		}
		done, err := c.Exec(ctx, `WITH `+queued+`run AS (
				UPDATE runs SET seq = $4, iterations = $5, cost = $6, priced = $7, updated = $8, status = $9, agent = $10,
					loop = $11, labels = $12, thread = $13, parent = $14, origin = $15, created = $16, wake_at = $17, marks = $18, lane = $22`+turn+`
				WHERE id = $1 AND epoch = $2 AND seq = $3 RETURNING ref)`+text+`
			INSERT INTO batches (run, seq, epoch, sizes, digests, data) SELECT ref, $4, $2, $19, $20, $21 FROM run`, args...)
		if err != nil || done.RowsAffected() == 1 {
			return err == nil, nil, err
		}
		refusal, broken = refuse(ctx, c, b, last, sizes, data, again)
		return false, refusal, broken
	}
	return add, func() {
		j.ends.Store(b.Run, end{b.Epoch, last, journals.Chain(digests[len(digests)-journals.DigestSize:])})
		j.news.about(b.Run, b.Head.Status == pawl.StatusQueued)
	}, nil
}

// An end is where the log of a run ended after an append of this journal.
type end struct {
	epoch, seq uint64
	digest     journals.Chain
}

// digestAt returns the digest on which a batch follows. An owner asks the server once, for its
// first batch.
func (j *Journal) digestAt(ctx context.Context, c *pgx.Conn, b *pawl.Batch) (digest journals.Chain, err error) {
	if at, ok := j.ends.Load(b.Run); ok && at.(end).epoch == b.Epoch && at.(end).seq == b.After {
		return at.(end).digest, nil
	}
	var last []byte
	if b.After > 0 {
		err = c.QueryRow(ctx, `SELECT `+lastDigest+` FROM runs JOIN batches ON run = ref AND batches.seq = $2 WHERE id = $1`, []byte(b.Run), b.After).Scan(&last)
	}
	if len(last) == 0 && (err == nil || errors.Is(err, pgx.ErrNoRows)) { // the batch is the first, or will be refused
		return journals.NewChain(b.Run), nil
	}
	copy(digest[:], last)
	return digest, err
}

// lastDigest is the digest of the last record of a batch, in SQL.
const lastDigest = `substring(digests FROM octet_length(digests) - 31)`

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
