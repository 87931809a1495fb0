package desk

import (
	"iter"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/internal/redact"
)

// Redacted are entries as they may be shown: the journal has what was said and
// done, and who reads about it need not have the keys.
func Redacted(entries iter.Seq2[pawl.Entry, error]) iter.Seq2[pawl.Entry, error] {
	return func(yield func(pawl.Entry, error) bool) {
		for e, err := range entries {
			if err == nil {
				e, err = withoutSecrets(e)
			}
			if !yield(e, err) {
				return
			}
		}
	}
}

func withoutSecrets(e pawl.Entry) (pawl.Entry, error) {
	line, err := e.AppendJSON(nil)
	if err != nil {
		return e, err
	}
	return pawl.DecodeEntry(redact.JSON(line))
}
