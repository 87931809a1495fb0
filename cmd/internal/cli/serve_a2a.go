package cli

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/pawl-run/pawl/a2a"
	"github.com/pawl-run/pawl/server"
	"github.com/pawl-run/pawl/webhook"
)

// protocol configures the Agent2Agent protocol; nil: it is not served.
func (s *service) protocol(h *serveHost, public string) (*server.A2A, error) {
	switch {
	case !s.a2a && s.a2aKey != "":
		return nil, misuse("--a2a-key signs the cards of --a2a; add --a2a, or leave the key out")
	case !s.a2a:
		return nil, nil
	case len(h.served) == 0:
		return nil, misuse("--a2a serves agents, and there are none; name their specs")
	}
	p := &server.A2A{Agent: h.served[0].about.Name, Public: public}
	if s.a2aKey == "" {
		return p, nil
	}
	text, err := keepFile(s.a2aKey, a2a.NewKey)
	if at, ok := errors.AsType[*fs.PathError](err); ok {
		return nil, misuse("--a2a-key %s: %w", s.a2aKey, at.Err)
	}
	if err != nil {
		return nil, err
	}
	if p.Key, err = a2a.ParseKey(text); err != nil {
		return nil, misuse("--a2a-key %s: %w", s.a2aKey, err)
	}
	return p, nil
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

// clientHooks are the hooks that the clients of a server set. Until there is the server, a
// caller waits.
type clientHooks struct {
	ready  chan struct{}
	server *server.Server
}

func (c *clientHooks) set(s *server.Server) {
	c.server = s
	close(c.ready)
}

func (c *clientHooks) of(ctx context.Context, run string) ([]webhook.Hook, error) {
	select {
	case <-c.ready:
		return c.server.Hooks(ctx, run)
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}
