package spec

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"strings"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/budget"
	"github.com/pawl-run/pawl/engine"
	"github.com/pawl-run/pawl/guard"
	"github.com/pawl-run/pawl/tool"
	"github.com/pawl-run/pawl/tool/fetch"
	"github.com/pawl-run/pawl/tool/skill"
)

// A Spec is an agent described in a file. It is immutable and safe for
// concurrent use; the fields are read-only.
type Spec struct {
	Name        string
	Description string
	Version     string         // of the agent; empty: none
	Upgrade     engine.Upgrade // the rule for waiting runs of other versions
	Labels      map[string]string
	Input       string   // the default input; empty: none
	Files       []string // of the default input, absolute
	Thread      string   // the conversation of its runs; empty: each has its own
	Env         []string // names of variables that commands get; their values are secrets
	Hooks       []Hook   // see [HooksOf]
	Webhooks    []Webhook
	Rates       map[string]engine.Rate // of providers; see [RatesOf]
	Budgets     []budget.Budget        // see [BudgetsOf]
	Triggers    []Trigger              // of the agent where it is served
	endpoints   map[string]Endpoint    // providers of its own

	path        string // as given by the caller
	base        string // the spec's directory, absolute
	dir         string // working directory of commands, absolute
	prompt      string
	pins        []string
	model       model
	loop        pawl.Loop
	flow        *flow // nil: not a workflow
	json        bool  // strategy: json
	output      []byte
	tools       []toolSpec
	toolsUnread []string // patterns for the names of those with problems
	own         []string // builtin tools
	hosted      []hostedSpec
	agents      []delegate
	members     []*Spec // specs of agents that are tools or steps, and of the team
	handoffs    []handoff
	team        map[string]*Spec // the other specs of the team, by absolute path; nil unless this one began it
	untold      []untold
	beyond      []string // names under env in the specs of agents that this spec does not have
	fetch       fetch.Options
	cage        *tool.Cage
	builtin     bool
	serial      bool
	maxParallel int
	core        []string // tools shown from the start; nil: all
	trace       bool
	plan        bool
	board       bool
	memory      *tool.MemoryOptions // nil: none
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

	approvals  pawl.Approvals
	resultKey  string
	skills     []skill.Skill
	registered []pawl.Policy   // of the program
	reads      pawl.Tool       // reads the skills, as declared
	declared   []pawl.ToolInfo // the tools of a recorded run; nil: none
	shelved    *Spec           // the file of tools of a Hyphen document; nil: none
	remotes    []remoteAgent
	servers    []MCPServer
	remote     map[string][]pawl.Tool // tools of the servers, by name; nil: not connected
	onStuck    *node                  // no_progress of a Hyphen document; nil: not one
}

// model is the model section of a spec.
type model struct {
	name       string
	place      place
	sampling   pawl.Sampling
	fallback   []model // their names and places
	unreadable bool
}

// goal is the goal section of a spec.
type goal struct {
	metric  []string
	success *node
}

// The actions on outdated prices.
const (
	staleWarn = 1 + iota
	staleTokenOnly
	staleRefuse
)

// Options replace or complete parts of a spec, such as by flags. The zero value
// changes nothing.
type Options struct {
	// Registry has the models. With one, problems with the model are reported
	// with all others; without, [Spec.Agent] reports them.
	Registry *Registry
	// Model replaces the spec's, in the same notation.
	Model string
	// Effort replaces the spec's: one of [pawl.Efforts].
	Effort string
	// Prompt replaces the spec's.
	Prompt string
	// Stop replaces the spec's stop condition.
	Stop string
	// Plan has the agent plan first, as plan: true does.
	Plan bool
	// Limits replace those limits of the spec that they set.
	Limits pawl.Limits

	// Tools is a file with a list of tools, as under tools in a spec, that has
	// the actions of a Hyphen loop document.
	Tools string
	// Workflows is a directory with specs that has the workflows of such a
	// document.
	Workflows string

	dir    string  // the spec's directory; empty: the name's
	shelf  *shelf  // the file of tools, when it has been read
	family *family // of the spec whose agent it is; nil: its own
	around *around // the cage around it; nil: none
}

// Load reads the spec in a file. Its error is [Problems], unless the file
// cannot be read.
func Load(path string, o *Options) (*Spec, error) {
	data, err := readSome(path)
	if err != nil {
		return nil, fmt.Errorf("spec: %w", err)
	}
	return Parse(path, data, o)
}

// readSome reads a file up to just above the largest size of a spec.
func readSome(path string) ([]byte, error) {
	f, err := os.Open(path) //nolint:gosec // the caller that names the file may read it
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
	s.model.sampling.Effort = cmp.Or(o.Effort, s.model.sampling.Effort)
	if o.Prompt != "" {
		s.prompt = o.Prompt
	}
	if !s.family.member() && !s.family.known {
		s.unheard(d)
	}
	if s.family.team[s.family.trail[0]] == s {
		s.team = maps.Clone(s.family.team)
		delete(s.team, s.family.trail[0])
		s.members = append(s.members, s.mates()...)
	}
	if s.family.team != nil && s.team == nil { // the spec that began the team assembles it
		s.family.team[s.family.trail[len(s.family.trail)-1]] = s
		return s, d.problems
	}
	_, problems := s.assemble(o.Registry, nil)
	for i := range problems {
		problems[i].Message = strings.ReplaceAll(problems[i].Message, standsForAll, "__*")
	}
	return s, append(d.problems, problems...)
}
