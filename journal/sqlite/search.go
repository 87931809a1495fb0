package sqlite

import (
	"context"
	"iter"
	"strings"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/internal/journals"
)

// Search is [Journal.List] for the runs in whose text each of the given words occurs or
// begins a word, whatever its case.
func (j *Journal) Search(ctx context.Context, words string, q pawl.Query) iter.Seq2[pawl.Head, error] {
	return j.list(ctx, q, journals.Words(words))
}

// match is a full-text query for words and beginnings of words. Words have no quotes.
func match(words []string) string { return `"` + strings.Join(words, `"* "`) + `"*` }

// setText makes a run findable by its id, its agent and the words of a batch's text, and by no others.
func (w *writer) setText(ref int64, b *pawl.Batch) error {
	if b.Text == "" {
		return nil
	}
	return w.exec(`INSERT OR REPLACE INTO texts (rowid, words) VALUES (?, ?)`, ref, strings.Join(journals.Words(b.Run+" "+b.Head.Agent+" "+w.box.Text(b.Text)), " "))
}
