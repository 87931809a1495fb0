package explain

import "encoding/json"

// steps are the declared steps of a workflow that ask a model.
type steps []struct {
	If     string `json:"if"`
	Single *struct {
		Prompt string          `json:"prompt"`
		Output json.RawMessage `json:"output"`
	} `json:"single"`
	Cases    map[string]steps `json:"cases"`
	Default  steps            `json:"default"`
	Parallel []steps          `json:"parallel"`
	ForEach  string           `json:"for_each"`
	Max      int              `json:"max"`
	Do       steps            `json:"do"`
}

// Assumed numbers of repetitions.
const (
	usualItems  = 3
	usualRounds = 2
)

// stepsOf returns the declared steps of a workflow or a graph; nil: there are none. A graph
// with a cycle goes through its nodes as a loop does.
func stepsOf(declared json.RawMessage, rounds int) (s steps) {
	var graph struct {
		Nodes steps `json:"nodes"`
	}
	if json.Unmarshal(declared, &s) == nil {
		return s
	}
	if json.Unmarshal(declared, &graph) != nil || graph.Nodes == nil || rounds == 0 {
		return graph.Nodes
	}
	s = make(steps, 1)
	s[0].Max, s[0].Do = rounds, graph.Nodes
	return s
}

// asks returns how often the steps ask a model: at least, and likely, with
// every condition true and the longest case selected. bytes are those of their
// prompts.
func (s steps) asks() (low, likely, bytes int) {
	for i := range s {
		step := &s[i]
		least, rule, size := 0, 0, 0
		if step.Single != nil {
			least, rule, size = 1, 1, len(step.Single.Prompt)+len(step.Single.Output)
		}
		for _, branch := range step.Parallel {
			a, b, n := branch.asks()
			least, rule, size = least+a, rule+b, size+n
		}
		if step.Cases != nil {
			a, b, n := longest(step.Cases, step.Default)
			least, rule, size = least+a, rule+b, size+n
		}
		if step.Do != nil {
			a, b, n := step.Do.asks()
			times := usualItems
			if step.ForEach == "" { // a while loop
				least, times = least+a, min(usualRounds, max(1, step.Max))
			}
			rule, size = rule+b*times, size+n*times
		}
		if step.If != "" {
			least = 0
		}
		low, likely, bytes = low+least, likely+rule, bytes+size
	}
	return low, likely, bytes
}

// longest returns the numbers of the shortest and of the longest case.
func longest(cases map[string]steps, otherwise steps) (low, likely, bytes int) {
	low, likely, bytes = otherwise.asks()
	for _, c := range cases {
		a, b, n := c.asks()
		low = min(low, a)
		if b > likely || b == likely && n > bytes {
			likely, bytes = b, n
		}
	}
	return low, likely, bytes
}
