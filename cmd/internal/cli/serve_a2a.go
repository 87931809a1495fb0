package cli

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

// protocol is the agent that the Agent2Agent protocol means by default; empty: it is not served.
func (s *service) protocol(h *serveHost) (string, error) {
	switch {
	case !s.a2a:
		return "", nil
	case len(h.served) == 0:
		return "", misuse("--a2a serves agents, and there are none; name their specs")
	}
	return h.served[0].about.Name, nil
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
