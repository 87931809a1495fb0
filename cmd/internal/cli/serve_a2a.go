package cli

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/pawl-run/pawl/server"
)

// protocol configures the Agent2Agent protocol; nil: it is not served.
func (s *service) protocol(h *serveHost, public string) (*server.A2A, error) {
	switch {
	case !s.a2a:
		return nil, nil
	case len(h.served) == 0:
		return nil, misuse("--a2a serves agents, and there are none; name their specs")
	}
	return &server.A2A{Agent: h.served[0].about.Name, Public: public}, nil
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
