package guard

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/internal/display"
	"github.com/pawl-run/pawl/internal/expr"
	"github.com/pawl-run/pawl/internal/naming"
)

// DataFlowOptions configure [DataFlow]. The zero value is right.
type DataFlowOptions struct {
	// Hosts may be sent anything: docs.example.org, *.example.org,
	// localhost:8080. Their URLs need no trusted source.
	Hosts []string
	// Strict holds every acting call once the run is tainted, even if a person
	// named its values.
	Strict bool
}

// DataFlow holds for approval what untrusted text may have made the model do.
//
// A run is tainted from its start, as by the files of its input, or from the first
// result of a tool labelled [pawl.Untrusted]; see [pawl.State.Tainted]. After that,
// a call that acts is held for approval unless each of its deciding values stands
// in a trusted text: the prompt, the input, an answer or a message of a person, or
// the result of a trusted tool, if no untrusted text has the value. A call none of
// whose values has a trusted source is held too. The approval request says which
// value it is and where it came from.
//
// A call acts if its effect is not [pawl.Read], or if a value says where it goes: one
// of an argument that [pawl.ToolInfo].Reaches declares or that is called a place, such
// as server, or a host in any notation, also within a longer text. All values decide
// but those of the arguments that [pawl.ToolInfo].Content declares to be prose. A date
// decides only if an untrusted text has it. A Write that equals one that succeeded is
// held, too.
//
// The policy compares values and no meaning, in every language, and depends only
// on the state. For its limits see docs/governance.md.
func DataFlow(o *DataFlowOptions) pawl.Policy {
	o = cmp.Or(o, &DataFlowOptions{})
	f := &flow{hosts: slices.Clone(o.Hosts), strict: o.Strict}
	var parts []string
	if f.strict {
		parts = append(parts, "strict")
	}
	if len(f.hosts) > 0 {
		parts = append(parts, "hosts("+expr.Quoted(f.hosts)+")")
	}
	f.name = "data_flow(" + strings.Join(parts, ", ") + ")"
	return f
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
	acting := map[int]action{} // by index
	for i := range act.Calls {
		d := &act.Calls[i]
		if d.Do != pawl.CallRun && d.Do != pawl.CallHand && d.Do != pawl.CallAsk || naming.OfMachine(d.Call.Tool) {
			continue
		}
		if a, ok := actionOf(d); ok {
			acting[i] = a
		}
	}
	if len(acting) == 0 {
		return step
	}
	k := s.Gather("data_flow", func() any { return begun(s) }, func(k any, c pawl.CallState) { k.(*known).add(&c, "") })
	v := k.(*known).view(s)
	if v.first == "" {
		return step // what taints the run was called in this turn
	}
	act.Calls = slices.Clone(act.Calls)
	turn := deeds{} // the Writes of this turn
	for c := range s.Open() {
		turn.record(&c, "")
	}
	for i := range act.Calls {
		d := &act.Calls[i]
		a, ok := acting[i]
		if !ok {
			continue
		}
		why, of := v.objection(&a, f.hosts)
		if why == "" && f.strict {
			why = "the run has read untrusted text, and data flow is strict"
		}
		if earlier := v.repeats(turn, d, &a); earlier != "" {
			why, of = naming.Also(why, "it repeats "+earlier), append(of, a.values...)
		}
		if why != "" {
			d.Do, d.Why, d.Named = pawl.CallAsk, naming.Also(d.Why, why), append(d.Named, argumentsOf(d.Call.Args, of)...)
		}
	}
	return act
}

// action is a call that acts.
type action struct {
	form   form
	values []value // those that decide
	prose  []value // text for a reader
}

