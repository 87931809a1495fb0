package memory

import (
	"bytes"
	"context"
	"fmt"
	"iter"
	"maps"
	"slices"
	"strings"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/approval"
)

var _ approval.Keeper = (*Journal)(nil)

// Kept yields the records with a prefix; see [approval.Keeper].
func (j *Journal) Kept(ctx context.Context, prefix string) iter.Seq2[approval.Record, error] {
	return func(yield func(approval.Record, error) bool) {
		j.mu.Lock()
		all := maps.Clone(j.kept)
		j.mu.Unlock()
		for _, name := range slices.Sorted(maps.Keys(all)) {
			if err := ctx.Err(); err != nil {
				yield(approval.Record{}, err)
				return
			}
			if strings.HasPrefix(name, prefix) && !yield(approval.Record{Name: name, Data: bytes.Clone(all[name])}, nil) {
				return
			}
		}
	}
}

// Keep replaces a record; see [approval.Keeper].
func (j *Journal) Keep(ctx context.Context, name string, was, now []byte) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	if is, known := j.kept[name]; known != (was != nil) || !bytes.Equal(is, was) {
		return fmt.Errorf("record %s: %w", name, pawl.ErrConflict)
	}
	if now == nil {
		delete(j.kept, name)
		return nil
	}
	if j.kept == nil {
		j.kept = map[string][]byte{}
	}
	j.kept[name] = bytes.Clone(now)
	return nil
}
