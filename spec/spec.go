package spec

import (
	"cmp"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/budget"
	"github.com/pawl-run/pawl/tool"
	"github.com/pawl-run/pawl/tool/agentsmd"
	"github.com/pawl-run/pawl/tool/skill"
)

// A Spec is an agent described in a file, with the [Keys] of the file as its fields. It is immutable
// and safe for concurrent use; the fields are read-only.
type Spec struct {
	Keys
	Budgets []budget.Budget // with those of its agents

	path string // as given by the caller
	base string // the spec's directory, absolute
	dir  string // working directory of commands, absolute
	opt  Options
	doc  *document
	stop *node // the condition in force; nil: none

	loop       pawl.Loop   // nil: the steps of flow
	flow       *flow       // nil: not a workflow
	entries    []entry     // the tools, but for those of MCP servers
	servers    []MCPServer // whose tools are known when they are connected to
	noTool     bool        // some tools could not be read
	noStep     bool        // some steps, edges or limits could not be read
	gates      []gate
	cage       *tool.Cage // its own within the one around it
	skills     []skill.Skill
	reads      pawl.Tool // reads the skills
	notes      *agentsmd.Notes
	registered []pawl.Policy // policies of the program

	credentials map[string]*tool.Credentials

	family    *family
	handoffs  []*handoffSpec   // with absolute paths
	team      map[string]*Spec // the other specs of the team, by absolute path; nil unless this one began it
	members   []*Spec          // specs of agents that are tools or steps, and of the team
	shelved   *Spec            // the file of tools of a Hyphen document; nil: none
	resultKey string           // of a Hyphen document
}

// Options replace or complete parts of a spec, such as by flags. The zero value
// changes nothing.
type Options struct {
	// Registry has the models. With one, problems with the model are reported
	// with all others; without, [Spec.Agent] reports them.
	Registry *Registry `json:"-"`
	// Model replaces the spec's, in the same notation.
	Model string `json:"model,omitempty"`
	// Effort replaces the spec's: one of [pawl.Efforts].
	Effort string `json:"effort,omitempty"`
	// Prompt replaces the spec's.
	Prompt string `json:"prompt,omitempty"`
	// Stop replaces the spec's stop condition.
	Stop string `json:"stop,omitempty"`
	// Limits replace those limits of the spec that they set.
	Limits pawl.Limits `json:"limits,omitzero"`
	// Plan has the agent plan first, as plan: true does.
	Plan bool `json:"plan,omitempty"`

	// Tools is a file with a list of tools, as under tools in a spec, that has
	// the actions of a Hyphen loop document.
	Tools string `json:"tools,omitempty"`
	// Workflows is a directory with specs that has the workflows of such a
	// document.
	Workflows string `json:"workflows,omitempty"`

	// Trusted adds to those of the Registry. [Load] adds the directory of the spec.
	Trusted []string `json:"trusted,omitempty"`

	dir    string     // the spec's directory; empty: the name's
	family *family    // of the spec whose agent it is; nil: its own
	around *tool.Cage // the cage around it, with whole paths; nil: none
}

// Load reads the spec in a file, or in the file agent.yaml of a directory. Its error is
// [Problems], unless the file cannot be read.
func Load(path string, o *Options) (*Spec, error) {
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		path = filepath.Join(path, "agent.yaml")
	}
	data, err := readSome(path)
	if err != nil {
		return nil, fmt.Errorf("spec: %w", err)
	}
	own := Options{}
	if o != nil {
		own = *o
	}
	if dir, err := filepath.Abs(filepath.Dir(path)); err == nil { // those who run a spec trust what is beside it
		own.Trusted = append(slices.Clip(own.Trusted), dir)
	}
	return Parse(path, data, &own)
}

// readSome reads a file up to just above the largest size of a spec.
func readSome(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, mostBytes+1))
}

// Parse parses a spec. The name is that of its file, which determines the
// directory of its paths and whether it is JSON, and need not exist. The error
// is [Problems].
func Parse(name string, data []byte, o *Options) (*Spec, error) {
	s, problems := parse(name, data, o)
	if err := problems.err(); err != nil {
		return nil, err
	}
	return s, nil
}

