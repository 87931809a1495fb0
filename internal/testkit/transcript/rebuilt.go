package transcript

import (
	"bytes"
	"encoding/json"
	"reflect"
	"slices"
	"strings"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/engine"
)

// rebuilt holds that every request the model was sent can be rebuilt from the
// log: of each run in the order of its calls, some of which were cut short before
// they were sent.
func (s *stage) rebuilt() {
	ctx := s.t.Context()
	s.world.mu.Lock()
	sent := map[string][]pawl.Request{}
	for i := range s.world.requests {
		r := &s.world.requests[i]
		sent[r.Run] = append(sent[r.Run], *r)
	}
	s.world.mu.Unlock()
	for head, err := range s.journal.List(ctx, pawl.Query{}) {
		if err != nil {
			s.t.Error(err)
			return
		}
		var last pawl.Request
		left := sent[head.Run]
		for entry, err := range engine.Entries(ctx, s.journal, head.Run, 1) {
			if err != nil {
				s.t.Error(err)
				return
			}
			if _, called := entry.Event.(pawl.ModelCalled); !called || len(left) == 0 {
				continue
			}
			r, err := engine.RequestAt(ctx, s.journal, head.Run, entry.Seq)
			if err != nil {
				s.t.Errorf("run %s, entry %d: its request cannot be rebuilt: %v", head.Run, entry.Seq, err)
				continue
			}
			last = r.Request
			if sameRequest(left[0], last) {
				left = left[1:]
			}
		}
		if len(left) > 0 {
			s.t.Errorf("run %s: a request is not what its log makes of it (-sent +rebuilt, which may be another):\n%s", head.Run, cmp.Diff(left[0], last, alike))
		}
	}
}

// alike compares what is the same to a provider: a log holds no white space of JSON.
var alike = cmp.Options{
	cmp.FilterPath(func(p cmp.Path) bool { return p.Last().Type() != reflect.TypeFor[json.RawMessage]() }, cmpopts.EquateEmpty()),
	cmp.Comparer(func(a, b json.RawMessage) bool { return bytes.Equal(flat(a), flat(b)) }),
	// A request that is rebuilt has files by reference, and the model reads text in their place.
	cmp.FilterValues(func(a, b pawl.Part) bool { return isFile(a) != isFile(b) }, cmp.Comparer(func(a, b pawl.Part) bool {
		if isFile(a) {
			a, b = b, a
		}
		text, read := a.(pawl.Text)
		f := b.(pawl.File)
		return read && strings.HasPrefix(text.Text, "[file ") && strings.Contains(text.Text, f.Name)
	})),
}

func isFile(p pawl.Part) bool { _, is := p.(pawl.File); return is }

func sameRequest(a, b pawl.Request) bool {
	return slices.Equal(a.Marks, b.Marks) && cmp.Equal(a, b, alike)
}

func flat(raw json.RawMessage) []byte {
	var b bytes.Buffer
	if json.Compact(&b, raw) != nil {
		return raw
	}
	return b.Bytes()
}
