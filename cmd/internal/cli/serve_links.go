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
	"time"

	"github.com/pawl-run/pawl/internal/approvallink"
)

// linkKey is the key that links to approvals are made with and known again. It is
// kept apart from the journal, which many may read who are not to decide. Where
// nobody named a file for it and there can be none, it ends with this process.
func (a *app) linkKey(s *service) ([]byte, error) {
	if s.socket != "" && s.public == "" {
		return nil, nil // nobody gets a link
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
		key, err = keepKey(file)
	}
	if at, ok := errors.AsType[*fs.PathError](err); ok {
		err = misuse("--link-key %s: %w", file, at.Err)
	}
	if err != nil && s.linkKey == "" {
		a.sayf("links to approvals end with this process, for their key cannot be kept: %v", err)
		return approvallink.NewKey(), nil
	}
	return key, err
}

// keepKey reads a key from a file, which it makes if there is none.
func keepKey(file string) ([]byte, error) {
	err := os.MkdirAll(filepath.Dir(file), 0o700)
	var f *os.File
	if err == nil {
		f, err = os.OpenFile(file, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	}
	if err == nil {
		key := approvallink.NewKey()
		_, err := fmt.Fprintln(f, hex.EncodeToString(key))
		if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
			_ = os.Remove(file)
		}
		return key, err
	}
	if !errors.Is(err, fs.ErrExist) {
		return nil, err
	}
	info, err := os.Stat(file)
	if err != nil {
		return nil, err
	}
	if runtime.GOOS != "windows" && info.Mode().IsRegular() && info.Mode().Perm()&0o077 != 0 {
		return nil, misuse("--link-key %s can be read or written by others (its mode is %03o): chmod 600 %[1]s", file, info.Mode().Perm())
	}
	for end := time.Now().Add(time.Second); ; time.Sleep(10 * time.Millisecond) { // another server may just be writing it
		text, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		key, err := hex.DecodeString(strings.TrimSpace(string(text)))
		if err == nil && len(key) == approvallink.KeySize {
			return key, nil
		}
		if time.Now().After(end) {
			return nil, misuse("--link-key %s holds no key: %d bytes in hexadecimal; remove it, and one is made", file, approvallink.KeySize)
		}
	}
}
