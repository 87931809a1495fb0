package pawl

import (
	"bytes"
	"encoding/json"
	"iter"
	"maps"
	"slices"
	"strings"

	"github.com/pawl-run/pawl/internal/wire"
)

// memory is what parties keep in the log for later: loops and policies for themselves, the machine
// for itself, the model for its calls. Each reads what it has noted; Decide reads the notices and
// what a budget refused.
type memory struct {
	notes        map[string]json.RawMessage // the latest, by party and name
	notices      map[string]NoticeGiven     // the latest about each limit and budget
	instructions string                     // that the model has read last
}

func (s *State) foldMemory(event Event) {
	switch e := event.(type) {
	case Noted:
		s.note(&e)
	case MemoryStored:
		put(&s.notes, memoryNote+e.Key, e.Value)
	}
}

func (s *State) note(e *Noted) {
	put(&s.notes, e.By+"\x00"+e.Name, e.Value)
	s.take(e.Signal)
	switch {
	case e.Imported():
		s.signal = 0
		s.unwatch()
	case e.By == looper && e.Name == callsNote:
		s.openCalls(e.Value)
	case e.By == finds:
		var names []string
		_ = json.Unmarshal(e.Value, &names) // which is the machine's own
		s.find(names...)
	case e.By == completeTool:
		done := wire.ReadCompletion(e.Value)
		if done == nil {
			return
		}
		if s.complete = done; done.Sure {
			s.confidence = new(done.Confidence)
		}
	}
}

// memoryNote is what the keys of the model's own values begin with among the notes.
const memoryNote = "\x00memory\x00"

// Note returns what was last noted by the given party under the given name.
func (s *State) Note(by, name string) (json.RawMessage, bool) {
	value, ok := s.notes[by+"\x00"+name]
	return bytes.Clone(value), ok
}

// Memory returns what the model stored under a key.
func (s *State) Memory(key string) (json.RawMessage, bool) {
	value, ok := s.notes[memoryNote+key]
	return bytes.Clone(value), ok
}

// Memories yields the keys under which the model stored something, sorted; see
// [State.Memory]. It costs O(what is noted).
func (s Internals) Memories() iter.Seq[string] {
	return func(yield func(string) bool) {
		for _, key := range slices.Sorted(maps.Keys(s.notes)) {
			if name, ok := strings.CutPrefix(key, memoryNote); ok && !yield(name) {
				return
			}
		}
	}
}

// Notice returns the latest notice about a limit or a budget, and whether there is one.
func (s *State) Notice(about string) (NoticeGiven, bool) {
	n, ok := s.notices[about]
	return n, ok
}

// Instructions are those that the model has read last; see Agent.Instruct. Empty: none.
func (s *State) Instructions() string { return s.instructions }
