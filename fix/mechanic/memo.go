package mechanic

import (
	"crypto/sha256"
	"fmt"
	"go/types"
	"sync"

	"github.com/pawl-run/pawl/fix/internal/goedit"
)

// memo remembers what costs more than all the rest of a reply, for all mechanics of the process. It is only a
// memory: the same key always has the same value.
type memo[V any] struct {
	mu    sync.Mutex
	known map[[sha256.Size]byte]V
}

// mostKnown is enough for a few runs at once, each some states deep.
const mostKnown = 16

// of returns the value for a key, and makes it if it is not known.
func (m *memo[V]) of(key []any, make func() (V, error)) (V, error) {
	sum := sha256.Sum256(fmt.Appendf(nil, "%#v", key))
	m.mu.Lock()
	v, ok := m.known[sum]
	m.mu.Unlock()
	if ok {
		return v, nil
	}
	v, err := make()
	if err != nil {
		return v, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(m.known) == mostKnown || m.known == nil {
		m.known = map[[sha256.Size]byte]V{}
	}
	m.known[sum] = v
	return v, nil
}

var (
	lists     memo[[]candidate]
	libraries memo[types.Importer]
)

// candidates lists the edits to try on a state of the files, likeliest first: those from
// compiler messages before those from test failures.
func candidates(l *level) ([]candidate, error) {
	files, h, build := l.files, l.hints(), complaints(l.details.Failures)
	return lists.of([]any{files, h, build}, func() ([]candidate, error) {
		edits := buildEdits(files, build)
		if len(h.Failures) == 0 {
			return edits, nil
		}
		more, err := goedit.Candidates(files.fs(), h, &goedit.Options{Limit: mostEdits, Importer: library(files)})
		for _, e := range more {
			edits = append(edits, proposal(e))
		}
		return edits, err
	})
}

// proposal writes a candidate as try_edits takes it.
func proposal(e goedit.Edit) candidate {
	c := tryEdit{editArgs: editArgs{Path: e.File, Old: e.Old, New: e.New}}
	for _, p := range e.Also {
		c.Also = append(c.Also, editArgs{Path: e.File, Old: p.Old, New: p.New})
	}
	return candidate{c, fmt.Sprintf("%s:%d %s", e.File, e.Line, e.Rule)}
}

// library returns the importer for files; nil: there is none. It depends on nothing but the requirements, the
// imports and the toolchain.
func library(files memory) types.Importer {
	found, _ := libraries.of([]any{files["go.mod"], imports(files)}, func() (types.Importer, error) { return outside(files), nil }) // it never fails
	return found
}
