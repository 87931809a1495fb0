package jsonschema

// Tell tells a model what is wrong with its answer and what the answer must
// follow; nil: there are no problems.
func Tell(problems []Problem, schema string) (reasons []string) {
	for _, p := range problems {
		path := p.Path
		if path == "" {
			path = "the answer"
		}
		reasons = append(reasons, path+": "+p.Message)
	}
	if reasons != nil {
		reasons = append(reasons, "answer with one JSON document that follows this schema: "+schema)
	}
	return reasons
}
