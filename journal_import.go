package pawl

import (
	"encoding/json"

	"github.com/pawl-run/pawl/internal/display"
)

// importer is who notes that a log came from an export; see [State.Import].
const importer, importNote = "__import__", "imported"

// imported is what is noted of an import.
type imported struct {
	By       string `json:"by,omitempty"`
	Redacted bool   `json:"redacted,omitempty"`
	Torn     bool   `json:"torn,omitempty"`
}

// Import makes the event that follows a log imported from another journal: who imported it,
// whether secrets were removed from it, and whether its end is missing. The signals of the
// other journal are not in this one, so their numbering starts again.
func (s *State) Import(by string, redacted, torn bool) Noted {
	value, _ := json.Marshal(imported{by, redacted, torn}) // flags and a text always marshal
	return Noted{By: importer, Name: importNote, Value: value}
}

// Redacted reports whether secrets were removed from the log before its import.
// Such a run can be read but not resumed: its log is no longer what was said.
func (s *State) Redacted() bool { return s.origin.Redacted }

// Torn reports whether the end of the log was lost before its import. Effects
// in the lost part may have happened, so the run must not repeat them and
// cannot be resumed. A fork is another run and may go on.
func (s *State) Torn() bool { return s.origin.Torn }

// impeded is what to do in place of resuming a run that came from elsewhere and not
// whole; empty: it came from nowhere, or whole.
func (s *State) impeded() string {
	switch {
	case s.Redacted():
		return display.RedactedAdvice
	case s.Torn():
		return display.TornAdvice
	}
	return ""
}

// Imported reports whether the note is one that [State.Import] makes.
func (n Noted) Imported() bool { return n.By == importer }
