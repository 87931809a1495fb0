package spec

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/internal/display"
	"github.com/pawl-run/pawl/internal/meter"
	"github.com/pawl-run/pawl/internal/redact"
)

// A Recorded is the spec that a run was started from, as it was written, with the values that are
// in force. Apparent secrets are removed. The agent of a program has no spec: its Document is the
// declaration in the log, as JSON.
type Recorded struct {
	File     string            `json:"file,omitempty"`
	Dir      string            `json:"dir,omitempty"` // paths in the document are relative to it
	Model    string            `json:"model"`
	Effort   string            `json:"effort,omitempty"`
	Prompt   string            `json:"prompt,omitempty"` // instead of the document's
	Plan     bool              `json:"plan,omitempty"`
	Tools    string            `json:"tools,omitempty"` // the file with the actions of a Hyphen document
	Cage     string            `json:"cage,omitempty"`  // with that of the agent that it works for
	Stop     string            `json:"stop,omitempty"`
	Limits   string            `json:"limits"`
	Labels   map[string]string `json:"labels,omitempty"`
	Document string            `json:"document"`
}

// Of returns what a run recorded of its agent's spec.
func Of(s *pawl.State) Recorded {
	d := s.Declaration()
	r := Recorded{Model: d.ModelInfo.Name, Effort: d.Sampling.Effort, Stop: s.StopSource(), Limits: strings.Join(Assignments(s.Limits()), ",")}
	if start, ok := s.Start(); ok {
		r.Labels = start.Labels
	}
	rec, written := recordOf(d.Source)
	if !written {
		d.Source = ""
		entry, _ := pawl.Entry{Event: pawl.RunStarted{Declaration: d}}.AppendJSON(nil) // as it was decoded
		var line struct{ Data json.RawMessage }
		_ = json.Unmarshal(entry, &line) // it is JSON
		r.Document = redact.Text(string(line.Data))
		return r
	}
	r.File, r.Dir, r.Document, r.Prompt, r.Plan, r.Tools = rec.Path, rec.Dir, rec.Document, redact.Text(rec.Prompt), rec.Plan, rec.Tools
	first := ReadSource(d.Source)
	if first.cage != nil {
		r.Cage = first.cage.Describe()
	}
	if first.Name != d.Agent { // the run is a leg of another agent of the team
		for _, mate := range first.mates() {
			if mate.Name == d.Agent {
				r.File, r.Dir, r.Document = mate.path, mate.base, mate.doc.text
			}
		}
	}
	r.Document = redact.Text(r.Document)
	return r
}

// String returns the document below comments with the values in force.
func (r Recorded) String() string {
	var b strings.Builder
	if b.WriteString("# The agent of a program, as its run declared it. In force:\n"); r.File != "" {
		b.Reset()
		fmt.Fprintf(&b, "# %s, with paths relative to %s. In force:\n", r.File, r.Dir)
	}
	plan := ""
	if r.Plan {
		plan = "true"
	}
	for _, v := range [][2]string{{"model", r.Model}, {"effort", r.Effort}, {"prompt", r.Prompt}, {"plan", plan}, {"tools", r.Tools}, {"cage", r.Cage}, {"stop", r.Stop}, {"limits", r.Limits}} {
		if v[1] != "" {
			fmt.Fprintf(&b, "# %s: %s\n", v[0], strings.ReplaceAll(v[1], "\n", "\n#   "))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(r.Labels)) {
		fmt.Fprintf(&b, "# label %s: %s\n", name, r.Labels[name])
	}
	return b.String() + strings.TrimSuffix(r.Document, "\n") + "\n"
}

// Assignments lists the limits that are set as the command takes them, such as time=30m.
func Assignments(l pawl.Limits) (list []string) {
	meter.Combine(l, l, func(name string, v, _ float64) float64 {
		if v != 0 {
			list = append(list, name+"="+limitText(name, v))
		}
		return v
	})
	return list
}

func limitText(name string, v float64) string {
	if name == "time" {
		return display.Duration(time.Duration(v))
	}
	return pawl.Decimal(v).String()
}
