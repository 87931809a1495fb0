package memory

import (
	"bytes"
	"context"
	"iter"
	"sort"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/internal/sabotage"
)

// An office is where letters lie: all of them in order of ID, and the same by
// run, since every owner looks for its own once a second; known says what makes
// a letter unique.
type office struct {
	all   []*pawl.Letter
	byRun map[string][]*pawl.Letter
	known map[address]*pawl.Letter
	last  int64 // the ID given last
}

type address struct {
	run     string
	kind    pawl.LetterKind
	request string
}

// Post keeps a letter; see [pawl.Mailbox].
func (j *Journal) Post(ctx context.Context, l pawl.Letter) (pawl.Letter, error) {
	if err := ctx.Err(); err != nil {
		return pawl.Letter{}, err
	}
	if _, err := l.Kind.MarshalText(); err != nil {
		return pawl.Letter{}, err
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	if _, err := j.run(l.Run); err != nil { // under the lock, or it may be removed in between
		return pawl.Letter{}, err
	}
	o := &j.office
	at := address{l.Run, l.Kind, l.Request}
	if first, ok := o.known[at]; ok && !sabotage.On(sabotage.Letters) {
		if !bytes.Equal(first.Body, l.Body) {
			return pawl.Letter{}, &pawl.LetterConflictError{First: handOut(first)}
		}
		return handOut(first), nil
	}
	if o.known == nil {
		o.byRun, o.known = make(map[string][]*pawl.Letter), make(map[address]*pawl.Letter)
	}
	o.last++
	l.ID = o.last
	l.Body = bytes.Clone(l.Body)
	o.all = append(o.all, &l)
	o.byRun[l.Run] = append(o.byRun[l.Run], &l)
	o.known[at] = &l
	return handOut(&l), nil
}

// handOut copies a letter, so that the caller may change it.
func handOut(l *pawl.Letter) pawl.Letter {
	out := *l
	out.Body = bytes.Clone(l.Body)
	return out
}

// Letters yields letters in order of ID; see [pawl.Mailbox].
func (j *Journal) Letters(ctx context.Context, run string, after int64) iter.Seq2[pawl.Letter, error] {
	return func(yield func(pawl.Letter, error) bool) {
		j.mu.Lock()
		letters := j.office.all
		if run != "" {
			letters = j.office.byRun[run]
		}
		j.mu.Unlock()
		from := sort.Search(len(letters), func(i int) bool { return letters[i].ID > after })
		for _, l := range letters[from:] {
			if err := ctx.Err(); err != nil {
				yield(pawl.Letter{}, err)
				return
			}
			if !yield(handOut(l), nil) {
				return
			}
		}
	}
}