func parse(name string, data []byte, o *Options) (*Spec, Problems) {
	o = cmp.Or(o, &Options{})
	d, root := readDocument(name, string(data))
	if root == nil {
		return nil, d.problems
	}
	if root.kind != mapping {
		if root.kind != 0 {
			d.problem(root, "the spec is %v (write KEY: VALUE on lines of their own, with a space after the colon, such as name: support)", root.kind)
		}
		return nil, d.problems
	}
	s := &Spec{path: name, opt: *o, doc: d, base: o.dir, family: o.family}
	if s.base == "" {
		abs, err := filepath.Abs(filepath.Dir(name))
		if err != nil {
			d.problem(d.at(place{1, 1}), "the spec's directory: %v", err)
			return nil, d.problems
		}
		s.base = abs
	}
	if s.family == nil {
		s.family = &family{files: map[string]string{}}
		if o.Registry != nil {
			s.opt.Trusted = append(slices.Clip(s.opt.Trusted), o.Registry.Trusted...)
		}
	}
	if s.family.trail == nil {
		s.family.trail = []string{filepath.Join(s.base, filepath.Base(name))}
	}
	if t := root.get("type"); t != nil && t.text == "loop" && root.get("properties") != nil { // a Hyphen loop
		if !s.readHyphen(root) {
			return nil, d.problems
		}
	} else {
		d.check(reference("spec"), root, "the spec")
		s.Keys = decoded[Keys](root)
		for name, value := range map[string]string{"tools": o.Tools, "workflows": o.Workflows} {
			if value != "" {
				d.problem(option(name, ""), "it is for Hyphen loop documents, and this is a spec (list its tools and workflows under tools)")
			}
		}
	}
	s.read()
	if !s.family.member() && !s.family.known {
		s.unheard(s.members)
	}
	if s.family.team != nil && s.team == nil { // the spec that began the team assembles it
		s.family.team[s.family.path()] = s
		return s, d.problems
	}
	_, problems := s.assemble(o.Registry, nil, nil)
	for i := range problems {
		problems[i].Message = strings.ReplaceAll(problems[i].Message, standsForAll, "__*")
	}
	return s, append(d.problems, problems...)
}

// read completes what was decoded, and reports what the schema cannot say. The order counts: the
// steps and tools run in the cage.
func (s *Spec) read() {
	s.Plan = s.Plan || s.opt.Plan
	s.Prompt = cmp.Or(s.opt.Prompt, s.Prompt)
	s.Model.Effort = cmp.Or(s.opt.Effort, s.Model.Effort)
	for i, file := range s.Input.Files {
		s.Input.Files[i] = s.file(file)
	}
	if s.dir = cmp.Or(s.Dir, "."); !filepath.IsAbs(s.dir) {
		s.dir = filepath.Join(s.base, s.dir)
	}
	if s.stop = s.n.get("stop"); s.opt.Stop != "" {
		s.stop = option("stop", s.opt.Stop)
	}
	s.alone()
	for _, p := range s.n.get("labels").keys() {
		if key := p.key.text; key == "" || strings.Contains(key, "=") {
			s.doc.problem(p.key, "label %q cannot be asked for as KEY=VALUE (give it a name without =)", key)
		}
	}
	s.doc.schema(s.n.get("output"), "output")
	s.readCage()
	s.readLoop()
	s.readCredentials()
	s.readTools()
	s.readSkills()
	s.readNotes()
	s.readHandoffs()
	s.readGates()
	s.readPolicies()
	if s.Observe != nil {
		s.resolve(s.Observe.Command, s.Observe.mark)
	}
	if s.Instruct != nil {
		s.resolve(s.Instruct.Command, s.Instruct.mark)
	}
	if s.Goal != nil {
		s.resolve(s.Goal.Metric.Command, s.Goal.Metric.mark)
	}
	if r := s.Judge.Reflexion; r != nil && r.Every < 0 && r.IgnoreErrors && r.IgnoreLoops {
		s.doc.problem(s.at("judge", "reflexion"), "reflexion never judges (write every: 1, on_error: true or on_loop: true)")
	}
	s.checkHooks()
	s.checkWebhooks()
	s.checkProviders()
	s.Budgets = s.doc.budgets(s.n.get("budgets"), s.Keys.Budgets, s.Budgets)
	s.checkTriggers()
}
