package workflow

import (
	"encoding/json"
)

// declare writes steps in the form of a spec. Preparing the agent reports steps
// that cannot be written.
func declare(steps []Step) json.RawMessage {
	raw, _ := json.Marshal(written(steps)) // an error leaves it nil
	return raw
}

// declareGraph is declare for a graph.
func declareGraph(nodes []Step, edges []Edge) json.RawMessage {
	list := make([]map[string]any, len(edges))
	for i, e := range edges {
		m := map[string]any{"to": e.To, "join": e.Join.String()}
		if e.From != "" {
			m["from"] = e.From
		}
		if e.If != "" {
			m["if"] = e.If
		}
		list[i] = m
	}
	raw, _ := json.Marshal(map[string]any{"nodes": written(nodes), "edges": list})
	return raw
}

func written(steps []Step) []map[string]any {
	list := make([]map[string]any, len(steps))
	for i, s := range steps {
		its := commonOf(s)
		m := map[string]any{"id": its.id}
		if its.when != "" {
			m["if"] = its.when
		}
		if its.suspend != 0 {
			m["suspend"] = its.suspend.String()
		}
		if its.weight != 0 {
			m["weight"] = its.weight
		}
		write(s, m)
		list[i] = m
	}
	return list
}

// linked adds the conversation that a step goes on with.
func linked(m map[string]any, continues, carry string) {
	if continues != "" {
		m["continues"] = continues
	}
	if carry != "" {
		m["carry"] = carry
	}
}

func write(s Step, m map[string]any) {
	switch s := s.(type) {
	case Single:
		m["single"] = withOutput(map[string]any{"prompt": s.Prompt}, s.Output)
		linked(m, s.Continues, s.Carry)
	case Call:
		m["tool"], m["args"] = s.Tool, object(s.Args)
	case Run:
		m["agent"] = s.Agent.Name
		if s.Input != nil {
			m["input"] = s.Input
		}
		linked(m, s.Continues, s.Carry)
	case Switch:
		cases := map[string]any{}
		for name, steps := range s.Cases {
			cases[name] = written(steps)
		}
		m["switch"], m["cases"] = s.On, cases
		if s.Default != nil {
			m["default"] = written(s.Default)
		}
	case Parallel:
		branches := make([]any, len(s.Branches))
		for i, steps := range s.Branches {
			branches[i] = written(steps)
		}
		m["parallel"] = branches
	case ForEach:
		m["for_each"], m["do"] = s.In, written(s.Do)
		if s.As != "" {
			m["as"] = s.As
		}
		if s.Width != 0 {
			m["width"] = s.Width
		}
		if s.Continue {
			m["on_error"] = "continue"
		}
	case While:
		m["while"], m["max"], m["do"] = s.Cond, s.Max, written(s.Do)
	}
}

func withOutput(m map[string]any, schema json.RawMessage) map[string]any {
	if schema != nil {
		m["output"] = schema
	}
	return m
}

// OneOf returns the schema of a reply that is one of the words, for use with
// Switch.
func OneOf(words ...string) json.RawMessage {
	raw, _ := json.Marshal(map[string]any{"enum": words}) // strings always marshal
	return raw
}