// actionOf returns the values of a call, and whether the call acts. Calls of a
// sub-agent are judged one by one in its own run.
func actionOf(d *pawl.Classified) (a action, acts bool) {
	info := d.Info()
	if info.Agent != "" {
		return a, false
	}
	if !info.Foreign { // the schema of an untrusted server chooses nothing
		a.form = formOf(info.Input)
	}
	values := valuesOf(d.Call.Args, a.form.names)
	if info.Effect != pawl.Read {
		values = commands(values)
	}
	for _, v := range values {
		prose := slices.Contains(info.Content, v.name)
		v.reach = slices.Contains(info.Reaches, v.name) || v.kind == '"' && place(v.text) || info.Effect == pawl.Read && v.kind != 't' && v.kind != 'n' && called(v.name, ofPlaces)
		switch {
		case info.Effect == pawl.Read && !v.reach:
			if v.kind == '"' && !prose {
				a.values = append(a.values, placesIn(&v)...)
			}
		case !v.reach && prose && (v.kind == 'n' || v.reads()):
			a.prose = append(a.prose, v)
		default:
			a.values = append(a.values, v)
		}
	}
	if a.values == nil {
		a.values, a.prose = a.prose, nil
	}
	return a, info.Effect != pawl.Read || a.values != nil
}

// reads reports whether a value is text for a reader and nothing else: no address,
// no account, and no control character that could begin a header.
func (v *value) reads() bool {
	control := func(r rune) bool { return unicode.In(r, unicode.Cc, unicode.Zl, unicode.Zp) && r != '\n' && r != '\t' }
	return v.kind == '"' && !identifies(v.text) && !strings.ContainsFunc(v.text, control)
}

// argumentsOf names the arguments that have the values; all arguments if there are no values, or
// if one may stand in an object, where names are not those of arguments.
func argumentsOf(args json.RawMessage, values []value) (names []string) {
	var members map[string]json.RawMessage
	_ = json.Unmarshal(args, &members) // what is no object has no arguments
	for _, v := range values {
		names = append(names, v.name)
	}
	nested := slices.ContainsFunc(slices.Collect(maps.Values(members)), func(raw json.RawMessage) bool { return bytes.ContainsRune(raw, '{') })
	if nested || names == nil || slices.ContainsFunc(names, func(name string) bool { return members[name] == nil }) {
		return slices.Sorted(maps.Keys(members))
	}
	return names
}

// objection returns the reason for holding a call, for a person, and the values that it is about;
// empty: it is not held.
func (w *view) objection(a *action, hosts []string) (why string, of []value) {
	const most = 3
	var whys []string
	named, more := false, 0
	for _, v := range a.values {
		ok, from := w.names(&v)
		switch {
		case ok, v.reach && allowed(v.text, hosts):
			named = true
		case a.form.fixes(v), from == nil && w.dated(&v):
		case len(of) >= most:
			of, more = append(of, v), more+1
		case from == nil:
			of, whys = append(of, v), append(whys, v.shown()+", from no trusted tool and from no person")
		default:
			of, whys = append(of, v), append(whys, v.shown()+", from "+from.from+" and from no person")
		}
	}
	if more > 0 {
		whys = append(whys, fmt.Sprintf("%d more values like these", more))
	}
	for _, v := range a.prose {
		ok, _ := w.names(&v)
		named = named || ok
	}
	if whys == nil && !named {
		whys = append(whys, "nothing in it was named by a person or a trusted tool")
	}
	if whys == nil {
		return "", nil
	}
	return "untrusted text may be behind it (" + w.first + "): " + strings.Join(whys, "; "), of
}

// dated reports whether a value is a date, a time or both, and no untrusted text
// has one of them that no trusted text has. Such a value reaches nobody, so it need
// not be named.
func (w *view) dated(v *value) bool {
	parts := momentOf(fold(v.text))
	return parts != nil && !slices.ContainsFunc(parts, func(part string) bool {
		p := valueOf(v.name, part, '"')
		_, from := w.says(&p)
		return from != nil
	})
}

// shown says what an argument is, for a person: shortened, with invisible
// characters escaped, and foreign letters in Latin text pointed out.
func (v *value) shown() string {
	const most = 80
	what := cmp.Or(v.name, "an argument") + " is "
	if v.kind != '"' {
		return what + v.text
	}
	text := display.Clip(v.text, most)
	latin, other := false, false
	for _, r := range text {
		latin = latin || unicode.Is(unicode.Latin, r)
		other = other || unicode.IsLetter(r) && !unicode.Is(unicode.Latin, r)
	}
	if latin && other {
		return what + strconv.Quote(text) + " (escaped: " + strconv.QuoteToASCII(text) + ")"
	}
	return what + strconv.Quote(text)
}
