package spec

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"github.com/pawl-run/pawl"
)

// record is the content of [pawl.Agent].Source for a spec: enough to create the
// agent again without the file and the flags.
type record struct {
	Kind     string `json:"kind"` // spec
	Path     string `json:"path"`
	Dir      string `json:"dir"`
	Document string `json:"document"`
	// Files are the specs of its agents, by path.
	Files map[string]string `json:"files,omitempty"`
	// Live permits reading files that are not among them.
	Live   bool    `json:"live,omitempty"`
	Model  string  `json:"model,omitempty"` // replaces or completes the document's
	Effort string  `json:"effort,omitempty"`
	Prompt string  `json:"prompt,omitempty"`
	Stop   string  `json:"stop,omitempty"`
	Limits *limits `json:"limits,omitempty"`
	Plan   bool    `json:"plan,omitempty"`

	Around    *around `json:"around,omitempty"`
	Tools     *shelf  `json:"tools,omitempty"`
	Workflows string  `json:"workflows,omitempty"` // absolute
}

type limits struct {
	Iterations int     `json:"iterations,omitempty"`
	Tokens     int     `json:"tokens,omitempty"`
	Time       string  `json:"time,omitempty"`
	Cost       float64 `json:"cost,omitempty"`
	ToolErrors int     `json:"tool_errors,omitempty"`
	Attempts   int     `json:"attempts,omitempty"`
	Margin     float64 `json:"margin,omitempty"`
	Depth      int     `json:"depth,omitempty"`
	Handoffs   int     `json:"handoffs,omitempty"`
	Rounds     int     `json:"rounds,omitempty"`
}

const recordKind = "spec"

func (r *record) family() *family {
	m := &family{files: r.Files, known: !r.Live}
	if m.files == nil {
		m.files = map[string]string{}
	}
	return m
}

// record returns the source of the agent.
func (s *Spec) record(r *Registry) string {
	rec := record{Kind: recordKind, Path: s.path, Dir: s.base, Document: s.doc.text, Files: s.family.files, Effort: s.opt.Effort, Prompt: s.opt.Prompt, Stop: s.opt.Stop, Plan: s.opt.Plan, Tools: s.opt.shelf, Around: s.opt.around}
	if s.opt.Workflows != "" {
		rec.Workflows = s.opt.Workflows
		if abs, err := filepath.Abs(rec.Workflows); err == nil {
			rec.Workflows = abs
		}
	}
	if name, dir := s.modelName(r); dir == "" { // its path is relative to the working directory
		rec.Model = scriptIn(name, "")
	}
	if l := s.opt.Limits; l != (pawl.Limits{}) {
		rec.Limits = &limits{l.Iterations, l.Tokens, "", l.Cost, l.ToolErrors, l.Attempts, l.Margin, l.Depth, l.Handoffs, l.Rounds}
		if l.Time != 0 {
			rec.Limits.Time = l.Time.String()
		}
	}
	b, err := json.Marshal(rec)
	if err != nil { // numbers that JSON cannot represent; the machine refuses them
		return ""
	}
	return string(b)
}

// ModelName returns the model in the notation of the key model: the spec's or, if it names
// none, the registry's. A file in it is absolute.
func (s *Spec) ModelName(r *Registry) string {
	return scriptIn(s.modelName(r))
}

// scriptIn returns the name of a model. If it is a script, its path is absolute; a relative one
// begins at base or, if that is empty, at the working directory.
func scriptIn(name, base string) string {
	file, ok := strings.CutPrefix(name, scriptProvider+":")
	if !ok || file == "" {
		return name
	}
	if !filepath.IsAbs(file) {
		file = filepath.Join(base, file)
	}
	if abs, err := filepath.Abs(file); err == nil {
		file = abs
	}
	return scriptProvider + ":" + file
}

// IsSource reports whether a [pawl.Agent].Source is a spec's.
func IsSource(source string) bool {
	_, ok := recordOf(source)
	return ok
}

// recordOf reads the source of an agent, and reports whether it is a spec's.
func recordOf(source string) (rec record, ok bool) {
	if json.Unmarshal([]byte(source), &rec) != nil || rec.Kind != recordKind {
		return record{}, false
	}
	return rec, true
}

// ParseSource reads a spec from the [pawl.Agent].Source recorded in a run, with
// the options of that time: the model, even if it was the registry's default,
// the stop condition and the limits. Of o it uses only the registry.
func ParseSource(source string, o *Options) (*Spec, error) {
	rec, ok := recordOf(source)
	if !ok {
		return nil, fmt.Errorf("spec: the run was not started from a spec: its agent's source is %.60q", source)
	}
	again := rec.options()
	again.Model, again.Effort, again.Prompt, again.Stop, again.Plan = rec.Model, rec.Effort, rec.Prompt, rec.Stop, rec.Plan
	if o != nil {
		again.Registry = o.Registry
	}
	if l := rec.Limits; l != nil {
		again.Limits = pawl.Limits{Iterations: l.Iterations, Tokens: l.Tokens, Cost: l.Cost, ToolErrors: l.ToolErrors, Attempts: l.Attempts, Margin: l.Margin, Depth: l.Depth, Handoffs: l.Handoffs, Rounds: l.Rounds}
		if l.Time != "" {
			d, err := time.ParseDuration(l.Time)
			if err != nil {
				return nil, fmt.Errorf("spec: the source's limits: %w", err)
			}
			again.Limits.Time = d
		}
	}
	return Parse(rec.Path, []byte(rec.Document), again)
}

// options are those that complete the document.
func (r *record) options() *Options {
	return &Options{Workflows: r.Workflows, dir: r.Dir, shelf: r.Tools, family: r.family(), around: r.Around}
}

// readAgain reads the spec of a source as far as possible; without one it is empty.
func readAgain(source string) *Spec {
	if rec, ok := recordOf(source); ok {
		if s, _ := parse(rec.Path, []byte(rec.Document), rec.options()); s != nil {
			return s
		}
	}
	return &Spec{}
}

// SecretsOf returns the secrets of the agent of a source, as [Spec.Secrets]
// does: none for a source that is not a spec's. It ignores other problems of the
// spec.
func SecretsOf(source string) map[string]string { return readAgain(source).Secrets() }
