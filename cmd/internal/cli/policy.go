package cli

import (
	"encoding/json"
	"errors"
	"strings"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/spec"
)

// readPolicy reads the file of --policy; nil: the flag is not given. Its error is
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

// policyRecord is a policy as it was when a run began. A process that resumes the run
// applies it without the file, and cannot apply a looser one.
type policyRecord struct {
	Path     string `json:"path"`
	Document string `json:"document"`
}

// under applies a policy to an agent and records it in the agent's source.
func under(p *spec.Policy, agent pawl.Agent) (pawl.Agent, error) {
	if p == nil {
		return agent, nil
	}
	agent, err := p.Apply(agent)
	if err != nil {
		return agent, refused(err)
	}
	name, document := p.Source()
	agent.Source = withMembers(agent.Source, struct {
		Policy policyRecord `json:"policy"`
	}{policyRecord{name, document}})
	return agent, nil
}

// recordedPolicy is the policy a run began under; nil: none.
func recordedPolicy(source string) (*spec.Policy, error) {
	var fields struct {
		Policy *policyRecord `json:"policy"`
	}
	if json.Unmarshal([]byte(source), &fields) != nil || fields.Policy == nil {
		return nil, nil // a program may use a source that is not JSON
	}
	return spec.ParsePolicy(fields.Policy.Path, []byte(fields.Policy.Document))
}

// policyFor is the policy that a resumed run gets: the given one, which must be at
// least as strict as the recorded one unless loosen, or else the recorded one.
func policyFor(s *pawl.State, given *spec.Policy, loosen bool) (*spec.Policy, error) {
	was, err := recordedPolicy(s.Declaration().Source)
	if err != nil || given == nil {
		return was, err
	}
	if was == nil || loosen {
		return given, nil
	}
	if ways := given.Looser(was); ways != nil {
		return nil, misuse("--policy allows more than the policy the run began under: %s; give one that is at least as strict, or leave out --policy to keep that one",
			strings.Join(ways, ", "))
	}
	return given, nil
}
