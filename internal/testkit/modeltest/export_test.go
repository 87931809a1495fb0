package modeltest

// Rules are the names of all rules.
func Rules() []string {
	var names []string
	for _, part := range parts() {
		for _, r := range part {
			names = append(names, r.name)
		}
	}
	return names
}
