package cli

import (
	"errors"
	"net/url"
	"path/filepath"
	"strings"
)

// getenv looks a variable up in the invocation's environment.
func (a *app) getenv(name string) string {
	value := ""
	for _, entry := range a.environ {
		if v, ok := strings.CutPrefix(entry, name+"="); ok {
			value = v // the last one counts, as for a process that is started with it
		}
	}
	return value
}

// databaseURL is what --database or PAWL_DATABASE names, or the user's own file:
// a path, or the URL of a server.
func (a *app) databaseURL() (string, error) {
	from, named := a.namedDatabase()
	if named == "" {
		return a.ownDatabase()
	}
	if onServer(named) {
		return named, nil
	}
	if path, ok := strings.CutPrefix(named, "sqlite:"); ok && path != "" {
		return path, nil
	}
	return "", misuse("%s is %q; write sqlite:PATH or postgres://USER@HOST/NAME", from, named)
}

// namedDatabase is the database that somebody names, and where; empty: nobody does.
func (a *app) namedDatabase() (from, named string) {
	if a.database != "" {
		return "--database", a.database
	}
	return "PAWL_DATABASE", a.getenv("PAWL_DATABASE")
}

// onServer reports whether a database is named by the URL of a server, not by a path.
func onServer(url string) bool {
	return strings.HasPrefix(url, "postgres://") || strings.HasPrefix(url, "postgresql://")
}

// databaseName is by what a database is known again: its full path, or its URL
// without who asks and how, where a password may be.
func (a *app) databaseName() (string, error) {
	name, err := a.databaseURL()
	if err != nil {
		return "", err
	}
	if !onServer(name) {
		return filepath.Abs(name)
	}
	u, err := url.Parse(name)
	if err != nil {
		return "", errors.New("the URL of the database cannot be read") // the error would say all of it
	}
	return "postgres://" + u.Host + u.Path, nil
}

// ownDatabase is where runs are kept when nobody says: under the user's state
// directory, as the XDG Base Directory Specification has it.
func (a *app) ownDatabase() (string, error) {
	return a.stateFile("pawl.db", "name the database with --database sqlite:PATH")
}

// stateFile is a file of ours under the user's state directory; otherwise is what to
// do where there is none.
func (a *app) stateFile(name, otherwise string) (string, error) {
	dir := a.getenv("XDG_STATE_HOME")
	if !filepath.IsAbs(dir) { // which the specification says is to be ignored
		home := a.getenv("HOME")
		if home == "" {
			return "", refused(errors.New("neither XDG_STATE_HOME nor HOME is set; " + otherwise))
		}
		dir = filepath.Join(home, ".local", "state")
	}
	return filepath.Join(dir, "pawl", name), nil
}
