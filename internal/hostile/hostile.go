// Package hostile makes lists of what an attacker might write, for tests: paths
// that would lead out of a directory, places on the network that nobody should be
// fetched from, and arguments that are not what a schema asks for. The lists are
// made by rules and are the same each time; each has hundreds of entries.
package hostile
