package spec

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/guard"
	"github.com/pawl-run/pawl/tool"
	"github.com/pawl-run/pawl/tool/fetch"
	"github.com/pawl-run/pawl/tool/skill"
)

// A Spec is an agent as a file describes it. It is immutable and safe for
// concurrent use; the fields are for reading.
type Spec struct {
	Name        string
	Description string
	Labels      map[string]string
	Input       string   // what to run on when nothing else is said; empty: nothing
	Thread      string   // the conversation that runs are part of; empty: each has its own
	Env         []string // names of variables that commands get; their values are secrets
	Hooks       []Hook   // what watches its runs, see [HooksOf]
	Webhooks    []Webhook

	path        string // as it was named
	base        string // the spec's directory, absolute
	dir         string // where commands run, absolute
	prompt      string
	pins        []string
	model       model
	loop        pawl.Loop
	flow        *flow // nil: it is no workflow
	json        bool  // strategy: json
	output      []byte
	tools       []toolSpec
	own         []string // tools that come with Pawl
	agents      []delegate
	members     []*Spec // of agents that are tools or steps
	untold      []untold
	beyond      []string // of what env names in the specs of agents, what this one's does not
	fetch       fetch.Options
	cage        *tool.Cage
	builtin     bool
	serial      bool
	maxParallel int
	trace       bool
	stop        *node
	limits      pawl.Limits
	gates       []gate
	guard       *guard.Guard
	trust       map[string]pawl.Trust // of builtin tools, by name
	dataFlow    bool
	strictFlow  bool
	stuck       *pawl.Policy
	observe     []string
	goal        *goal
	prices      map[string]pawl.Price
	stale       int
	opt         Options
	judges      judges
	doc         *document
	root        *node
	family      *family

	approvals pawl.Approvals
	resultKey string
	skills    []skill.Skill
	reads     pawl.Tool       // by which the model reads them, as they were then
	declared  []pawl.ToolInfo // of a run that is looked at again; nil: none is
	shelved   *Spec           // the file of tools of a Hyphen document; nil: there is none
	servers   []MCPServer
	remote    map[string][]pawl.Tool // of the servers, by name; nil: not connected to
	onStuck   *onStuck               // of a Hyphen document; nil: it is none
}

// model is what a spec says of its model.
type model struct {
	name       string
	place      place
	sampling   pawl.Sampling
	fallback   []model // their names and places
	unreadable bool
}

// goal is what a spec says of its goal.
type goal struct {
	metric  []string
	success *node
}

// What to do about prices that are out of date.
const (
	staleWarn = 1 + iota
	staleTokenOnly
	staleRefuse
)

// Options are what may be said of a spec from outside, such as by flags. The
// zero value says nothing.
type Options struct {
	// Registry has the models. With one, what is wrong with the model is told
	// together with everything else; without, [Spec.Agent] tells it.
	Registry *Registry
	// Model replaces the spec's, in the same notation.
	Model string
	// Stop replaces the spec's stop condition.
	Stop string
	// Limits replace those of the spec's that they set.
	Limits pawl.Limits

	// Tools is a file with a list of tools, as it stands under tools in a spec, in
	// which the actions of a Hyphen loop document are looked up.
	Tools string
	// Workflows is a directory with specs, in which the workflows of such a
	// document are looked up.
	Workflows string

	dir    string  // the spec's directory; empty: that of its name
	shelf  *shelf  // the file of tools, when it has been read
	family *family // whose spec it is an agent's; nil: its own
	around *around // the cage it works in; nil: none
}

// Load reads the spec in a file. Its error is [Problems], unless the file
// cannot be read at all.
func Load(path string, o *Options) (*Spec, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("spec: %w", err)
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, mostBytes+1))
	if err != nil {
		return nil, fmt.Errorf("spec: %w", err)
	}
	return Parse(path, data, o)
}

// Parse reads a spec. Its name is that of its file, which says what paths are
// relative to and whether it is JSON, and need not exist. The error is
// [Problems].
func Parse(name string, data []byte, o *Options) (*Spec, error) {
	s, problems := parse(name, data, o)
	if err := problems.sorted().asError(); err != nil {
		return nil, err
	}
	return s, nil
}

func parse(name string, data []byte, o *Options) (*Spec, Problems) {
	if o == nil {
		o = &Options{}
	}
	d, root := readDocument(name, string(data))
	if root == nil {
		return nil, d.problems
	}
	switch {
	case root.kind == text && strings.Contains(root.text, ":"):
		d.problem(root.place, "the spec is text (write KEY: VALUE on lines of their own, with a space after the colon)")
	case root.kind != mapping && root.kind != 0:
		d.problem(root.place, "the spec is %v (write a mapping with name, model, prompt)", root.kind)
	}
	if root.kind != mapping {
		return nil, d.problems
	}
	s := &Spec{path: name, opt: *o, doc: d, root: root, base: o.dir, family: o.family}
	if s.base == "" {
		abs, err := filepath.Abs(filepath.Dir(name))
		if err != nil {
			d.problem(place{1, 1}, "the spec's directory: %v", err)
			return nil, d.problems
		}
		s.base = abs
	}
	if s.family == nil {
		s.family = &family{files: map[string]string{}}
	}
	if s.family.trail == nil {
		s.family.trail = []string{filepath.Join(s.base, filepath.Base(name))}
	}
	switch {
	case isHyphen(root):
		s.readHyphen(d.fields(hyphenKeys, root))
		s.root = root.get("properties")
	default:
		s.read(d.fields(specKeys, root))
		if o.Tools != "" {
			d.about(true, "tools", place{}, "a file of tools is for Hyphen loop documents, and this is a spec (list its tools under tools)")
		}
		if o.Workflows != "" {
			d.about(true, "workflows", place{}, "a directory of workflows is for Hyphen loop documents, and this is a spec (list them under tools)")
		}
	}
	if !s.family.member() && !s.family.known {
		s.unheard(d)
	}
	_, problems := s.assemble(o.Registry, nil)
	for i := range problems {
		problems[i].Message = strings.ReplaceAll(problems[i].Message, standsForAll, "__*")
	}
	return s, append(d.problems, problems...)
}
