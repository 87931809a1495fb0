package mechanic

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"sync"

	"github.com/pawl-run/pawl/fix/internal/goedit"
)

// shelf remembers the latest lists of candidates, which cost more than all the
// rest of a reply. It is only a memory: the same key always has the same list.
type shelf struct {
	mu    sync.Mutex
	lists []list // latest last
}

type list struct {
	key   [sha256.Size]byte
	edits []candidate
}

// mostLists is enough for a few runs at once, each some states deep.
const mostLists = 16

// candidates lists the edits to try on a state of the files, likeliest first: those from
// compiler messages before those from test failures.
func (s *shelf) candidates(l *level) ([]candidate, error) {
	files, h, build := l.files, l.hints(), complaints(l.details.Failures)
	sum := sha256.New()
	for _, c := range build {
		fmt.Fprintf(sum, "%q %d %d %q\n", c.file, c.line, c.col, c.text)
	}
	hints, err := json.Marshal(h)
	if err != nil {
		return nil, fmt.Errorf("write the hints: %w", err)
	}
	_, _ = sum.Write(hints)
	for _, name := range slices.Sorted(maps.Keys(files)) {
		fmt.Fprintf(sum, "\n%q %d ", name, len(files[name]))
		_, _ = sum.Write([]byte(files[name]))
	}
	k := [sha256.Size]byte(sum.Sum(nil))

	s.mu.Lock()
	for _, l := range s.lists {
		if l.key == k {
			s.mu.Unlock()
			return l.edits, nil
		}
	}
	s.mu.Unlock()
	edits := buildEdits(files, build)
	if len(h.Failures) > 0 {
		more, err := goedit.Candidates(files.fs(), h, &goedit.Options{Limit: mostEdits, Importer: library(files)})
		if err != nil {
			return nil, err
		}
		for _, e := range more {
			edits = append(edits, proposal(e))
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.lists = append(s.lists, list{k, edits})
	s.lists = s.lists[max(0, len(s.lists)-mostLists):]
	return edits, nil
}

// proposal writes a candidate as try_edits takes it.
func proposal(e goedit.Edit) candidate {
	c := tryEdit{editArgs: editArgs{Path: e.File, Old: e.Old, New: e.New}}
	for _, p := range e.Also {
		c.Also = append(c.Also, editArgs{Path: e.File, Old: p.Old, New: p.New})
	}
	return candidate{c, fmt.Sprintf("%s:%d %s", e.File, e.Line, e.Rule)}
}
