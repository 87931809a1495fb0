package guard

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/internal/expr"
	"github.com/pawl-run/pawl/internal/glob"
)

// DataFlowOptions are what [DataFlow] may be told beyond what it knows. The zero
// value is right.
type DataFlowOptions struct {
	// Content names, by tool, the arguments that are no more than text for a reader.
	// It replaces what the tool declares and what the names of its arguments tell;
	// with an empty list every argument of the tool decides something.
	Content map[string][]string
	// Sends are names or patterns of tools that carry out what they are asked with,
	// although they only read, such as a search on the web. One with an argument for
	// a URL or a host is known to, as far as that argument goes.
	Sends []string
	// Hosts may be sent anything: docs.example.org, *.example.org, localhost:8080. A
	// URL there needs nobody to have named it.
	Hosts []string
	// Strict holds every call that does something once the run is tainted, even if a
	// person named its values. It relies on no rule about words, and asks about
	// nearly all that people want done.
	Strict bool
}

// DataFlow has a person asked before a model that has read untrusted text does
// what that text may have talked it into.
//
// A run is tainted from the first result on of a tool that is labelled
// [pawl.Untrusted], or from its beginning; see [pawl.State.Tainted]. From then on,
// a call that does something is held for approval, unless every argument that
// decides something has a value that a person has named (in the prompt, the input
// or an answer), or that a trusted tool has named and no untrusted text has. A
// call none of whose values anybody has named is held, too. What a person is
// told says which value it is, and which result it comes from.
//
// A call does something if its effect is not [pawl.Read], or if it is a Read that
// is sent somewhere: to a URL, a host, or as [DataFlowOptions].Sends or
// [pawl.ToolInfo].Reaches say. Of its arguments those decide something that are not
// text for a reader, as [pawl.ToolInfo].Content says, or as their names do (body,
// message, title), unless the value is nothing but an address or an account; if
// there are no others, these do. A date does not decide by itself, and an id that
// searching found is a person's whose words the record holds.
//
// What a sentence forbids (do not, never, nothing) is not named by it, and a verb
// counts only as an instruction. These rules know English only.
//
// It is a rule about names and values, not about meaning, and decides on nothing
// but the state. What it cannot see is in docs/governance.md.
func DataFlow(o *DataFlowOptions) pawl.Policy {
	if o == nil {
		o = &DataFlowOptions{}
	}
	f := &flow{sends: slices.Clone(o.Sends), hosts: slices.Clone(o.Hosts), content: map[string][]string{}}
	var parts []string
	if f.strict = o.Strict; f.strict {
		parts = append(parts, "strict")
	}
	for _, tool := range slices.Sorted(maps.Keys(o.Content)) {
		f.content[tool] = slices.Clone(o.Content[tool])
		parts = append(parts, "content("+strings.Join(append([]string{expr.Quote(tool)}, quoted(o.Content[tool])...), ", ")+")")
	}
	if len(f.sends) > 0 {
		parts = append(parts, "sends("+strings.Join(quoted(f.sends), ", ")+")")
	}
	if len(f.hosts) > 0 {
		parts = append(parts, "hosts("+strings.Join(quoted(f.hosts), ", ")+")")
	}
	f.name = "data_flow(" + strings.Join(parts, ", ") + ")"
	return f
}

func quoted(list []string) []string {
	all := make([]string, len(list))
	for i, s := range list {
		all[i] = expr.Quote(s)
	}
	return all
}

// flow is the policy. It is immutable.
type flow struct {
	name    string
	content map[string][]string
	sends   []string
	hosts   []string
	strict  bool
}

// String prints the policy with its options, which are thereby part of what a run
// is held to.
func (f *flow) String() string { return f.name }

// Waits tells that the agent needs a journal which outlives the process.
func (f *flow) Waits() bool { return true }

// Approves tells that approvals are all it waits for, which an approver in the
// process can give.
func (f *flow) Approves() bool { return true }

// Inherited has it hold for agents that are tools of its agent: what they are
// asked by one that is tainted is untrusted itself.
func (f *flow) Inherited() bool { return true }

// Check refuses options about tools and arguments that there are not.
func (f *flow) Check(a pawl.Agent) error {
	tools := map[string]pawl.ToolInfo{}
	for _, t := range all(a) {
		tools[t.Name] = t
	}
	names := slices.Sorted(maps.Keys(tools))
	var errs []error
	for _, tool := range slices.Sorted(maps.Keys(f.content)) {
		info, ok := tools[tool]
		if !ok {
			errs = append(errs, fmt.Errorf("policy data_flow: there is no tool %q%s", tool, expr.DidYouMean(tool, names)))
			continue
		}
		declared := formOf(info.Input)
		for _, arg := range f.content[tool] {
			if !declared.names[arg] {
				errs = append(errs, fmt.Errorf("policy data_flow: the tool %s has no argument %s%s", tool, arg, expr.DidYouMean(arg, slices.Sorted(maps.Keys(declared.names)))))
			}
		}
	}
	for _, name := range names {
		info := tools[name]
		declared := formOf(info.Input)
		for _, arg := range slices.Concat(info.Reaches, info.Content) {
			if !declared.names[arg] {
				errs = append(errs, fmt.Errorf("policy data_flow: the tool %s declares an argument %s that it does not have%s", name, arg, expr.DidYouMean(arg, slices.Sorted(maps.Keys(declared.names)))))
			}
		}
	}
	for _, pattern := range f.sends {
		if !slices.ContainsFunc(names, func(name string) bool { return glob.Match(pattern, name) }) {
			errs = append(errs, fmt.Errorf("policy data_flow: no tool fits %q%s", pattern, expr.DidYouMean(pattern, names)))
		}
	}
	for _, h := range f.hosts {
		if name := strings.TrimPrefix(h, "*."); name == "" || strings.ContainsAny(name, "*/ ?#@") {
			errs = append(errs, fmt.Errorf("policy data_flow: %q is no host (write docs.example.org, *.example.org or localhost:8080)", h))
		}
	}
	return errors.Join(errs...)
}

