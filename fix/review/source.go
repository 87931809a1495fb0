package review

import (
	"errors"
	"fmt"

	"github.com/pawl-run/pawl/fix/internal/project"
)

// A Source says what a run reviews, and what is known of the change besides: enough to make
// its agent again and to conclude it in another process, which need not have the change. It
// is what Agent.Source holds as JSON.
type Source struct {
	Dir    string      `json:"dir"`
	Model  string      `json:"model"`
	Format string      `json:"format"`
	Files  []Reviewing `json:"files"`  // those of the run's input
	Report Report      `json:"report"` // without what the run finds
}

// A Reviewing is a file that a run reviews.
type Reviewing struct {
	Path string `json:"path"`
	Key  string `json:"key"` // of its result in a [Cache]; empty: it is not kept
}

// sourceKind distinguishes a review from other sources of agents.
const sourceKind = "review"

// Check says what the source lacks.
func (s Source) Check() error {
	if s.Model == "" || len(s.Files) == 0 {
		return errors.New("it needs a model and files")
	}
	return nil
}

// ParseSource reads what Source.String wrote. The second result is false for the source of
// another kind of agent; the error is about a source of this kind.
func ParseSource(text string) (Source, bool, error) {
	return project.ParseSource[Source](text, sourceKind, "a review")
}

// String writes the source as JSON.
func (s Source) String() string { return project.SourceText(sourceKind, s) }

// Conclude completes the report with the results of a run, and keeps each of them in the
// cache. It returns the files without a result. Nil is no cache.
func (s Source) Conclude(results []*Judged, cache *Cache) (r *Report, open []string) {
	r = &s.Report
	for i, f := range s.Files {
		if i >= len(results) || results[i] == nil {
			open = append(open, f.Path)
			continue
		}
		r.add(f.Path, *results[i])
		if err := cache.put(f.Key, *results[i]); err != nil {
			r.Notes = append(r.Notes, fmt.Sprintf("the result of %s is not kept for the next review: %v", f.Path, err))
		}
	}
	r.sort()
	return r, open
}
