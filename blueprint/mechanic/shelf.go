package mechanic

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"sync"

	"github.com/pawl-run/pawl/internal/goedit"
)

// shelf remembers the latest lists of candidates, which cost more than all the
// rest of a reply. It is only a memory: the same key always has the same list.
type shelf struct {
	mu    sync.Mutex
	lists []list // latest last
}

type list struct {
	key   [sha256.Size]byte
	edits []goedit.Edit
}

// mostLists is enough for a few runs at once, each some states deep.
const mostLists = 16

func (s *shelf) candidates(files memory, h goedit.Hints) ([]goedit.Edit, error) {
	sum := sha256.New()
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
	edits, err := goedit.Candidates(files, h, &goedit.Options{Limit: mostEdits, Importer: library(files)})
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.lists = append(s.lists, list{k, edits})
	s.lists = s.lists[max(0, len(s.lists)-mostLists):]
	return edits, nil
}
