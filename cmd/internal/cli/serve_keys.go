package cli

import (
	"cmp"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/pawl-run/pawl/internal/display"
	"github.com/pawl-run/pawl/internal/web"
	"github.com/pawl-run/pawl/internal/wire"
	"github.com/pawl-run/pawl/server"
)

// leastToken is the least length of a token that other machines can try to guess.
const leastToken = 16

// keys are the accepted tokens: from a file, the environment, or else a generated one,
// which is also returned in made.
func (env *environment) keys(s *service) (keys []server.Key, made string, err error) {
	token, lines := env.getenv("PAWL_TOKEN"), env.getenv("PAWL_TOKENS")
	switch {
	case s.tokenFile != "":
		keys, err = env.readKeys(s.tokenFile)
	case lines != "":
		keys, err = parseKeys("PAWL_TOKENS", lines)
	case token != "":
		keys = []server.Key{{Token: token}}
	default:
		made = rand.Text()
		keys = []server.Key{{Token: made}}
	}
	if err != nil || s.socket != "" || near(s.address) {
		return keys, made, err
	}
	switch {
	case made != "":
		return nil, "", misuse("--addr %s can be reached from other machines; set the tokens with --token-file or PAWL_TOKEN, and the server's host names with --host", s.address)
	case len(s.hosts) == 0:
		return nil, "", misuse("--addr %s can be reached from other machines; set its host names with --host, such as --host runs.example.org", s.address)
	}
	for _, k := range keys {
		if len(k.Token) < leastToken {
			return nil, "", misuse("--addr %s can be reached from other machines, and a token has fewer than %d characters; make a longer one", s.address, leastToken)
		}
	}
	return keys, made, nil
}

// readKeys reads a file of tokens.
func (env *environment) readKeys(file string) ([]server.Key, error) {
	info, err := os.Stat(file)
	var text []byte
	if err == nil {
		text, err = os.ReadFile(file)
	}
	if err != nil {
		return nil, misuse("--token-file %s: %w", file, display.WithoutPath(err))
	}
	if info.Mode().IsRegular() && info.Mode().Perm()&0o077 != 0 && !env.credential(file, info) {
		return nil, misuse("--token-file %s can be read or written by others (its mode is %03o): chmod 600 %[1]s", file, info.Mode().Perm())
	}
	return parseKeys("--token-file "+file, string(wire.Unmarked(text)))
}

// parseKeys parses either a single token, or lines with a token, its name, its scopes, and the
// labels of the runs it may access. from says where the text is.
func parseKeys(from, text string) (keys []server.Key, err error) {
	alone := false
	n := 0
	for line := range strings.Lines(text) {
		n++
		fields := strings.Fields(line)
		if len(fields) == 0 || strings.HasPrefix(fields[0], "#") {
			continue
		}
		key := server.Key{Token: fields[0]}
		switch len(fields) {
		case 1:
			alone = true
		case 2:
			return nil, misuse("%s:%d: write TOKEN NAME SCOPES [KEY=VALUE…], such as SCOPES read,run,decide", from, n)
		default:
			key.Name, key.Scopes = fields[1], []server.Scope{}
			for name := range strings.SplitSeq(fields[2], ",") {
				var scope server.Scope
				if err := scope.UnmarshalText([]byte(name)); err != nil {
					return nil, misuse("%s:%d: %w", from, n, err)
				}
				key.Scopes = append(key.Scopes, scope)
			}
			if key.Labels, err = parseLabels(fields[3:]); err != nil {
				return nil, misuse("%s:%d: write labels as KEY=VALUE behind the scopes", from, n)
			}
		}
		keys = append(keys, key)
	}
	for i, k := range keys {
		if slices.ContainsFunc(keys[:i], func(o server.Key) bool { return o.Token == k.Token }) {
			return nil, misuse("%s: %s has the same token as another line; give each a token of its own", from, cmp.Or(k.Name, "a line"))
		}
	}
	switch {
	case len(keys) == 0:
		return nil, misuse("%s contains no token", from)
	case alone && len(keys) > 1:
		return nil, misuse("%s: with several tokens each needs a name and scopes: TOKEN NAME SCOPES [KEY=VALUE…]", from)
	}
	return keys, nil
}

