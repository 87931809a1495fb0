package team

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/pawl-run/pawl"
)

// A BackgroundTool is a tool with which a model collects, messages or cancels the runs that it
// has started in the background.
type BackgroundTool string

// The tools.
const (
	Collect BackgroundTool = "collect" // waits for a run, and returns its answer
	Message BackgroundTool = "message" // says something to a run
	Cancel  BackgroundTool = "cancel"  // ends a run
)

// backgroundTool is a [BackgroundTool] of an agent. Its calls are a Read: however often one
// runs, it has one effect.
type backgroundTool struct {
	what  BackgroundTool
	trust pawl.Trust // in what the runs answer
}

// background reports whether the calls of a tool are runs in the background.
func background(t pawl.Tool) bool {
	return t != nil && t.Info().Background
}

// withBackground adds what an agent needs whose runs go on in the background.
func withBackground(a pawl.Agent) pawl.Agent {
	if !slices.ContainsFunc(a.Tools, background) {
		return a
	}
	trust := pawl.Trusted
	for _, t := range a.Tools {
		if d, ok := t.(pawl.Delegate); ok && background(t) && answers(d, a) == pawl.Untrusted {
			trust = pawl.Untrusted
		}
	}
	a.Tools = slices.Clone(a.Tools)
	for _, what := range []BackgroundTool{Collect, Message, Cancel} {
		a.Tools = append(a.Tools, backgroundTool{what, trust})
	}
	a.Policies = append(slices.Clone(a.Policies), collected)
	return a
}

// answers is the trust in what an agent in the background answers.
func answers(d pawl.Delegate, a pawl.Agent) pawl.Trust {
	if own, ok := a.Trust[d.Info().Name]; ok {
		return own
	}
	if b, ok := d.(interface{ Answers() pawl.Trust }); ok && b.Answers() != 0 {
		return b.Answers()
	}
	if untrusted(d.Agent()) {
		return pawl.Untrusted
	}
	return pawl.Trusted
}

const anID = `"id":{"type":"string","description":"What the call that began it returned, such as c_3."}`

// Info declares the tool.
func (b backgroundTool) Info() pawl.ToolInfo {
	info := pawl.ToolInfo{Name: string(b.what), Effect: pawl.Read}
	switch b.what {
	case Collect:
		info.Description = "Wait for an agent that works in the background, and get its answer. Without an id: of one that is done, or else of the one begun first. Call it several times in one reply to wait for several."
		info.Input = json.RawMessage(`{"type":"object","properties":{` + anID + `}}`)
	case Message:
		info.Description = "Tell an agent that works in the background something. It reads that before its next step."
		info.Input = json.RawMessage(`{"type":"object","properties":{` + anID + `,"text":{"type":"string","minLength":1}},"required":["id","text"]}`)
	case Cancel:
		info.Description = "End the work of an agent in the background, since its answer is not needed any more."
		info.Input = json.RawMessage(`{"type":"object","properties":{` + anID + `,"why":{"type":"string","minLength":1}},"required":["id","why"]}`)
	}
	if b.what != Message {
		info.Trust = b.trust
	}
	return info
}

// Run fails: only an engine drives runs.
func (b backgroundTool) Run(context.Context, pawl.Invocation) (pawl.Output, error) {
	return pawl.Output{}, errors.New("runs in the background are driven by an engine")
}

// OnBackground returns which [BackgroundTool] a tool is; false: it is none of them.
func OnBackground(t pawl.Tool) (what BackgroundTool, ok bool) {
	b, ok := t.(backgroundTool)
	return b.what, ok
}

// IsBackgroundTool reports whether a declaration is that of a [BackgroundTool].
func IsBackgroundTool(info pawl.ToolInfo) bool {
	return info.Description == backgroundTool{what: BackgroundTool(info.Name)}.Info().Description && info.Description != ""
}

// BackgroundArgs are the arguments of a [BackgroundTool].
type BackgroundArgs struct{ ID, Text, Why string }

// Begun returns the background run that a call of a [BackgroundTool] is about. Without an ID
// that is the first one for which done reports that it has ended, or else the first one.
func Begun(s *pawl.State, args json.RawMessage, done func(run string) bool) (of pawl.Classified, a BackgroundArgs, err error) {
	_ = json.Unmarshal(args, &a) // validated before
	all := s.Background()
	taken := map[string]string{} // by calls of the same reply
	for c := range s.Open() {
		if c.Child != "" && c.Phase == pawl.PhaseStarted {
			taken[c.Child] = c.ID
		}
	}
	if a.ID == "" {
		all = slices.DeleteFunc(all, func(c pawl.Classified) bool { return taken[c.Child] != "" })
	}
	is := func(c pawl.Classified) bool { return c.Call.ID == a.ID }
	if a.ID == "" {
		is = func(c pawl.Classified) bool { return done(c.Child) }
	}
	switch i := slices.IndexFunc(all, is); {
	case i >= 0 && taken[all[i].Child] != "":
		return of, a, fmt.Errorf("%s deals with %s already", taken[all[i].Child], a.ID)
	case i >= 0:
		return all[i], a, nil
	case a.ID == "" && len(all) > 0:
		return all[0], a, nil
	case len(all) == 0:
		return of, a, errors.New("nothing works in the background")
	}
	return of, a, fmt.Errorf("nothing works in the background as %s; there is %s", a.ID, listed(all))
}

func listed(all []pawl.Classified) string {
	var names []string
	for _, c := range all {
		names = append(names, fmt.Sprintf("%s (%s)", c.Call.ID, c.Call.Tool))
	}
	return strings.Join(names, ", ")
}

// An unfinished policy rejects an answer while something is left to do.
type unfinished struct {
	name string
	left func(*pawl.State) string // what, and what to do about it; empty: nothing
}

// String returns the policy as recorded in the log.
func (u *unfinished) String() string { return u.name }

// LeavesActs reports that the policy has nothing to say about calls.
func (u *unfinished) LeavesActs() bool { return true }

// Review rejects an answer.
func (u *unfinished) Review(s *pawl.State, step pawl.Step) pawl.Step {
	end, ends := step.(pawl.Finish)
	if !ends || end.Verdict.Status != pawl.StatusSuccess {
		return step
	}
	if why := u.left(s); why != "" {
		if reject, ok := s.Reject([]string{why}); ok {
			return reject
		}
	}
	return step
}

// collected holds a run whose model answers while others work for it.
var collected = &unfinished{"collected()", func(s *pawl.State) string {
	all := s.Background()
	if len(all) == 0 {
		return ""
	}
	return fmt.Sprintf("what works in the background is not collected: %s: collect it, or cancel it, and answer then", listed(all))
}}
