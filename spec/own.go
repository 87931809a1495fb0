package spec

import (
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
	"fetch": func(s *Spec) pawl.Tool { return fetch.Tool(&s.fetch) },
}

// readOwn reads an entry that names builtin tools.
func (s *Spec) readOwn(f fields, item *node, taken map[string]int) {
	f = f.titled("tool", builtinKeys, item)
	names := f.value("builtin", list, "a list of names, such as [ask_human]")
	if names == nil {
		return
	}
	var trust pawl.Trust
	choose(f, "trust", &trust)
	for _, n := range names.items {
		if s.ownTool(n.text) == nil {
			f.problem(n.place, "there is no builtin tool %q%s", n.text, expr.DidYouMean(n.text, s.ownNamed()))
			continue
		}
		if same := len(s.programTools(n.text)); same > 1 || same == 1 && ownTools[n.text] != nil {
			f.problem(n.place, "there is another tool %q than that of this program (give the program's another name)", n.text)
			continue
		}
		if !f.names(n.text, n.place, taken) {
			continue
		}
		s.own = append(s.own, n.text)
		if trust > 0 {
			if s.trust == nil {
				s.trust = map[string]pawl.Trust{}
			}
			s.trust[n.text] = trust
		}
		s.gate(f, n.text)
	}
}

// readFetch reads {allow: [docs.example.org]}.
func (s *Spec) readFetch(f fields) {
	n := f.n.get("fetch")
	hosts, at := f.fields(fetchKeys, n).words("allow", "[docs.example.org]")
	if a := n.get("allow"); a != nil && a.kind == list && len(a.items) == 0 {
		f.problem(a.place, "allow is empty (name hosts, or leave it out for all that are public)")
	}
	for i, h := range hosts {
		if objection(fetch.Tool(&fetch.Options{Allow: []string{h}}), pawl.Agent{}) != nil {
			f.problem(at[i].place, "allow has %q (write a host, as in docs.example.org, *.example.org, 10.0.0.7 or localhost:8080)", h)
			continue
		}
		s.fetch.Allow = append(s.fetch.Allow, h)
	}
}
