package spec

import (
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/internal/expr"
	"github.com/pawl-run/pawl/internal/naming"
	"github.com/pawl-run/pawl/tool"
)

// readTools makes the tools, or keeps what they are made of.
func (s *Spec) readTools() {
	before := len(s.doc.problems)
	for i := range s.Tools {
		switch w := &s.Tools[i]; {
		case w.MCP != nil:
			s.readServer(w.MCP)
		case w.A2A != nil:
			s.readRemote(w.A2A)
		case w.Hosted != nil:
			s.readHosted(w.Hosted)
		case w.Wait != nil:
			s.add(entry{kind: ofCommand, name: "wait", at: w.Wait.at("wait"), tool: tool.Wait(w.Wait.Wait)}, nil)
		case w.Builtin != nil:
			s.readOwn(w.Builtin)
		case w.Agent != nil:
			s.readDelegate(w.Agent.mark, "agent", w.Agent.AgentOptions, w.Agent.Approval)
		case w.Workflow != nil:
			s.readDelegate(w.Workflow.mark, "workflow", w.Workflow.AgentOptions, w.Workflow.Approval)
		case w.Tool != nil:
			s.readTool(w.Tool)
		}
	}
	s.noTool = len(s.doc.problems) > before || slices.ContainsFunc(append(s.n.all("tools"), s.n.all("tools.*")...), (*node).refused)
}

// An entry is a tool of a spec: one that is made, or an agent that becomes one with its caller's model.
type entry struct {
	kind  toolKind
	name  string
	at    *node // where the name is given
	tool  pawl.Tool
	agent *delegate
	trust pawl.Trust // label of its results; zero: the tool's own
}

type toolKind int

const (
	ofCommand toolKind = iota // also the tools of clients
	ofProgram                 // named under builtin
	ofProvider
	ofSpec
	ofServer
)

// made returns the tools of some kinds, one kind after the other.
func (s *Spec) made(kinds ...toolKind) (all []pawl.Tool) {
	for _, kind := range kinds {
		for _, e := range s.entries {
			if e.kind == kind {
				all = append(all, e.tool)
			}
		}
	}
	return all
}

// add adds a tool with its approval, if it may have its name.
func (s *Spec) add(e entry, approval *whenSpec) {
	twice := slices.IndexFunc(s.entries, func(other entry) bool { return other.name == e.name })
	switch {
	case !naming.ToolName().MatchString(e.name):
		s.doc.problem(e.at, "tool name %q (use 1 to 64 letters, digits, _ or -)", e.name)
	case strings.HasPrefix(e.name, "__"):
		s.doc.problem(e.at, "tool name %q (names that begin with __ belong to the machine; write builtins: true for its tools)", e.name)
	case twice >= 0:
		s.doc.problem(e.at, "there is another tool %s in line %d (give each a name of its own)", e.name, s.entries[twice].at.place.line)
	default:
		s.entries = append(s.entries, e)
		s.gate(approval, e.name)
	}
}

// readTool makes a tool that a program or the client of the run executes.
func (s *Spec) readTool(w *toolItem) {
	if !s.doc.schema(w.n.get("input"), "input") {
		w.Input = nil
	} else if t := w.n.get("input").get("type"); t != nil && t.kind == text && t.text != "object" {
		s.doc.problem(t, "input describes one %s (the arguments of a tool are an object: type: object)", t.text)
		w.Input = nil
	}
	s.checkArguments(w, "reaches", w.Reaches)
	s.checkArguments(w, "content", w.Content)
	s.beside(w.Witness)
	var t pawl.Tool
	if w.Client {
		t = tool.Client(w.Name, w.Description, w.Input, &tool.ClientOptions{
			Effect: w.Effect, Exempt: w.Exempt, Trust: w.Trust, Reaches: w.Reaches, Content: w.Content, Witness: w.Witness, Dir: s.dir,
		})
	} else {
		s.resolve(w.Command, w.mark)
		o := w.CommandOptions
		o.Dir, o.Secrets, o.Cage = s.dir, s.Env, s.cage
		o.Credentials = map[string]*tool.Credentials{}
		for variable, name := range w.Credentials {
			o.Credentials[variable] = s.credential(name, w.at("credentials").get(variable))
		}
		t = tool.Command(w.Name, w.Description, w.Command, &o)
	}
	if w.Name != "" {
		s.add(entry{kind: ofCommand, name: w.Name, at: w.at("name"), tool: t}, w.Approval)
	}
}

// checkArguments reports names that are no arguments of the tool.
func (s *Spec) checkArguments(w *toolItem, key string, names []string) {
	var schema struct{ Properties map[string]json.RawMessage }
	if len(names) == 0 || json.Unmarshal(w.Input, &schema) != nil { // reported elsewhere
		return
	}
	for i, name := range names {
		if schema.Properties[name] == nil {
			s.doc.problem(w.at(key).items[i], "%s names an argument %q that the tool does not have%s", key, name, expr.DidYouMean(name, slices.Sorted(maps.Keys(schema.Properties))))
		}
	}
}

// resolve resolves the elements of a command that start with ./ against the
// spec's directory. An argument may mean something else, as ./... does, and
// stays unless such a file exists.
func (s *Spec) resolve(argv []string, in mark) {
	for i, arg := range argv {
		if i == 0 && arg == "" {
			s.doc.problem(in.at("command").items[i], "command begins with an empty word (the first names a program)")
		}
		if !strings.HasPrefix(arg, "./") {
			continue
		}
		path := filepath.Join(s.base, arg)
		if info, err := os.Stat(path); i == 0 || err == nil && !info.IsDir() {
			argv[i] = path
		}
	}
}
