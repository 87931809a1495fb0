package sqlite

import (
	"bytes"
	"cmp"
	"context"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"hash/crc32"
	"maps"
	"math"
	"slices"

	"github.com/pawl-run/pawl"
)

// known is what the writer remembers of a run, so that a commit need not look it up. ref
// never changes; epoch and end are valid while no other connection has written, which
// SQLite reports; head is valid while the log ends where this process left it.
type known struct {
	ref   int64
	seen  uint64 // the writer's view in which epoch and end were read or written
	epoch uint64
	end   uint64
	head  *pawl.Head // nil: unknown
}

// Append adds a batch; see [pawl.Journal]. An empty batch is an error, and so is one of more than
// 64 MB.
func (j *Journal) Append(ctx context.Context, b pawl.Batch) error {
	return j.appendWith(ctx, b, func(w *writer, last uint64, size int) (refusal, broken error) { return w.append(b, last, size) })
}

// appendWith checks a batch and runs do, which appends it, in a transaction.
func (j *Journal) appendWith(ctx context.Context, b pawl.Batch, do func(w *writer, last uint64, size int) (refusal, broken error)) error {
	size := 0
	for _, r := range b.Records {
		size += len(r)
	}
	last := b.After + uint64(len(b.Records))
	switch {
	case len(b.Records) == 0:
		return fmt.Errorf("run %s: a batch needs at least one record", b.Run)
	case size > maxBytes:
		return fmt.Errorf("run %s: a batch of %d bytes exceeds the limit of %d", b.Run, size, maxBytes)
	case last > math.MaxUint32:
		return fmt.Errorf("run %s: a log ends at record %d: %w", b.Run, uint32(math.MaxUint32), pawl.ErrConflict)
	}
	err := j.write(ctx, func(w *writer) (error, error) { return do(w, last, size) })
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
	err := j.writer.write(ctx, func(w *writer) (error, error) {
		var broken error
		refused, broken = do(w)
		return nil, broken
	})
	if err != nil {
		return j.err(err)
	}
	return refused
}

// place finds the run of a batch, and refuses a batch that does not fit there.
func (w *writer) place(b pawl.Batch) (k *known, refusal, broken error) {
	k, err := w.look(b.Run)
	switch {
	case err != nil:
		return nil, nil, err
	case k == nil:
		return nil, unknown(b.Run), nil
	case k.epoch != b.Epoch:
		return nil, fenced(b.Run, b.Epoch, k.epoch), nil
	case k.end != b.After:
		return nil, fmt.Errorf("run %s: the log ends at %d, not at %d: %w", b.Run, k.end, b.After, pawl.ErrConflict), nil
	}
	return k, nil, nil
}

func (w *writer) append(b pawl.Batch, last uint64, size int) (refusal, broken error) {
	k, refusal, broken := w.place(b)
	if refusal != nil || broken != nil {
		return refusal, broken
	}
	if err := w.insert(k.ref, last, size, b); err != nil {
		return nil, err
	}
	if err := w.setText(k.ref, b.Text); err != nil {
		return nil, err
	}
	k.end = last
	if k.head != nil && sameHead(*k.head, b.Head) {
		return nil, nil
	}
	if b.Head.Status == pawl.StatusQueued {
		if err := w.setPlace(k.ref, &b.Head); err != nil {
			return nil, err
		}
	}
	if err := w.setHead(k.ref, b.Head); err != nil {
		return nil, err
	}
	head := b.Head
	head.Labels = maps.Clone(b.Head.Labels)
	k.head = &head
	return nil, nil
}

// look returns the state of a run within the current transaction; nil if there is no run.
func (w *writer) look(run string) (*known, error) {
	k := w.known[run]
	if k != nil && k.seen == w.view {
		return k, nil
	}
	if k == nil {
		k = &known{}
		s := w.stmts.find
		if err := bind(s, run); err != nil {
			return nil, err
		}
		found, err := first(s, func() { k.ref = s.ColumnInt64(0) })
		if err != nil || !found {
			return nil, err
		}
	}
	s := w.stmts.end
	if err := s.BindInt64(1, k.ref); err != nil {
		return nil, err
	}
	was := k.end
	found, err := first(s, func() {
		k.epoch = uint64(s.ColumnInt64(0))
		k.end = uint64(s.ColumnInt64(1)) & math.MaxUint32
	})
	if err == nil && !found && w.known[run] == k { // another process removed it, and may have created it again
		delete(w.known, run)
		return w.look(run)
	}
	if err != nil || !found {
		return nil, err
	}
	if k.end != was {
		k.head = nil
	}
	k.seen = w.view
	w.known[run] = k
	return k, nil
}

