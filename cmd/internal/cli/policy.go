package cli

import (
	"encoding/json"
	"errors"
	"strings"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/engine/desk"
	"github.com/pawl-run/pawl/spec"
)

// readPolicy reads the file of --policy; nil: there is none. Its error is
// Problems.
func readPolicy(file string) (*spec.Policy, error) {
	if file == "" {
		return nil, nil
	}
	p, err := spec.LoadPolicy(file)
	if problems, ok := errors.AsType[spec.Problems](err); err == nil || ok {
		if ok {
			return nil, problems
		}
		return p, nil
	}
	return nil, unreadable(file, err)
}

// policyKey is where the source of an agent has the policy it is under, beside
// what its maker has written there.
const policyKey = "policy"

// policyRecord is a policy as it was when a run began: whoever goes on with the
// run need not have the file, and cannot do so under less.
type policyRecord struct {
	Path     string `json:"path"`
	Document string `json:"document"`
}

// under puts an agent under a policy, and that on record.
func under(p *spec.Policy, agent pawl.Agent) (pawl.Agent, error) {
	if p == nil {
		return agent, nil
	}
	agent, err := p.Apply(agent)
	if err != nil {
		return agent, refused(err)
	}
	fields := map[string]json.RawMessage{}
	if err := json.Unmarshal([]byte(agent.Source), &fields); err != nil {
		return agent, err
	}
	name, document := p.Source()
	fields[policyKey], err = json.Marshal(policyRecord{name, document})
	if err != nil {
		return agent, err
	}
	b, err := json.Marshal(fields)
	agent.Source = string(b)
	return agent, err
}

// recordedPolicy is the policy a run began under; nil: none.
func recordedPolicy(source string) (*spec.Policy, error) {
	var fields struct {
		Policy *policyRecord `json:"policy"`
	}
	if json.Unmarshal([]byte(source), &fields) != nil || fields.Policy == nil {
		return nil, nil // the source of a program of somebody's own need not be JSON
	}
	return spec.ParsePolicy(fields.Policy.Path, []byte(fields.Policy.Document))
}

// policyFor is the policy under which a run goes on: the one given, which may
// not allow what the one it began under does not, or else that one.
func policyFor(s *pawl.State, given *spec.Policy, loosen bool) (*spec.Policy, error) {
	was, err := recordedPolicy(s.Declaration().Source)
	if err != nil || given == nil {
		return was, err
	}
	if was == nil || loosen {
		return given, nil
	}
	if ways := given.Looser(was); ways != nil {
		return nil, misuse("--policy allows more than the policy the run began under: %s; give one that is at least as strict, or leave it out for that one",
			strings.Join(ways, ", "))
	}
	return given, nil
}

// hold lowers new ceilings to those of a policy.
func (a *app) hold(p *spec.Policy, now, next pawl.Limits) pawl.Limits {
	if p == nil {
		return next
	}
	wanted := now.Merge(next)
	held := p.Lower(wanted)
	name, _ := p.Source()
	if held != wanted && !a.quiet {
		a.sayf("%s: at most %v", name, held)
	}
	return desk.Held(next, wanted, held)
}
