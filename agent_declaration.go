package pawl

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/pawl-run/pawl/internal/display"
	"github.com/pawl-run/pawl/internal/wire"
)

// MachineNumber is the version of the decision rules. Every log records the number that it was
// written with, and a build reads only logs of its own number.
const MachineNumber = 1

// A Declaration is the part of an agent that is data. The event run.started records it with a
// digest of each part, so that resuming with a changed agent is detected and the changed parts
// are named.
type Declaration struct {
	Agent       string            `json:"agent"`
	Description string            `json:"description,omitzero"`
	Prompt      string            `json:"prompt,omitzero"`
	ModelInfo                     // the model
	Fallback    []ModelInfo       `json:"fallback,omitzero"`
	Auxiliary   []ModelInfo       `json:"auxiliary,omitzero"`
	Loop        string            `json:"loop"`
	Steps       json.RawMessage   `json:"steps,omitzero"` // of a loop of known steps
	Strategy    Strategy          `json:"strategy,omitzero"`
	Tools       []ToolInfo        `json:"tools,omitzero"`
	Stop        string            `json:"stop,omitzero"`
	Limits      Limits            `json:"limits"`
	Policies    []string          `json:"policies,omitzero"`    // the String of each
	PolicyInfo  []PolicyInfo      `json:"policy_info,omitzero"` // of each
	Goal        string            `json:"goal,omitzero"`
	Observes    bool              `json:"observes,omitzero"`
	Output      json.RawMessage   `json:"output,omitzero"`
	Sampling    Sampling          `json:"sampling,omitzero"`
	Serial      bool              `json:"serial,omitzero"`
	MaxParallel int               `json:"max_parallel,omitzero"`
	Approvals   Approvals         `json:"approvals,omitzero"`
	Instructs   bool              `json:"instructs,omitzero"`
	Notices     bool              `json:"notices,omitzero"`
	Trace       bool              `json:"trace,omitzero"`
	ResultKey   string            `json:"result_key,omitzero"`
	Source      string            `json:"source,omitzero"`
	Version     string            `json:"version,omitzero"` // not digested
	Machine     int               `json:"machine"`
	Digests     map[string]string `json:"digests"`
}

// A PolicyInfo is what a [Policy] declares as data. Parameters is a JSON object,
// or nil for a policy without a method Parameters() json.RawMessage.
type PolicyInfo struct {
	Kind       string          `json:"kind"` // what its String has before the parenthesis
	Parameters json.RawMessage `json:"parameters,omitzero"`
}

// Differences returns the names of the parts in which two declarations differ, sorted. For a
// changed tool it also names the lines of the version that differ. Limits, parallelism, the
// source and how the result is shown may differ and are not compared.
func (d Declaration) Differences(other Declaration) []string {
	parts := wire.Differing(d.Digests, other.Digests)
	for i, part := range parts {
		if name, ok := strings.CutPrefix(part, "tool "); ok {
			if those := wire.DifferingLines(d.tool(name).Version, other.tool(name).Version); len(those) > 0 {
				parts[i] += " (" + strings.Join(those, ", ") + ")"
			}
		}
	}
	return parts
}

// tool is what is declared of a tool; the zero ToolInfo of an unknown one.
func (d *Declaration) tool(name string) *ToolInfo {
	for i := range d.Tools {
		if t := &d.Tools[i]; t.Name == name {
			return t
		}
	}
	return &noTool
}

// begins reports whether the requests of two agents begin alike, with the same prompt and tools.
func (d *Declaration) begins(other *Declaration) bool {
	return d.Prompt == other.Prompt && d.Strategy == other.Strategy && slices.EqualFunc(d.Tools, other.Tools, func(a, b ToolInfo) bool {
		return a.Name == b.Name && a.Description == b.Description && a.Deferred == b.Deferred && bytes.Equal(a.Input, b.Input)
	})
}

