//go:build linux || darwin

package process

import "path/filepath"

// Locate returns the file that [Run] would execute for c now, as a path that is
// absolute or relative to the present directory. It runs nothing; its error is
// a [*StartError].
func Locate(c Command) (string, error) {
	if len(c.Argv) == 0 || c.Argv[0] == "" {
		return "", &StartError{Reason: "the command is empty; its first element must name a program"}
	}
	path, err := locate(c)
	if err == nil && !filepath.IsAbs(path) {
		path = filepath.Join(c.Dir, path)
	}
	return path, err
}
