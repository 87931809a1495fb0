package spec

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/internal/expr"
	"github.com/pawl-run/pawl/tool"
	"github.com/pawl-run/pawl/tool/fetch"
	"github.com/pawl-run/pawl/tool/files"
)

// ownTools are the tools built into Pawl, by name.
var ownTools = map[string]func(*Spec) pawl.Tool{
	"ask_human":    func(*Spec) pawl.Tool { return tool.AskHuman() },
	"read_more":    func(*Spec) pawl.Tool { return tool.ReadMore() },
	"read_file":    func(s *Spec) pawl.Tool { return files.Read(s.dir) },
	"write_file":   func(s *Spec) pawl.Tool { return files.Write(s.dir) },
	"edit_file":    func(s *Spec) pawl.Tool { return files.Edit(s.dir) },
	"list_files":   func(s *Spec) pawl.Tool { return files.List(s.dir) },
	"search_files": func(s *Spec) pawl.Tool { return files.Search(s.dir) },
	"run_command": func(s *Spec) pawl.Tool {
		return tool.RunCommand(&tool.CommandOptions{Dir: s.dir, Secrets: s.Env, Cage: s.cage})
	},
	"fetch": func(s *Spec) pawl.Tool { return fetch.Tool(&s.Fetch) },
}

// readOwn finds the tools that an entry names under builtin: Pawl's, and those that the program
// registered.
func (s *Spec) readOwn(w *builtinItem) {
	known := slices.Collect(maps.Keys(ownTools))
	registered := map[string]pawl.Tool{}
	twice := map[string]bool{}
	for _, t := range s.opt.Registry.program().Tools {
		if t == nil {
			continue
		}
		name := t.Info().Name
		twice[name] = registered[name] != nil || ownTools[name] != nil
		registered[name], known = t, append(known, name)
	}
	for i, name := range w.Builtin {
		n, t := w.at("builtin").items[i], registered[name]
		if make := ownTools[name]; make != nil {
			t = make(s)
		}
		switch {
		case t == nil:
			s.doc.problem(n, "there is no builtin tool %q%s", name, expr.DidYouMean(name, known))
		case twice[name]:
			s.doc.problem(n, "there is another tool %q than that of this program (give the program's another name)", name)
		default:
			s.add(entry{kind: ofProgram, name: name, at: n, tool: t, trust: w.Trust}, w.Approval)
		}
	}
}

// readHosted makes a tool that the provider of the model runs.
func (s *Spec) readHosted(w *hostedItem) {
	if w.Hosted != "" {
		s.add(entry{kind: ofProvider, name: w.Hosted, at: w.at("hosted"), tool: tool.Hosted(w.Hosted, &w.HostedOptions)}, nil)
	}
}

// unhosted finds hosted tools that the provider of a model does not run.
func (s *Spec) unhosted(d *document, a pawl.Agent) {
	for _, e := range s.entries {
		if e.kind != ofProvider {
			continue
		}
		if err := objection(e.tool, a); err != nil {
			d.problem(e.at, "%s", strings.TrimPrefix(err.Error(), "tool \""+e.name+"\": "))
		}
	}
}

// readLoop finds the loop: one of Pawl's, or one that the program registered.
func (s *Spec) readLoop() {
	own := s.opt.Registry.program().Loops
	kind := s.Loop
	switch {
	case own[kind] != nil:
		s.loop, kind = own[kind], ""
	case kind == "react":
		s.loop = pawl.ReAct{}
	case kind == "single":
		s.loop = pawl.SingleCall{}
	case kind != "" && kind != "workflow" && kind != "graph":
		known := slices.AppendSeq([]string{"react", "single", "workflow", "graph"}, maps.Keys(own))
		s.doc.problem(s.at("loop"), "loop is %q%s", kind, expr.DidYouMean(kind, known))
	}
	s.readFlow(kind)
}

// readPolicies finds the registered policies.
func (s *Spec) readPolicies() {
	known := s.opt.Registry.program().Policies
	for _, n := range s.n.get("policies").list() {
		switch p := known[n.text]; {
		case p != nil:
			s.registered = append(s.registered, p)
		case len(known) == 0:
			s.doc.problem(n, "there is no policy %q: this program registers none (leave it out, or run the program that has it)", n.text)
		default:
			s.doc.problem(n, "there is no policy %q%s", n.text, expr.DidYouMean(n.text, slices.Collect(maps.Keys(known))))
		}
	}
}

// program returns the registry, which may be nil.
func (r *Registry) program() Registry {
	if r == nil {
		return Registry{}
	}
	return *r
}

// Registered lists what the spec uses of the program that reads it, such as
// "tool quote", in the order of the spec.
func (s *Spec) Registered() (all []string) {
	of := s.opt.Registry.program()
	for _, e := range s.entries {
		if e.kind == ofProgram && ownTools[e.name] == nil {
			all = append(all, "tool "+e.name)
		}
	}
	if of.Loops[s.Loop] != nil {
		all = append(all, "loop "+s.Loop)
	}
	for _, name := range s.Policies {
		all = append(all, "policy "+name)
	}
	for _, name := range slices.Sorted(maps.Keys(of.When)) {
		if strings.Contains(s.Stop, "when("+strconv.Quote(name)+")") {
			all = append(all, "condition "+name)
		}
	}
	return all
}
