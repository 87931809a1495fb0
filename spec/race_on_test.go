//go:build race

package spec

// raced says that the tests run under the race detector, whose own memory is
// counted with that of the process that becomes a caged command.
const raced = true
