// Package hostile generates an attacker's inputs for tests: paths that would
// lead out of a directory, hosts that must not be fetched, and arguments that
// do not match a schema. The lists are the same each time and have hundreds of
// entries.
package hostile
