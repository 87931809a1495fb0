package cli

import (
	"cmp"
	"crypto/rand"
	"errors"
	"io/fs"
	"os"
	"slices"
	"strings"

	"github.com/pawl-run/pawl/server"
)

// leastToken is the least length of a token that other machines can try to guess.
const leastToken = 16

// keys are the accepted tokens: from a file, the environment, or else a generated one,
// which is also returned in made.
func (env *environment) keys(s *service) (keys []server.Key, made string, err error) {
	token := env.getenv("PAWL_TOKEN")
	switch {
	case s.tokenFile != "":
		keys, err = readKeys(s.tokenFile)
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

// readKeys reads a file of tokens: either a single token, or lines with a token, its
// name, its scopes, and the labels of the runs it may access.
func readKeys(file string) ([]server.Key, error) {
	info, err := os.Stat(file)
	var text []byte
	if err == nil {
		text, err = os.ReadFile(file)
	}
	if at, ok := errors.AsType[*fs.PathError](err); ok {
		return nil, misuse("--token-file %s: %w", file, at.Err)
	}
	if err != nil {
		return nil, err
	}
	if info.Mode().IsRegular() && info.Mode().Perm()&0o077 != 0 {
		return nil, misuse("--token-file %s can be read or written by others (its mode is %03o): chmod 600 %[1]s", file, info.Mode().Perm())
	}
	var keys []server.Key
	alone := false
	n := 0
	for line := range strings.Lines(string(text)) {
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
			return nil, misuse("--token-file %s:%d: write TOKEN NAME SCOPES [KEY=VALUE…], such as SCOPES read,run,decide", file, n)
		default:
			key.Name, key.Scopes = fields[1], []server.Scope{}
			for name := range strings.SplitSeq(fields[2], ",") {
				var scope server.Scope
				if err := scope.UnmarshalText([]byte(name)); err != nil {
					return nil, misuse("--token-file %s:%d: %w", file, n, err)
				}
				key.Scopes = append(key.Scopes, scope)
			}
			if key.Labels, err = parseLabels(fields[3:]); err != nil {
				return nil, misuse("--token-file %s:%d: write labels as KEY=VALUE behind the scopes", file, n)
			}
		}
		keys = append(keys, key)
	}
	for i, k := range keys {
		if slices.ContainsFunc(keys[:i], func(o server.Key) bool { return o.Token == k.Token }) {
			return nil, misuse("--token-file %s: %s has the same token as another line; give each a token of its own", file, cmp.Or(k.Name, "a line"))
		}
	}
	switch {
	case len(keys) == 0:
		return nil, misuse("--token-file %s contains no token", file)
	case alone && len(keys) > 1:
		return nil, misuse("--token-file %s: with several tokens each needs a name and scopes: TOKEN NAME SCOPES [KEY=VALUE…]", file)
	}
	return keys, nil
}
