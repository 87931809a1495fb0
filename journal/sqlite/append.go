package sqlite

import (
	"context"
	"encoding/json"
	"math"

	"github.com/ncruces/go-sqlite3"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/internal/journals"
	"github.com/pawl-run/pawl/journal/internal/shared"
)

// Append adds a batch; see [pawl.Journal]. An empty batch is an error, and so is one of more than
// 64 MB.
func (j *Journal) Append(ctx context.Context, b pawl.Batch) error {
	return j.appendWith(ctx, b, func(w *writer) (refusal, broken error) {
		run, refusal, broken := w.check(b)
		if refusal != nil || broken != nil {
			return refusal, broken
		}
		return nil, w.append(run, b)
	})
}

// appendWith checks the size of a batch and runs do, which appends it, in a transaction.
func (j *Journal) appendWith(ctx context.Context, b pawl.Batch, do func(w *writer) (refusal, broken error)) error {
	if err := shared.CheckBatch(&b, math.MaxUint32); err != nil {
		return err
	}
	err := j.write(ctx, do)
	if err == nil {
		j.logs.Ring(b.Run)
	}
	if err == nil && b.Head.Status == pawl.StatusQueued {
		j.logs.Ring("") // see WatchQueue
	}
	return err
}

// write runs do in a transaction. A refusal is returned as it is; an error of the database
// is wrapped with the file's name.
func (j *Journal) write(ctx context.Context, do func(w *writer) (refusal, broken error)) error {
	if j.writer == nil {
		return j.err(ErrReadOnly)
	}
	var refused error
	err := j.writer.write(ctx, func(w *writer) (broken error) {
		refused, broken = do(w)
		return broken
	})
	if err != nil {
		return j.err(err)
	}
	return refused
}

// A target is what a write needs to know of its run.
type target struct {
	ref    int64
	epoch  uint64
	end    uint64         // the last record
	chain  journals.Chain // the digest there
	status string
	labels string // as JSON, or empty
}

// find returns a run, or nil if there is none.
func (w *writer) find(run string) (*target, error) {
	var t target
	found, err := w.first(`SELECT ref, epoch, status, labels, last.id & 4294967295, substr(last.digests, -32) FROM runs
		LEFT JOIN batches AS last ON last.id = (SELECT max(id) FROM batches WHERE id > ref << 32 AND id <= (ref << 32) + 4294967295) WHERE runs.id = ?`,
		func(s *sqlite3.Stmt) {
			t = target{ref: s.ColumnInt64(0), epoch: uint64(s.ColumnInt64(1)), status: s.ColumnText(2), labels: s.ColumnText(3)}
			if t.end = uint64(s.ColumnInt64(4)); t.end == 0 {
				t.chain = journals.NewChain(run)
			} else {
				copy(t.chain[:], s.ColumnRawBlob(5)) // a shorter one is damaged, as reading it says
			}
		}, run)
	if err != nil || !found {
		return nil, err
	}
	return &t, nil
}

// check returns the run of a batch, or refuses a batch that does not fit there.
func (w *writer) check(b pawl.Batch) (t *target, refusal, broken error) {
	t, err := w.find(b.Run)
	switch {
	case err != nil:
		return nil, nil, err
	case t == nil:
		return nil, shared.Unknown(b.Run), nil
	case t.epoch != b.Epoch:
		return nil, shared.Fenced(b.Run, b.Epoch, t.epoch), nil
	case t.end != b.After:
		return nil, shared.Conflict(b.Run, t.end, b.After), nil
	}
	return t, nil, nil
}

// append writes a batch that was checked.
func (w *writer) append(t *target, b pawl.Batch) error {
	id := t.ref<<32 | int64(b.After) + int64(len(b.Records))
	data, sizes := shared.Join(b.Records)
	data, err := w.box.Seal(data, shared.About(b.Run, id&math.MaxUint32)...)
	if err != nil {
		return err
	}
	err = w.exec(`INSERT INTO batches (id, iterations, cost, priced, updated, sizes, digests, data) VALUES (?, ?, ?, ?, ?, ?, ?, ?)`,
		id, b.Head.Iterations, b.Head.Cost, b.Head.Priced, b.Head.Updated, sizes, t.chain.Digests(b.Records), data)
	if err != nil {
		return err
	}
	if err := w.setText(t.ref, &b); err != nil {
		return err
	}
	if b.Head.Status == pawl.StatusQueued && t.status != b.Head.Status.String() {
		if err := w.setPlace(t.ref, &b.Head); err != nil {
			return err
		}
	}
	return w.setHead(t, b.Head)
}

// setHead writes the part of a head that the table runs has, if it has changed; the figures are in
// the batch.
func (w *writer) setHead(t *target, h pawl.Head) error {
	var status, labels string
	if h.Status != 0 {
		status = h.Status.String()
	}
	if len(h.Labels) > 0 {
		text, err := json.Marshal(h.Labels)
		if err != nil {
			return err
		}
		labels = string(text)
	}
	if err := w.setLabels(t, labels); err != nil {
		return err
	}
	return w.exec(`UPDATE runs SET (status, agent, loop, labels, thread, parent, origin, created, wake_at) = (?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)
		WHERE ref = ?1 AND (status, agent, loop, labels, thread, parent, origin, created, wake_at) IS NOT (?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)`,
		t.ref, status, h.Agent, h.Loop, labels, h.Thread, h.Parent, h.Origin, h.Created, h.WakeAt)
}

// setLabels makes a run findable by the labels of a JSON object, and by no others.
func (w *writer) setLabels(t *target, labels string) error {
	if labels == t.labels {
		return nil
	}
	for _, set := range []struct{ labels, sql string }{
		{t.labels, `DELETE FROM labels WHERE name = ? AND value = ? AND run = ?`},
		{labels, `INSERT INTO labels (name, value, run) VALUES (?, ?, ?)`},
	} {
		if set.labels == "" {
			continue
		}
		var values map[string]string
		if err := json.Unmarshal([]byte(set.labels), &values); err != nil {
			return err
		}
		for name, value := range values {
			if err := w.exec(set.sql, name, value, t.ref); err != nil {
				return err
			}
		}
	}
	return nil
}
