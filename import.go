package pawl

import "encoding/json"

// importer is who notes that a log came from an export; see [State.Import].
const importer = "__import__"

const importNote = "imported"

// imported is what is noted of an import.
type imported struct {
	Redacted bool   `json:"redacted,omitempty"`
	By       string `json:"by,omitempty"`
}

// Import makes the entry's event that stands behind a log which came from
// another journal: who brought it, and whether what looks like a secret was
// taken out of it before. The letters of the other journal are not in this one,
// so those that come are counted anew.
func (s *State) Import(by string, redacted bool) Noted {
	value, _ := json.Marshal(imported{redacted, by}) // a flag and a text always marshal
	return Noted{By: importer, Name: importNote, Value: value}
}

// Redacted reports whether the log was changed on its way here. Such a run can be
// read; to go on, it would have to do so from what nobody said.
func (s *State) Redacted() bool {
	value, ok := s.Note(importer, importNote)
	var i imported
	return ok && json.Unmarshal(value, &i) == nil && i.Redacted
}
