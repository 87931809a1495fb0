package cli

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"net"
	"os"
	"path/filepath"

	"github.com/pawl-run/pawl/explain"
)

// listen opens the listener of the service.
func (s *service) listen(ctx context.Context) (net.Listener, error) {
	if s.socket != "" {
		return listenSocket(ctx, s.socket)
	}
	l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", s.address)
	if err != nil {
		return nil, refused(err)
	}
	return l, nil
}

// place is where people type commands about the runs: with --server.
func (s *service) place(l net.Listener) explain.Place {
	at := "http://" + l.Addr().String()
	if s.socket != "" {
		at = "unix://" + s.socket
		if path, err := filepath.Abs(s.socket); err == nil {
			at = "unix://" + path
		}
	}
	return explain.Place{Flags: []string{"--server", cmp.Or(s.public, at)}, Server: true, Held: heldBy}
}

// socket is a listener that removes its Unix socket when closed.
type socket struct {
	net.Listener
	path string
}

func (s *socket) Close() error {
	err := s.Listener.Close()
	if errors.Is(err, net.ErrClosed) {
		return nil
	}
	return errors.Join(err, os.Remove(s.path))
}

// listenSocket listens at a socket that only this user can ever open: it creates the
// socket in a private directory, and moves it into place once its mode is set. It
// replaces the socket of a dead process.
func listenSocket(ctx context.Context, path string) (net.Listener, error) {
	switch info, err := os.Lstat(path); {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return nil, refused(err)
	case info.Mode().Type() != fs.ModeSocket:
		return nil, misuse("--socket %s exists and is not a socket; name an unused path", path)
	default:
		if c, err := (&net.Dialer{}).DialContext(ctx, "unix", path); err == nil {
			_ = c.Close()
			return nil, misuse("--socket %s: a server already listens there", path)
		}
	}
	dir, err := os.MkdirTemp(filepath.Dir(path), ".pawl-")
	if err != nil {
		return nil, refused(err)
	}
	defer os.RemoveAll(dir)
	made := filepath.Join(dir, "s")
	l, err := (&net.ListenConfig{}).Listen(ctx, "unix", made)
	if err != nil {
		return nil, refused(err)
	}
	if u, ok := l.(*net.UnixListener); ok {
		u.SetUnlinkOnClose(false) // the socket is moved after creation
	}
	if err = os.Chmod(made, 0o600); err == nil {
		err = os.Rename(made, path)
	}
	if err != nil {
		return nil, errors.Join(refused(err), l.Close())
	}
	return &socket{l, path}, nil
}
