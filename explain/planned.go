package explain

import "github.com/pawl-run/pawl"

// planned says who approved the plan of a run in plan mode; empty: the run is in
// no such mode. The names are those of package approval, a sibling.
func planned(s *pawl.State, d *pawl.Declaration) (text Phrase) {
	for range d.PoliciesOf("plan") {
		text = "no plan was approved, so only tools that read could run"
		for c := range s.SuccessfulCalls("present_plan") { // the first one lifted the mode
			text = phrasef("the plan %s was approved%s", name(c.ID), by(c.By))
		}
	}
	return text
}