// credential reports whether a file is a credential of systemd, which since version 254 gives the
// service's user access by an access control list. Its mask shows as the rights of the group.
func (env *environment) credential(file string, info fs.FileInfo) bool {
	dir := env.getenv("CREDENTIALS_DIRECTORY")
	return dir != "" && filepath.Dir(filepath.Clean(file)) == filepath.Clean(dir) && info.Mode().Perm()&0o037 == 0
}

// linkKey is the key that signs links to approvals and the cookies of browsers. It is stored
// outside the journal, which people without the right to decide may read. If no file is named and
// none can be written, the key ends with this process.
func linkKey(a *app, s *service) ([]byte, error) {
	if s.socket != "" && s.public == "" {
		return nil, nil // no links are made
	}
	if text := a.getenv("PAWL_LINK_KEY"); text != "" && s.linkKey == "" {
		return parseLinkKey("PAWL_LINK_KEY", []byte(text))
	}
	file, err := s.linkKey, error(nil)
	if file == "" {
		if file, err = a.databaseURL(); err == nil && onServer(file) {
			file, err = a.stateFile("pawl.links", "name a file for the key of links with --link-key")
		} else if err == nil {
			file += ".links"
		}
	}
	var key []byte
	if err == nil {
		key, err = a.keepKey(file)
	}
	if at, ok := errors.AsType[*fs.PathError](err); ok {
		err = misuse("--link-key %s: %w", file, at.Err)
	}
	if err != nil && s.linkKey == "" {
		a.sayf("links to approvals and log-ins end with this process, because their key cannot be stored: %v", err)
		return web.NewLinkKey(), nil
	}
	return key, err
}

// keepKey reads a key from a file, and creates the file if it is missing.
func (env *environment) keepKey(file string) ([]byte, error) {
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		return nil, err
	}
	text, err := keepFile(file, func() ([]byte, error) { return fmt.Appendln(nil, hex.EncodeToString(web.NewLinkKey())), nil })
	if err != nil {
		return nil, err
	}
	info, err := os.Stat(file)
	if err != nil {
		return nil, err
	}
	if runtime.GOOS != "windows" && info.Mode().IsRegular() && info.Mode().Perm()&0o077 != 0 && !env.credential(file, info) {
		return nil, misuse("--link-key %s can be read or written by others (its mode is %03o): chmod 600 %[1]s", file, info.Mode().Perm())
	}
	return parseLinkKey("--link-key "+file, text)
}

// parseLinkKey reads a key as it stands in a file or in the environment.
func parseLinkKey(place string, text []byte) ([]byte, error) {
	key, err := hex.DecodeString(strings.TrimSpace(string(text)))
	if err != nil || len(key) != web.LinkKeySize {
		return nil, misuse("%s contains no key of %d bytes in hexadecimal; openssl rand -hex %[2]d makes one", place, web.LinkKeySize)
	}
	return key, nil
}

// keepFile reads a file that only the user can read, and creates it if it is missing.
func keepFile(file string, content func() ([]byte, error)) ([]byte, error) {
	text, err := os.ReadFile(file)
	if !errors.Is(err, fs.ErrNotExist) {
		return text, err
	}
	if text, err = content(); err != nil {
		return nil, err
	}
	f, err := os.CreateTemp(filepath.Dir(file), ".pawl-")
	if err != nil {
		return nil, err
	}
	defer os.Remove(f.Name())
	_, err = f.Write(text)
	if err = errors.Join(err, f.Sync(), f.Close()); err == nil {
		err = os.Link(f.Name(), file) // unlike a rename, this replaces nothing
	}
	if errors.Is(err, fs.ErrExist) {
		return os.ReadFile(file) // another process was faster
	}
	return text, err
}
