package spec

import (
	"cmp"
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/tool"
)

// The machine's rules for names and limits, checked here as well because the
// place is known.
var (
	agentName = regexp.MustCompile(`^[a-z0-9-]+$`)
	toolName  = regexp.MustCompile(`^[a-zA-Z0-9_-]{1,64}$`)
	variable  = regexp.MustCompile(`^[^=\x00]+$`)
)

const (
	mostIterations = 10_000
	mostMargin     = 10
)

// toolSpec is a tool declared in a spec.
type toolSpec struct {
	name, description string
	client            bool
	argv              []string
	input             json.RawMessage
	options           tool.CommandOptions
	gate              gate
	gated             bool // gate is set
}

func (s *Spec) readTools(f fields) {
	n := f.value("tools", list, "a list of tools, each with name, description and command")
	if n == nil {
		if f.n.get("tools") != nil {
			s.toolsUnread = []string{"*"}
		}
		return
	}
	taken := map[string]int{}
	for _, item := range n.items {
		named, problems := len(taken)+len(s.servers), len(f.problems)
		s.readEntry(f, item, taken)
		if len(f.problems) > problems && len(taken)+len(s.servers) == named {
			s.toolsUnread = append(s.toolsUnread, s.mayBe(item))
		}
	}
}

// mayBe returns a pattern for the names that the tools of an entry with problems may have.
func (s *Spec) mayBe(item *node) string {
	file := cmp.Or(item.get("agent"), item.get("workflow"))
	switch {
	case item.name() != "":
		return item.name()
	case file != nil:
		_, root := readDocument(file.text, s.family.files[s.at(file.text)])
		return cmp.Or(root.name(), strings.TrimSuffix(filepath.Base(file.text), filepath.Ext(file.text)))
	case item.get("mcp").name() != "":
		return item.get("mcp").name() + "__*"
	}
	return "*"
}

// readEntry reads an entry, whose keys say what kind of tool it is.
func (s *Spec) readEntry(f fields, item *node, taken map[string]int) {
	switch {
	case item.get("mcp") != nil:
		s.readServer(f, item)
	case item.get("a2a") != nil:
		s.readRemote(f, item, taken)
	case item.get("hosted") != nil:
		s.readHosted(f, item, taken)
	case item.get("builtin") != nil:
		s.readOwn(f, item, taken)
	case item.get("agent") != nil || item.get("workflow") != nil:
		s.readDelegate(f, item, taken)
	default:
		t := s.readTool(f, item)
		if at := item.get("name"); at != nil && t.name != "" && f.names(t.name, at.place, taken) {
			s.tools = append(s.tools, t)
			if t.gated {
				s.gates = append(s.gates, t.gate)
			}
		}
	}
}

// names takes a name for a tool, and reports whether it may have it.
func (f fields) names(name string, at place, taken map[string]int) bool {
	switch line, clash := taken[name]; {
	case !toolName.MatchString(name):
		f.problem(at, "tool name %q (use 1 to 64 letters, digits, _ or -)", name)
	case strings.HasPrefix(name, "__"):
		f.problem(at, "tool name %q (names that begin with __ belong to the machine; write builtins: true for its tools)", name)
	case clash:
		f.problem(at, "there is another tool %s in line %d (give each a name of its own)", name, line)
	default:
		taken[name] = at.line
		return true
	}
	return false
}

func (s *Spec) readTool(f fields, n *node) (t toolSpec) {
	f = f.fields(toolKeys, n)
	if n.kind != mapping {
		return t
	}
	f.text("name", &t.name)
	f.text("description", &t.description)
	f.flag("client", &t.client)
	t.input = f.arguments("input")
	o := &t.options
	choose(f, "effect", &o.Effect)
	choose(f, "on_doubt", &o.OnDoubt)
	choose(f, "trust", &o.Trust)
	o.Input, o.Reaches, o.Content = t.input, f.flows(t.input, "reaches"), f.flows(t.input, "content")
	o.Exempt, o.Alone = f.word("stuck") == "exempt", f.off("parallel")
	f.duration("timeout", &o.Timeout)
	f.maxOutput(&o.MaxOutput)
	f.count("max_calls", &o.MaxCalls, 1, "5")
	f.count("max_parallel", &o.MaxParallel, 1, "3")
	o.Dir, o.Secrets, o.Cage = s.dir, s.Env, s.cage
	o.Witness = s.readWitness(f)
	t.gate, t.gated = f.readGate(t.name)

	what := f.called(f.t.title)
	if !t.client {
		f.lacks(what, "command")
		t.argv = s.argv(f, "command", "[./lookup.sh]")
		return t
	}
	for _, key := range commandOnly {
		for _, p := range n.pairs {
			if p.key == key {
				f.problem(p.place, "%s is for commands, and %s is run by the client (leave it out)", key, what)
			}
		}
	}
	return t
}

func (t toolSpec) tool() pawl.Tool {
	if t.client {
		return tool.Client(t.name, t.description, t.input, &tool.ClientOptions{
			Effect: t.options.Effect, Exempt: t.options.Exempt, Trust: t.options.Trust, Reaches: t.options.Reaches, Content: t.options.Content, Witness: t.options.Witness, Dir: t.options.Dir,
		})
	}
	return tool.Command(t.name, t.description, t.argv, &t.options)
}

// argv reads a program and its arguments.
func (s *Spec) argv(f fields, key, example string) []string {
	n := f.n.get(key)
	if n != nil && n.kind == text {
		f.problem(n.place, "%s is text (write a list such as %s; there is no shell)", key, example)
		return nil
	}
	for _, item := range n.all("*") {
		if item.word != "" { // an argument is text, also if it looks like a number
			item.kind, item.style, item.text = text, plain, item.word
		}
	}
	argv, at := f.words(key, example)
	if n != nil && n.kind == list && len(n.items) == 0 {
		f.problem(n.place, "%s is empty (list the program and its arguments)", key)
	}
	for i, arg := range argv {
		if i == 0 && arg == "" {
			f.problem(at[i].place, "%s begins with an empty word (the first names a program)", key)
		}
		argv[i] = s.beside(i, arg)
	}
	return argv
}

// beside resolves an element of a command that starts with ./ against the
// spec's directory. An argument may mean something else, as ./... does, and
// stays unless such a file exists.
func (s *Spec) beside(i int, arg string) string {
	if !strings.HasPrefix(arg, "./") {
		return arg
	}
	path := filepath.Join(s.base, arg)
	if i > 0 {
		if info, err := os.Stat(path); err != nil || info.IsDir() { //nolint:gosec // the spec that names the file may start it
			return arg
		}
	}
	return path
}

// readCommand reads {command: [...]} under a key.
func (s *Spec) readCommand(f fields, key, example string) []string {
	n := f.n.get(key)
	if n == nil {
		return nil
	}
	c := f.titled(key, commandKeys, n)
	if n.kind != mapping {
		return nil
	}
	return s.argv(c, "command", example)
}
