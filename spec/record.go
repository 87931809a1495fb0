package spec

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/pawl-run/pawl/tool"
	"github.com/pawl-run/pawl/tool/agentsmd"
)

// record is the content of [pawl.Agent].Source for a spec: enough to create the
// agent again without the file and the flags.
type record struct {
	Kind     string            `json:"kind"` // spec
	Path     string            `json:"path"`
	Dir      string            `json:"dir"`
	Document string            `json:"document"`
	Files    map[string]string `json:"files,omitempty"` // specs of its agents, by path
	Options                    // the model may also be the registry's
	Around   *tool.Cage        `json:"around,omitempty"`
	Live     bool              `json:"live,omitempty"` // files that are not among these may be read
}

const recordKind = "spec"

// record returns the source of the agent.
func (s *Spec) record(r *Registry) string {
	rec := record{
		Kind: recordKind, Path: s.path, Dir: s.base, Document: s.doc.text, Files: s.family.files, Options: s.opt, Around: s.opt.around,
	}
	for _, path := range []*string{&rec.Tools, &rec.Workflows} {
		if abs, err := filepath.Abs(*path); err == nil && *path != "" {
			*path = abs
		}
	}
	if !slices.ContainsFunc(slices.Collect(maps.Keys(rec.Files)), func(file string) bool { return filepath.Base(file) == agentsmd.File }) {
		rec.Trusted = nil
	}
	rec.Model = ""
	if name, dir := s.modelName(r); dir == "" || s.Demo(r) { // the document does not name it
		rec.Model = scriptIn(name.text, dir)
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
	name, dir := s.modelName(r)
	return scriptIn(name.text, dir)
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
	if o != nil {
		again.Registry = o.Registry
	}
	return Parse(rec.Path, []byte(rec.Document), again)
}

// A Renewal replaces parts of a recorded source. Empty fields replace nothing.
type Renewal struct {
	File    string // a spec in place of the recorded one
	Current bool   // use the present text of each recorded file that still exists
	Model   string
	Effort  string
	Prompt  string
	Plan    *bool
}

// Renew returns the source of a spec with parts replaced.
func Renew(source string, r Renewal) (string, error) {
	rec, ok := recordOf(source)
	switch {
	case !ok:
		return source, nil // ParseSource says what is wrong
	case r.File != "":
		text, err := os.ReadFile(r.File)
		if err == nil {
			rec.Dir, err = filepath.Abs(filepath.Dir(r.File))
		}
		if err != nil {
			return "", err
		}
		rec.Path, rec.Document, rec.Files, rec.Live = r.File, string(text), nil, true
	case r.Current && !strings.HasPrefix(rec.Path, "<"): // the text of a client or of a command has no file
		rec.Document = present(filepath.Join(rec.Dir, filepath.Base(rec.Path)), rec.Document)
		for path, text := range rec.Files {
			rec.Files[path] = present(path, text)
		}
		rec.Live = true // the text may name more agents now
	}
	rec.Model, rec.Effort, rec.Prompt = cmp.Or(r.Model, rec.Model), cmp.Or(r.Effort, rec.Effort), cmp.Or(r.Prompt, rec.Prompt)
	if r.Plan != nil {
		rec.Plan = *r.Plan
	}
	b, err := json.Marshal(rec)
	return string(b), err
}

// present is the text of a file, or the given one if the file cannot be read.
func present(path, otherwise string) string {
	if text, err := os.ReadFile(path); err == nil {
		return string(text)
	}
	return otherwise
}

// options returns the recorded options, with what completes the document.
func (r *record) options() *Options {
	o := r.Options
	o.dir, o.around = r.Dir, r.Around
	if o.family = (&family{files: r.Files, known: !r.Live}); r.Files == nil {
		o.family.files = map[string]string{}
	}
	return &o
}

// ReadSource reads the spec in the source of an agent as far as possible. Without one it is empty: it has no budgets,
// hooks, rates, secrets and webhooks.
func ReadSource(source string) *Spec {
	if rec, ok := recordOf(source); ok {
		if s, _ := parse(rec.Path, []byte(rec.Document), rec.options()); s != nil {
			return s
		}
	}
	return &Spec{doc: &document{}}
}
