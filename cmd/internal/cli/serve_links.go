package cli

import (
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/pawl-run/pawl/internal/web"
)

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
