package sqlite

import (
	"context"
	"iter"
	"strings"

	"github.com/ncruces/go-sqlite3"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/internal/outage"
	"github.com/pawl-run/pawl/internal/redact"
	"github.com/pawl-run/pawl/internal/wordset"
)

// Search is [Journal.List] for the runs in whose text each of the given words occurs or
// begins a word, whatever its case. The first search of a database of an older version
// reads all of its logs, to index them; a journal that is open for reading only does not.
func (j *Journal) Search(ctx context.Context, words string, q pawl.Query) iter.Seq2[pawl.Head, error] {
	return func(yield func(pawl.Head, error) bool) {
		if err := j.indexOld(ctx); err != nil {
			yield(pawl.Head{}, err)
			return
		}
		for h, err := range j.list(ctx, q, wordset.Of(words)) {
			if !yield(h, err) {
				return
			}
		}
	}
}

// match is a full-text query for words and beginnings of words. Words have no quotes.
func match(words []string) string { return `"` + strings.Join(words, `"* "`) + `"*` }

// setText makes a run findable by the words of a text, and by no others.
func (w *writer) setText(ref int64, text string) error {
	if text == "" {
		return nil
	}
	return w.exec(`INSERT OR REPLACE INTO texts (rowid, words) VALUES (?, ?)`, ref, strings.Join(wordset.Of(text), " "))
}

// indexOld indexes the runs of a database that had no index.
func (j *Journal) indexOld(ctx context.Context) error {
	if j.writer == nil {
		return nil
	}
	for {
		var ref int64
		var run string
		err := j.pool.read(ctx, func(r *reader) error {
			return r.query(`SELECT run, id FROM unindexed JOIN runs ON ref = run LIMIT 1`, func(s *sqlite3.Stmt) (bool, error) {
				ref, run = s.ColumnInt64(0), s.ColumnText(1)
				return false, nil
			})
		})
		if err != nil || ref == 0 {
			return j.err(err)
		}
		text, err := j.textOf(ctx, run)
		if err != nil {
			return err
		}
		if err := j.write(ctx, func(w *writer) (refusal, broken error) {
			if err := w.setText(ref, text); err != nil {
				return nil, err
			}
			return nil, w.exec(`DELETE FROM unindexed WHERE run = ?`, ref)
		}); err != nil {
			return err
		}
	}
}

// textOf is the text of a run's log. A log that cannot be read has none: it must not keep
// others from being found.
func (j *Journal) textOf(ctx context.Context, run string) (string, error) {
	var s pawl.State
	for row, err := range j.Read(ctx, run, 1) {
		if err == nil {
			var e pawl.Entry
			if e, err = pawl.DecodeEntry(row.Data); err == nil {
				s.Fold(e)
				continue
			}
		}
		if ctx.Err() != nil || outage.Is(err) {
			return "", err
		}
		return "", nil
	}
	return redact.Text(s.Text()), nil
}
