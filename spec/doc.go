// Package spec creates agents from YAML and JSON files.
//
//	name: procurement
//	model: anthropic/claude-sonnet-5-5
//	prompt: You are a procurement officer.
//	tools:
//	  - name: search_vendors
//	    description: Find vendors by category.
//	    command: [./search.sh]
//	    input: {type: object, properties: {category: {type: string}}, required: [category]}
//	    effect: read
//	stop: tool_called("submit_po") || iterations >= 10
//
// The program registers the models that a spec can name, so that it links only
// the providers it uses:
//
//	registry := &spec.Registry{Models: map[string]spec.Provider{
//		"anthropic": func(name string) (pawl.Model, error) { return anthropic.New(name, nil), nil },
//	}}
//	s, err := spec.Load("agent.yaml", &spec.Options{Registry: registry})
//	…
//	agent, err := s.Agent(registry)
//
// Reading a spec reports all its problems at once, each with its place: see
// [Problems].
//
// # Paths
//
// The program of a command that starts with ./ is relative to the spec's
// directory, and so is a later argument that starts with ./ and names a file
// there. The key dir, relative to the same directory, is the working directory
// of commands. A model script:FILE in a spec is relative to the spec too; in
// [Options] or [Registry] it is relative to the working directory.
//
// # Formats
//
// A file whose name ends in .json is strict JSON, any other is YAML without
// anchors, aliases, merge keys, tags and keys that are not scalars, because a
// spec is for people to read and must not expand. A spec has at most 1 MiB.
// Values are not converted: 5 is not text and "5" is not a number.
package spec
