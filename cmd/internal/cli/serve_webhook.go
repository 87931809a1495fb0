package cli

import (
	"context"
	"net"
	"net/url"
	"slices"
	"sync"

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

// deliverAll delivers the webhooks of all runs of the journal, or of those of some agents, until quit, which delivers
// what this process has released last. Call rests with a run that it releases.
func deliverAll(ctx context.Context, a *app, j store, agents []string, o *webhook.Options) (rests func(pawl.Result), quit func(), err error) {
	o.Allow = a.webhookAllow()
	out, err := webhook.New(j, func(d pawl.Declaration) []webhook.Hook {
		if agents != nil && !slices.Contains(agents, d.Agent) {
			return nil // other processes deliver for them
		}
		return a.webhooks(d.Source)
	}, o)
	if err != nil {
		return nil, nil, misuse("PAWL_WEBHOOK_ALLOW: %w", err)
	}
	ctx = context.WithoutCancel(ctx) // the runs are suspended when it ends, and their webhooks delivered after that
	serving, cancel := context.WithCancel(ctx)
	var served sync.WaitGroup
	served.Go(func() { out.Serve(serving) })
	return out.Tell, func() {
		within, done := context.WithTimeout(ctx, tellForLeaving)
		defer done()
		out.Flush(within)
		cancel()
		served.Wait()
	}, nil
}
