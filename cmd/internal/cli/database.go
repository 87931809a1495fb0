package cli

import (
	"context"
	"encoding/base64"
	"errors"
	"io"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/journal/postgres"
	"github.com/pawl-run/pawl/journal/seal"
	"github.com/pawl-run/pawl/journal/sqlite"
)

// A store is a database of runs.
type store interface {
	pawl.Journal
	pawl.Inbox
	pawl.Blobs
	io.Closer
}

// current is the journal that is open; nil: a second signal has closed it.
func (a *app) current() pawl.Journal {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.journal
}

// swap replaces the journal that is open, and returns the one before.
func (a *app) swap(j pawl.Journal) pawl.Journal {
	a.mu.Lock()
	defer a.mu.Unlock()
	was := a.journal
	a.journal = j
	return was
}

// openStore opens the database for the length of one command. It opens a read-only file for
// reading: commands that only read work, and others fail at their first write.
func (a *app) openStore(ctx context.Context) (store, error) {
	url, err := a.databaseURL()
	if err != nil {
		return nil, err
	}
	if info, err := os.Stat(url); err == nil && info.IsDir() {
		return nil, misuse("the database %s is a directory; name a file in it, as in --database sqlite:PATH", url)
	}
	codec, err := a.codec()
	if err != nil {
		return nil, err
	}
	if onServer(url) {
		return opened(postgres.Open(ctx, url, &postgres.Options{Codec: codec}))
	}
	j, err := opened(sqlite.Open(ctx, url, &sqlite.Options{Codec: codec}))
	if err != nil {
		if reading, failed := opened(sqlite.Open(ctx, url, &sqlite.Options{ReadOnly: true, Codec: codec})); failed == nil {
			return reading, nil
		}
	}
	return j, err
}

// codec seals the database with the keys of PAWL_KEYS, as ID=BASE64 with commas in between; nil:
// there are none.
func (env *environment) codec() (seal.Codec, error) {
	text := env.getenv("PAWL_KEYS")
	if text == "" {
		return nil, nil
	}
	var all []seal.Key
	for one := range strings.SplitSeq(text, ",") {
		id, secret, _ := strings.Cut(strings.TrimSpace(one), "=")
		key, err := base64.StdEncoding.DecodeString(secret)
		if err != nil || strings.Trim(secret, "=") == "" { // what seems the id may be the key, so it is not shown
			return nil, misuse("PAWL_KEYS: key %d is not ID=KEY with 32 bytes as openssl rand -base64 32 prints them", len(all)+1)
		}
		env.learned.Add("PAWL_KEYS", secret)
		all = append(all, seal.Key{ID: id, Secret: key})
	}
	keys, err := seal.NewKeys(all...)
	if err != nil {
		return nil, misuse("PAWL_KEYS: %w", err)
	}
	return keys, nil
}

// opened turns a nil pointer into a nil interface.
func opened[J store](j J, err error) (store, error) {
	if err != nil {
		return nil, err
	}
	return j, nil
}

// withRuns is [app.with] for commands that need existing runs. If a named database
// does not exist, its name is probably misspelled: withRuns fails rather than
// creating it.
func (a *app) withRuns(ctx context.Context, do func(store) (int, error)) (int, error) {
	if from, named := a.namedDatabase(); named != "" && !onServer(named) {
		path, err := a.databaseURL()
		if err != nil {
			return 0, err
		}
		if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
			return 0, misuse("%s: database %s does not exist; pawl run creates it", from, named)
		}
	}
	return a.with(ctx, do)
}

// with calls do on the open database and closes it afterwards.
func (a *app) with(ctx context.Context, do func(store) (int, error)) (int, error) {
	j, err := a.openStore(ctx)
	if err != nil {
		return 0, err
	}
	a.swap(j)
	code, err := do(j)
	a.awaitDeliveries()
	if a.swap(nil) != nil { // otherwise a second signal has closed it
		err = errors.Join(err, j.Close())
	}
	return code, err
}

// reading calls do on the runs of the database or of the server.
func (a *app) reading(ctx context.Context, do func(pawl.Journal) (int, error)) (int, error) {
	if a.server == "" {
		return a.withRuns(ctx, func(j store) (int, error) { return do(j) })
	}
	if err := a.toServer(); err != nil {
		return 0, err
	}
	a.swap(a.far.Journal())
	return do(a.current())
}

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
