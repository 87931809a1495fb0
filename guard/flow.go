package guard

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/internal/expr"
)

// DataFlowOptions configure [DataFlow]. The zero value is right.
type DataFlowOptions struct {
	// Hosts may be sent anything: docs.example.org, *.example.org,
	// localhost:8080. Their URLs need no trusted source.
	Hosts []string
	// Strict holds every acting call once the run is tainted, even if a person
	// named its values. It needs no language rules, and asks about nearly
	// everything.
	Strict bool
}

// DataFlow holds for approval what untrusted text may have made the model do.
//
// A run is tainted from its start, as by the files of its input, or from the first result of a tool labelled
// [pawl.Untrusted]; see [pawl.State.Tainted]. After that, a call that acts is
// held for approval unless the value of every decisive argument was named by a
// person (in the prompt, the input or an answer), or by a trusted tool and no
// untrusted text. A call none of whose values has a trusted source is held too.
// The approval request says which value it is and which result it came from.
//
// A call acts if its effect is not [pawl.Read], or if it is a Read that sends
// data: to a URL, a host, or in an argument that [pawl.ToolInfo].Reaches declares. An argument is decisive unless it is text
// for a reader, as [pawl.ToolInfo].Content declares or its name suggests (body,
// message, title), and its value is not just an address or an account. Without
// decisive arguments, the others count as decisive. A date alone does not
// decide, and an id found by a search has a person as its source if its record
// contains the person's words.
//
// A prohibition (do not, never, nothing) does not name the values in it, and a
// verb counts only as an instruction. These rules know only English.
//
// The policy judges names and values, not meaning, and depends only on the
// state. For its limits see docs/governance.md.
func DataFlow(o *DataFlowOptions) pawl.Policy {
	if o == nil {
		o = &DataFlowOptions{}
	}
	f := &flow{hosts: slices.Clone(o.Hosts), strict: o.Strict}
	var parts []string
	if f.strict {
		parts = append(parts, "strict")
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
	name   string
	hosts  []string
	strict bool
}

// String returns the policy with its options as recorded in the log.
func (f *flow) String() string { return f.name }

// Parameters declares the policy as data.
func (f *flow) Parameters() json.RawMessage {
	b, _ := json.Marshal(map[string]bool{"strict": f.strict})
	return b
}

// Waits reports that the agent needs a durable journal.
func (f *flow) Waits() bool { return true }

// Approves reports that the agent waits only for approvals, which an approver
// in the process can give.
func (f *flow) Approves() bool { return true }

// Inherited reports that the policy also applies to sub-agents: the input from
// a tainted agent is untrusted.
func (f *flow) Inherited(*pawl.State, string) bool { return true }

// Check reports options about unknown tools and arguments.
func (f *flow) Check(a pawl.Agent) error {
	tools := map[string]pawl.ToolInfo{}
	for _, t := range all(a) {
		tools[t.Name] = t
	}
	var errs []error
	for _, name := range slices.Sorted(maps.Keys(tools)) {
		info := tools[name]
		declared := formOf(info.Input)
		for _, arg := range slices.Concat(info.Reaches, info.Content) {
			if !declared.names[arg] {
				errs = append(errs, fmt.Errorf("policy data_flow: the tool %s declares an argument %s that it does not have%s", name, arg, expr.DidYouMean(arg, slices.Sorted(maps.Keys(declared.names)))))
			}
		}
	}
	for _, h := range f.hosts {
		if name := strings.TrimPrefix(h, "*."); name == "" || strings.ContainsAny(name, "*/ ?#@") {
			errs = append(errs, fmt.Errorf("policy data_flow: %q is not a host (write docs.example.org, *.example.org or localhost:8080)", h))
		}
	}
	return errors.Join(errs...)
}

// all returns the tools of an agent, of its sub-agents and of its team.
func all(a pawl.Agent) (infos []pawl.ToolInfo) {
	for _, t := range a.Tools {
		if h, ok := t.(interface{ Team() []*pawl.Agent }); ok {
			for _, mate := range h.Team() {
				infos = append(infos, own(*mate)...)
			}
		}
	}
	return append(infos, own(a)...)
}

// own is all without the team.
func own(a pawl.Agent) (infos []pawl.ToolInfo) {
	for _, t := range a.Tools {
		if t == nil {
			continue
		}
		infos = append(infos, t.Info())
		if d, ok := t.(pawl.Delegate); ok {
			infos = append(infos, own(d.Agent())...)
		}
	}
	return infos
}

// Review holds the calls that untrusted text may have caused.
func (f *flow) Review(s *pawl.State, step pawl.Step) pawl.Step {
	act, ok := step.(pawl.Act)
	if !ok || !s.Tainted() {
		return step
	}
	var open []heldCall
	for i := range act.Calls {
		d := &act.Calls[i]
		if d.Do != pawl.CallRun && d.Do != pawl.CallHand && d.Do != pawl.CallAsk || machines(d.Call.Tool) {
			continue
		}
		if h, does := decisive(d); does {
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
			if d.Do == pawl.CallAsk {
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
			act.Calls[h.i].Do, act.Calls[h.i].Why = pawl.CallAsk, why
		}
	})
	return act
}

// machines reports whether a tool belongs to the machine, whose tools have no
// effect outside the run.
func machines(tool string) bool { return strings.HasPrefix(tool, "__") }

// also adds a reason if it is missing.
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

// heldCall is a call that acts, with its values.
type heldCall struct {
	i      int
	values []value // decisive
	prose  []value // text for a reader
	text   bool    // the call has no decisive values, only text
}

// decisive returns the decisive and other values of a call, and whether the
// call acts. Calls of a sub-agent are judged one by one in its own run.
func decisive(d *pawl.Classified) (h heldCall, does bool) {
	info := d.Info()
	if info.Agent != "" {
		return h, false
	}
	every := valuesOf(d.Call.Args, formOf(info.Input).names)
	every = append(every, flagsOf(d.Call.Tool, d.Call.Args)...)
	for i := range every {
		v := &every[i]
		v.reach = isDestination(&info, v)
	}
	if info.Effect == pawl.Read {
		for _, v := range every {
			if v.reach {
				h.values = append(h.values, v)
			}
		}
		return h, h.values != nil
	}
	decides := false
	for _, v := range every {
		if prose(&info, &v) {
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

// prose reports whether a value is text for a reader: by the tool's declaration,
// or the argument's name and value.
func prose(info *pawl.ToolInfo, v *value) bool {
	return !slices.Contains(info.Reaches, v.name) && (slices.Contains(info.Content, v.name) || isContent(v)) && reads(v)
}
