// Package spec makes agents of YAML and JSON files.
//
//	name: procurement
//	model: anthropic/claude-sonnet-4-5
//	prompt: You are a procurement officer.
//	tools:
//	  - name: search_vendors
//	    description: Find vendors by category.
//	    command: [./search.sh]
//	    input: {type: object, properties: {category: {type: string}}, required: [category]}
//	    effect: read
//	stop: tool_called("submit_po") || iterations >= 10
//
// Which models a spec can name is up to the program, so that it links no
// provider it does not use:
//
//	registry := &spec.Registry{Models: map[string]spec.Provider{
//		"anthropic": func(name string) (pawl.Model, error) { return anthropic.New(name, nil), nil },
//	}}
//	s, err := spec.Load("agent.yaml", &spec.Options{Registry: registry})
//	…
//	agent, err := s.Agent(registry)
//
// Everything that is wrong with a spec is told at once, each thing with its
// place: see [Problems].
//
// # Paths
//
// The program of a command that starts with ./ is relative to the spec's
// directory, and so is a later argument that starts with ./ and is a file
// there. The key dir, relative to the same directory, is where commands run. A
// model script:FILE in a spec is relative to it as well; one that is given from
// outside, in [Options] or [Registry], is relative to the working directory.
//
// # What is read
//
// A file whose name ends in .json is strict JSON, any other is YAML, of which
// anchors, aliases, merge keys, tags and keys that are no scalars are refused:
// a spec is to be read by people, and should not be able to grow. A spec has at
// most 1 MiB. Nothing is converted: 5 is no text and "5" no number.
package spec