// all are the tools of an agent and of those that are its tools.
func all(a pawl.Agent) (infos []pawl.ToolInfo) {
	for _, t := range a.Tools {
		if t == nil {
			continue
		}
		infos = append(infos, t.Info())
		if d, ok := t.(pawl.Delegate); ok {
			infos = append(infos, all(d.Agent())...)
		}
	}
	return infos
}

// Review holds the calls that untrusted text may be behind.
func (f *flow) Review(s *pawl.State, step pawl.Step) pawl.Step {
	act, ok := step.(pawl.Act)
	if !ok || !s.Tainted() {
		return step
	}
	var open []held
	old := s.Machine() < 3
	for i := range act.Calls {
		d := &act.Calls[i]
		if d.Do != pawl.RunCall && d.Do != pawl.Hand && d.Do != pawl.Ask || machines(d.Call.Tool) {
			continue
		}
		if h, does := f.decisive(d, old); does {
			h.i = i
			open = append(open, h)
		}
	}
	if open == nil {
		return step
	}
	changed := false
	s.Gather("data_flow", func() any { return begun(s) }, func(k any, c pawl.CallState) { k.(*known).add(s, c) }, func(k any) {
		v := k.(*known).view(s)
		for _, h := range open {
			d := &act.Calls[h.i]
			c, ok := s.Call(d.Call.ID)
			if !ok || !v.influenced(&c) {
				continue
			}
			why := v.objection(h, d.Info(), f.hosts)
			if why == "" && f.strict {
				why = "the run has read untrusted text, and data flow is strict"
			}
			if d.Do == pawl.Ask {
				if why = also(d.Why, why); why == d.Why {
					continue
				}
			}
			if why == "" {
				continue
			}
			if !changed {
				act.Calls, changed = slices.Clone(act.Calls), true
			}
			act.Calls[h.i].Do, act.Calls[h.i].Why = pawl.Ask, why
		}
	})
	return act
}

// machines reports whether a tool is one of the machine's, which do nothing
// outside of the run.
func machines(tool string) bool { return strings.HasPrefix(tool, "__") }

// also adds a reason to those that are there, once.
func also(reasons, why string) string {
	const between = "; "
	switch {
	case why == "" || strings.Contains(between+reasons+between, between+why+between):
		return reasons
	case reasons == "":
		return why
	}
	return reasons + between + why
}

// held is a call that does something, and its values.
type held struct {
	i      int
	values []value // decide what it does
	prose  []value // do not
	text   bool    // all of them are text, which is all that it does
}

// decisive are the values of a call that decide what it does and those that do not,
// and whether it does anything at all. An agent's run is looked at call by call, in
// the run itself. old is for a log before machine 3.
func (f *flow) decisive(d *pawl.Disposed, old bool) (h held, does bool) {
	info := d.Info()
	if info.Agent != "" {
		return h, false
	}
	every := valuesOf(d.Call.Args, formOf(info.Input).names)
	if !old {
		every = append(every, flagsOf(d.Call.Tool, d.Call.Args)...)
	}
	for i := range every {
		v := &every[i]
		v.reach = old && reaches[lastWord(v.name)] || !old && goes(&info, v)
	}
	fits := func(p string) bool { return glob.Match(p, d.Call.Tool) }
	if info.Effect == pawl.Read && !slices.ContainsFunc(f.sends, fits) {
		for _, v := range every {
			if v.reach {
				h.values = append(h.values, v)
			}
		}
		return h, h.values != nil
	}
	decides := false
	for _, v := range every {
		if f.prose(&info, &v, old) {
			h.prose = append(h.prose, v)
			continue
		}
		h.values = append(h.values, v)
		decides = decides || !v.flag
	}
	if !decides {
		h.values, h.prose, h.text = every, nil, true
	}
	return h, true
}

// prose reports whether a value is text for a reader: as the options say, as the
// tool declares, or by the argument's name and the value's look.
func (f *flow) prose(info *pawl.ToolInfo, v *value, old bool) bool {
	own, says := f.content[info.Name]
	switch {
	case old && !says:
		return wasContent(v.name)
	case old:
		return slices.Contains(own, v.name)
	case says:
		return slices.Contains(own, v.name) && reads(v)
	}
	return !slices.Contains(info.Reaches, v.name) && (slices.Contains(info.Content, v.name) || isContent(v)) && reads(v)
}
