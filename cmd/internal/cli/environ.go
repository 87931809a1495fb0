package cli

import (
	"errors"
	"net/url"
	"path/filepath"
	"strings"
)

// getenv looks a variable up in the invocation's environment.
func (env *environment) getenv(name string) string {
	value := ""
	for _, entry := range env.environ {
		if v, ok := strings.CutPrefix(entry, name+"="); ok {
			value = v // the last one counts, as for a process that is started with it
		}
	}
	return value
}

// databaseURL is the database of --database or PAWL_DATABASE, or the user's default:
// a path, or the URL of a server.
func (env *environment) databaseURL() (string, error) {
	from, named := env.namedDatabase()
	if named == "" {
		return env.ownDatabase()
	}
	if onServer(named) {
		return named, nil
	}
	if path, ok := strings.CutPrefix(named, "sqlite:"); ok && path != "" {
		return path, nil
	}
	return "", misuse("%s is %q; write sqlite:PATH or postgres://USER@HOST/NAME", from, named)
}

// namedDatabase returns the database that a flag or variable names, and which; empty: none does.
func (env *environment) namedDatabase() (from, named string) {
	if env.database != "" {
		return "--database", env.database
	}
	return "PAWL_DATABASE", env.getenv("PAWL_DATABASE")
}

// onServer reports whether url names a database server rather than a file.
func onServer(url string) bool {
	return strings.HasPrefix(url, "postgres://") || strings.HasPrefix(url, "postgresql://")
}

// databaseName identifies a database: its full path, or its URL without user and
// parameters, which may hold a password.
func (env *environment) databaseName() (string, error) {
	name, err := env.databaseURL()
	if err != nil {
		return "", err
	}
	if !onServer(name) {
		return filepath.Abs(name)
	}
	u, err := url.Parse(name)
	if err != nil {
		return "", errors.New("the URL of the database is malformed") // the parser's error would repeat the URL with its password
	}
	return "postgres://" + u.Host + u.Path, nil
}

// ownDatabase is the default database: under the user's state directory, by the XDG
// Base Directory Specification.
func (env *environment) ownDatabase() (string, error) {
	return env.stateFile("pawl.db", "name the database with --database sqlite:PATH")
}

// stateFile is a file under the user's state directory; otherwise says what to do if
// that directory is unknown.
func (env *environment) stateFile(name, otherwise string) (string, error) {
	dir := env.getenv("XDG_STATE_HOME")
	if !filepath.IsAbs(dir) { // the specification says to ignore a relative path
		home := env.getenv("HOME")
		if home == "" {
			return "", refused(errors.New("neither XDG_STATE_HOME nor HOME is set; " + otherwise))
		}
		dir = filepath.Join(home, ".local", "state")
	}
	return filepath.Join(dir, "pawl", name), nil
}
