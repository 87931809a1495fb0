package postgres

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"strings"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/internal/outage"
	"github.com/pawl-run/pawl/internal/redact"
	"github.com/pawl-run/pawl/internal/wordset"
)

// Search is [Journal.List] for the runs in whose text each of the given words occurs or
// begins a word, whatever its case. The first search of a database of an older version
// reads all of its logs, to index them.
func (j *Journal) Search(ctx context.Context, words string, q pawl.Query) iter.Seq2[pawl.Head, error] {
	return func(yield func(pawl.Head, error) bool) {
		if err := j.indexOld(ctx); err != nil {
			yield(pawl.Head{}, err)
			return
		}
		for h, err := range j.list(ctx, q, ascii(wordset.Of(words))) {
			if !yield(h, err) {
				return
			}
		}
	}
}

const replaceText = `ON CONFLICT (run) DO UPDATE SET words = excluded.words`

// lexemes are the words of a text, as the index has them. The words are cut here and not by
// the server's parser, so that all journals find the same.
func lexemes(text string) []string { return append([]string{}, ascii(wordset.Of(text))...) } // nil is NULL

// ascii escapes what not every encoding of a database can hold. A beginning of a word
// stays a beginning of it.
func ascii(words []string) []string {
	for i, w := range words {
		var b strings.Builder
		for _, c := range []byte(w) {
			if c < 0x80 {
				b.WriteByte(c)
			} else {
				fmt.Fprintf(&b, "%%%02x", c)
			}
		}
		words[i] = b.String()
	}
	return words
}

// match is a full-text query for words and beginnings of words. Words have no quotes.
func match(words []string) string { return `'` + strings.Join(words, `':* & '`) + `':*` }

// indexOld indexes the runs of a database that had no index.
func (j *Journal) indexOld(ctx context.Context) error {
	for {
		var ref int64
		var run []byte
		err := j.read(ctx, func(ctx context.Context, c *conn, _ bool) (refusal, broken error) {
			err := c.QueryRow(ctx, `SELECT run, id FROM unindexed JOIN runs ON ref = run LIMIT 1`).Scan(&ref, &run)
			if errors.Is(err, errNoRows) {
				err = nil
			}
			return nil, err
		})
		if err != nil || ref == 0 {
			return err
		}
		words, err := j.wordsOf(ctx, string(run))
		if err != nil {
			return err
		}
		if err := j.write(ctx, func(ctx context.Context, c *conn, _ bool) (refusal, broken error) {
			_, err := c.Exec(ctx, `WITH old AS (DELETE FROM unindexed WHERE run = $1 RETURNING run)
				INSERT INTO texts (run, words) SELECT run, array_to_tsvector($2::text[]) FROM old `+replaceText, ref, words)
			return nil, err
		}); err != nil {
			return err
		}
	}
}

// wordsOf are the words of a run's log. A log that cannot be read has none: it must not
// keep others from being found.
func (j *Journal) wordsOf(ctx context.Context, run string) ([]string, error) {
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
			return nil, err
		}
		return []string{}, nil
	}
	return lexemes(redact.Text(s.Text())), nil
}
