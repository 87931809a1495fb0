package postgres

import (
	"context"
	"fmt"
	"iter"
	"strings"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/internal/journals"
)

// Search is [Journal.List] for the runs in whose text each of the given words occurs or
// begins a word, whatever its case.
func (j *Journal) Search(ctx context.Context, words string, q pawl.Query) iter.Seq2[pawl.Head, error] {
	return j.list(ctx, q, ascii(journals.Words(words)))
}

const replaceText = `ON CONFLICT (run) DO UPDATE SET words = excluded.words`

// lexemes are the words of a text, as the index has them. The words are cut here and not by
// the server's parser, so that all journals find the same.
func lexemes(text string) []string { return append([]string{}, ascii(journals.Words(text))...) } // nil is NULL

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
