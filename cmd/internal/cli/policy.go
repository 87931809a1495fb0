package cli

import (
	"encoding/json"
	"errors"
	"math"
	"slices"
	"strings"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/engine"
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

// held returns the file of a policy, and which of a run's limits are the most that it
// allows, as leaves of a stop condition name them.
func held(p *spec.Policy, l pawl.Limits) (file string, kinds []string) {
	if p == nil {
		return "", nil
	}
	most := p.Lower(pawl.Limits{Iterations: math.MaxInt, Tokens: math.MaxInt, Time: math.MaxInt64, Cost: math.MaxFloat64})
	for kind, at := range map[string]bool{
		"iterations": l.Iterations >= most.Iterations, "tokens": l.Tokens >= most.Tokens, "elapsed": l.Time >= most.Time, "cost": l.Cost >= most.Cost,
	} {
		if at {
			kinds = append(kinds, kind)
		}
	}
	file, _ = p.Source()
	return file, kinds
}

// heldBy is [held] by the policy that an agent's source records.
func heldBy(source string, l pawl.Limits) (file string, kinds []string) {
	p, err := recordedPolicy(source)
	if err != nil {
		return "", nil
	}
	return held(p, l)
}

// spent explains why a run has used up its limits, if a policy holds them down.
func (w *work) spent(err error) error {
	if spent, ok := errors.AsType[*engine.SpentError](err); ok && !spent.Stop {
		kind, _, _ := strings.Cut(spent.Leaf, " ")
		if file, kinds := held(w.policy, w.limits); slices.Contains(kinds, kind) {
			return misuse("run %s would end at once: %s (%s), and %s allows no more; raise the limit there, and resume again with --policy %[4]s --allow-change",
				spent.Run, spent.Leaf, spent.Used, file)
		}
	}
	return err
}
