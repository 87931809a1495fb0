package process

import (
	"os"
	"slices"
	"strings"
)

// passed are the variables of the present environment that every command gets:
// enough to find programs, caches, a character set and a directory for
// temporary files. None is secret.
var passed = []string{"PATH", "HOME", "LANG", "TMPDIR"}

// CleanEnv returns PATH, HOME, LANG and TMPDIR if set in the present
// environment, and the extra variables. An extra one is NAME=value, or NAME to
// pass that variable on if it is set. Of several with one name the last counts.
// The result is sorted and never nil.
func CleanEnv(extra ...string) []string {
	values := map[string]string{}
	for _, entry := range slices.Concat(passed, extra) {
		name, value, given := strings.Cut(entry, "=")
		if !given {
			if value, given = os.LookupEnv(name); !given {
				continue
			}
		}
		values[name] = value
	}
	env := make([]string, 0, len(values))
	for name, value := range values {
		env = append(env, name+"="+value)
	}
	slices.Sort(env)
	return env
}
