package cli

import (
	"errors"
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

// databasePath is the file named by --database, by PAWL_DATABASE, or the user's own.
func (a *app) databasePath() (string, error) {
	from, url := "--database", a.database
	if url == "" {
		from, url = "PAWL_DATABASE", a.getenv("PAWL_DATABASE")
	}
	if url == "" {
		return a.ownDatabase()
	}
	scheme, rest, ok := strings.Cut(url, ":")
	switch {
	case ok && scheme == "sqlite" && rest != "":
		return rest, nil
	case scheme == "postgres" || scheme == "postgresql":
		return "", misuse("%s: PostgreSQL is not supported by this version; use sqlite:PATH", from)
	}
	return "", misuse("%s is %q; write sqlite:PATH", from, url)
}

// ownDatabase is where runs are kept when nobody says: under the user's state
// directory, as the XDG Base Directory Specification has it.
func (a *app) ownDatabase() (string, error) {
	dir := a.getenv("XDG_STATE_HOME")
	if !filepath.IsAbs(dir) { // which the specification says is to be ignored
		home := a.getenv("HOME")
		if home == "" {
			return "", refused(errors.New("neither XDG_STATE_HOME nor HOME is set; name the database with --database sqlite:PATH"))
		}
		dir = filepath.Join(home, ".local", "state")
	}
	return filepath.Join(dir, "pawl", "pawl.db"), nil
}
