package cli

import (
	"context"
	"log/slog"
	"net"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/engine"
	"github.com/pawl-run/pawl/internal/display"
	"github.com/pawl-run/pawl/webhook"
)

// How long a command waits for webhooks: less if the user asked it to exit.
const (
	tellFor        = 10 * time.Second
	tellForLeaving = 3 * time.Second
)

// webhooks are those of an agent's source, with their secrets.
func (a *app) webhooks(source string) []webhook.Hook {
	hooks := slices.Clone(a.sources.read(source).Webhooks)
	for i, h := range hooks {
		hooks[i].Secret = a.getenv(h.SecretName)
	}
	return hooks
}

// webhookAllow are the internal hosts that webhooks may reach. The operator of the
// program sets them, not the author of a spec.
func (env *environment) webhookAllow() (hosts []string) {
	for h := range strings.SplitSeq(env.getenv("PAWL_WEBHOOK_ALLOW"), ",") {
		if h = strings.TrimSpace(h); h != "" {
			hosts = append(hosts, h)
		}
	}
	return hosts
}

// tell starts to deliver the webhooks for the status of a run and of the legs before it. Meanwhile the command prints
// its result; see awaitDeliveries.
func (a *app) tell(ctx context.Context, source string, r pawl.Result) {
	hooks := a.webhooks(source)
	j, open := a.current().(store) // a server delivers by itself
	if hooks == nil || !open {     // or a second signal has closed the journal
		return
	}
	out, err := webhook.New(j, webhook.Always(hooks...), &webhook.Options{
		Allow: a.webhookAllow(), Loopback: true, Log: a.noticeLog(),
	})
	if err != nil {
		a.sayf("pawl: PAWL_WEBHOOK_ALLOW: %v", err)
		return
	}
	within, cancel := context.WithTimeout(context.WithoutCancel(ctx), tellFor)
	context.AfterFunc(ctx, func() { time.AfterFunc(tellForLeaving, cancel) })
	done := make(chan struct{})
	a.deliveries = append(a.deliveries, done)
	go func() {
		defer close(done)
		defer cancel()
		for _, leg := range r.Legs { // earlier legs have handed over, and wait for no person
			if leg != r.Run {
				a.deliver(within, out, pawl.Result{Run: leg})
			}
		}
		a.deliver(within, out, r)
	}()
}

// deliver delivers the webhooks of a run, until ctx ends.
func (con *console) deliver(ctx context.Context, out *webhook.Outbox, r pawl.Result) {
	switch left, err := out.Deliver(ctx, r); {
	case err != nil:
		con.sayf("pawl: webhooks of run %s: %v", r.Run, err)
	case left > 0:
		con.sayf("pawl: run %s: %s not delivered yet; pawl serve, or the next command that drives the run, retries", r.Run, display.Count(left, "notice"))
	}
}

// deliverOf is tell for a run that a command has ended without driving it.
func deliverOf(ctx context.Context, a *app, j pawl.Journal, run string) error {
	s, err := engine.Load(ctx, j, run)
	if err == nil && engine.ParentOf(s) == "" {
		a.tell(ctx, s.Declaration().Source, s.Result())
	}
	return err
}

// awaitDeliveries waits for what tell started.
func (a *app) awaitDeliveries() {
	for _, done := range a.deliveries {
		<-done
	}
	a.deliveries = nil
}

// noticeLog says which deliveries failed.
func (con *console) noticeLog() *slog.Logger {
	if con.quiet {
		return slog.New(slog.DiscardHandler)
	}
	return slog.New(&spokenLog{con: con})
}

// A spokenLog prints warnings as lines of the command.
type spokenLog struct {
	con  *console
	with []slog.Attr
}

func (*spokenLog) Enabled(_ context.Context, l slog.Level) bool { return l >= slog.LevelWarn }
func (s *spokenLog) WithGroup(string) slog.Handler              { return s }

func (s *spokenLog) WithAttrs(more []slog.Attr) slog.Handler {
	return &spokenLog{s.con, append(slices.Clip(s.with), more...)}
}

func (s *spokenLog) Handle(_ context.Context, r slog.Record) error {
	var all []string
	say := func(a slog.Attr) bool {
		all = append(all, a.Key+" "+a.Value.String())
		return true
	}
	for _, a := range s.with {
		say(a)
	}
	r.Attrs(say)
	s.con.sayf("pawl: %s: %s", r.Message, strings.Join(all, ", "))
	return nil
}

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
