package cli

import (
	"context"
	"log/slog"
	"net"
	"net/url"
	"slices"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/webhook"
)

// publicURL is the URL of a service for people; empty: they cannot reach it.
func (s *service) publicURL(l net.Listener) (string, error) {
	if s.public == "" {
		if s.socket != "" {
			return "", nil
		}
		return "http://" + l.Addr().String(), nil
	}
	u, err := url.Parse(s.public)
	if err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http" || u.Path != "" && u.Path != "/" || u.RawQuery != "" || u.Fragment != "" || u.User != nil {
		return "", misuse("--public-url is %q; write a URL without a path, such as https://runs.example.org", s.public)
	}
	s.hosts = append(s.hosts, u.Host)
	return s.public, nil
}

// deliverAll delivers the webhooks of all runs of the journal, or of those of some agents,
// until quit. Call the returned function with a run that this process releases.
func deliverAll(ctx context.Context, a *app, s *service, j store, agents []string, public string, key []byte, more func(context.Context, string) ([]webhook.Hook, error), log *slog.Logger) (rests func(pawl.Result), quit func(), err error) {
	out, stop, err := outbox(ctx, j, func(d pawl.Declaration) []webhook.Hook {
		if agents != nil && !slices.Contains(agents, d.Agent) {
			return nil // other processes deliver for them
		}
		return a.webhooks(d.Source)
	}, &webhook.Options{
		Allow: a.webhookAllow(), Loopback: !s.specs, Public: public, LinkKey: key, More: more, Log: log,
	})
	if err != nil {
		return nil, nil, err
	}
	rests = func(r pawl.Result) {
		if ctx.Err() == nil {
			out.Tell(r)
			return
		}
		// The server was told to stop, suspended the run, and waits for this.
		within, cancel := context.WithTimeout(context.WithoutCancel(ctx), tellForLeaving)
		defer cancel()
		if left, err := out.Deliver(within, r); err != nil || left > 0 {
			log.Warn("webhooks are left to the next server", "run", r.Run, "left", left)
		}
	}
	return rests, stop, nil
}