// digest takes the digests. A tool has one of its own, so that a difference names it.
func (d *Declaration) digest() map[string]string {
	all := map[string]string{
		"agent":    digest(d.Agent),
		"prompt":   digest(d.Prompt),
		"model":    digest(d.models()...),
		"loop":     digest(d.Loop),
		"strategy": digest(d.Strategy.String()),
		"stop":     digest(d.Stop),
		"policies": digest(d.Policies...),
		"goal":     digest(d.Goal),
		"output":   digest(string(d.Output)),
		"sampling": digest(d.Sampling.source()),
		"serial":   digest(fmt.Sprint(d.Serial)),
		"observes": digest(fmt.Sprint(d.Observes)),
	}
	also := func(is bool, name, value string) {
		if is {
			all[name] = digest(value)
		}
	}
	also(d.Instructs, "instructs", "true")
	also(d.Steps != nil, "steps", string(d.Steps))
	ignores := ""
	if d.Approvals.IgnoreObservation {
		ignores = "ignores the observation"
	}
	also(d.Approvals != (Approvals{}), "approvals", fmt.Sprint(d.Approvals.TTL, d.Approvals.StopOnDeny)+ignores)
	for i := range d.Tools {
		t := &d.Tools[i]
		all["tool "+t.Name] = digest(t.Description, string(canonical(t.Input)), t.Effect.String(), t.OnDoubt.String(), t.Version, t.Cage, t.Follows, t.Carry,
			fmt.Sprint(t.MaxCalls, t.Alone, t.Exempt, t.Client, t.Weight, t.Deferred, t.Hosted != (Usage{})))
		also(t.Reaches != nil || t.Content != nil, "flow "+t.Name, fmt.Sprintf("%q %q", t.Reaches, t.Content))
		// Apart, since a run may be resumed with less trust than it began with.
		also(t.Trust == Untrusted, "trust "+t.Name, t.Trust.String())
	}
	return all
}

// models names the model and its fallbacks.
func (d *Declaration) models() []string {
	names := []string{d.ModelInfo.Name}
	for i := range d.Fallback {
		names = append(names, d.Fallback[i].Name)
	}
	for i := range d.Auxiliary {
		names = append(names, "adviser "+d.Auxiliary[i].Name)
	}
	return names
}

// model is what is declared of an auxiliary model, of a fallback, or of the model.
func (d *Declaration) model(auxiliary string, fallback int) *ModelInfo {
	for i := range d.Auxiliary {
		if auxiliary != "" && d.Auxiliary[i].Name == auxiliary {
			return &d.Auxiliary[i]
		}
	}
	if fallback <= 0 || fallback > len(d.Fallback) {
		return &d.ModelInfo
	}
	return &d.Fallback[fallback-1]
}

// source is the sampling as text, for its digest.
func (s *Sampling) source() string {
	var b strings.Builder
	fmt.Fprint(&b, s.Temperature, s.MaxTokens, s.Effort)
	for _, name := range slices.Sorted(maps.Keys(s.Options)) {
		fmt.Fprintf(&b, " %s=%s", name, s.Options[name])
	}
	return b.String()
}

func digest(parts ...string) string {
	b := make([][]byte, len(parts))
	for i, p := range parts {
		b[i] = []byte(p)
	}
	return wire.Digest(b...)[:16]
}

// wires is what the wires of all models have at most.
func (d *Declaration) wires() Wire {
	w := d.ModelInfo.Wire
	for _, list := range [...][]ModelInfo{d.Fallback, d.Auxiliary} {
		for i := range list {
			v := &list[i].Wire
			w = Wire{max(w.Frame, v.Frame), max(w.Message, v.Message), max(w.Tool, v.Tool), max(w.Prompt, v.Prompt)}
		}
	}
	return w
}

// String announces the limits, as in "20 iterations, 500,000 tokens, 30m0s".
func (l Limits) String() string {
	parts := []string{display.Count(l.Iterations, "iteration"), display.Count(l.Tokens, "token"), l.Time.String()}
	if l.Cost > 0 {
		parts = append(parts, fmt.Sprint("$", Decimal(l.Cost)))
	}
	return strings.Join(parts, ", ")
}
