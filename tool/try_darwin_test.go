package tool_test

// try does nothing: there are no cages here.
func try([]string) {}