// insert writes the batch as one row.
func (w *writer) insert(ref int64, last uint64, size int, b pawl.Batch) error {
	id := ref<<32 | int64(last)
	data, sizes := b.Records[0], w.sizes[:0]
	if len(b.Records) > 1 {
		data = slices.Grow(w.joined[:0], size)
		for i, r := range b.Records {
			data = append(data, r...)
			if i < len(b.Records)-1 {
				sizes = binary.AppendUvarint(sizes, uint64(len(r)))
			}
		}
		if w.sizes = sizes; cap(data) <= mostScratch {
			w.joined = data
		}
	}
	h, s := &b.Head, w.stmts.insert
	updated := s.BindNull(5) // one by one, for speed: every step waits for this
	if !h.Updated.IsZero() {
		updated = s.BindInt64(5, nanos(h.Updated))
	}
	err := cmp.Or(s.BindInt64(1, id), s.BindInt(2, h.Iterations), s.BindFloat(3, h.Cost), s.BindBool(4, h.Priced), updated,
		s.BindBlob(6, sizes), s.BindInt64(7, int64(checksum(id, sizes, data))), s.BindBlob(8, data))
	if err != nil {
		return err
	}
	return s.Exec()
}

// mostScratch bounds the memory kept for joining the records of a batch.
const mostScratch = 64 << 10

// checksum detects what SQLite does not look for: bytes that changed on the disk.
func checksum(id int64, sizes, data []byte) int32 {
	crc := ^uint32(0)
	for shift := 56; shift >= 0; shift -= 8 { // crc32.Update of its eight bytes, which would allocate
		crc = castagnoli[byte(crc)^byte(uint64(id)>>shift)] ^ crc>>8
	}
	crc = crc32.Update(^crc, castagnoli, sizes)
	return int32(crc32.Update(crc, castagnoli, data))
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// sameHead compares the parts of a head that the table runs has; the figures are in the batch.
func sameHead(a, b pawl.Head) bool {
	return a.Status == b.Status && a.Agent == b.Agent && a.Loop == b.Loop && a.Thread == b.Thread &&
		a.Parent == b.Parent && a.Origin == b.Origin && a.Created.Equal(b.Created) && a.WakeAt.Equal(b.WakeAt) &&
		maps.Equal(a.Labels, b.Labels)
}

func (w *writer) setHead(ref int64, h pawl.Head) error {
	var status string
	if h.Status != 0 {
		status = h.Status.String()
	}
	var labels any
	var text []byte
	if len(h.Labels) > 0 {
		var err error
		if text, err = json.Marshal(h.Labels); err != nil {
			return err
		}
		labels = string(text)
	}
	if err := w.setLabels(ref, text); err != nil {
		return err
	}
	s := w.stmts.head
	if err := bind(s, ref, status, h.Agent, h.Loop, labels, h.Thread, h.Parent, h.Origin, h.Created, h.WakeAt); err != nil {
		return err
	}
	return s.Exec()
}

// setLabels makes a run findable by the labels of a JSON object, and by no others.
func (w *writer) setLabels(ref int64, text []byte) error {
	s := w.stmts.labels
	if err := bind(s, ref); err != nil {
		return err
	}
	var old []byte
	if _, err := first(s, func() { old = s.ColumnBlob(0, nil) }); err != nil || bytes.Equal(old, text) {
		return err
	}
	for _, set := range []struct {
		text []byte
		sql  string
	}{
		{old, `DELETE FROM labels WHERE name = ? AND value = ? AND run = ?`},
		{text, `INSERT INTO labels (name, value, run) VALUES (?, ?, ?)`},
	} {
		var labels map[string]string
		if len(set.text) > 0 {
			if err := json.Unmarshal(set.text, &labels); err != nil {
				return err
			}
		}
		for name, value := range labels {
			if err := w.exec(set.sql, name, value, ref); err != nil {
				return err
			}
		}
	}
	return nil
}

func unknown(run string) error { return fmt.Errorf("run %s: %w", run, pawl.ErrUnknownRun) }

func fenced(run string, have, want uint64) error {
	return fmt.Errorf("run %s: the caller has epoch %d, the lease is at %d: %w", run, have, want, pawl.ErrFenced)
}
