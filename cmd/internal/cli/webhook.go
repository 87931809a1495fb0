package cli

import (
	"context"
	"log/slog"
	"slices"
	"strings"
	"time"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/engine"
	"github.com/pawl-run/pawl/spec"
	"github.com/pawl-run/pawl/webhook"
)

// How long a command waits for webhooks: less if the user asked it to exit.
const (
	tellFor        = 10 * time.Second
	tellForLeaving = 3 * time.Second
)

// webhooks are those of an agent's source, with their secrets.
func (env *environment) webhooks(source string) []webhook.Hook {
	var hooks []webhook.Hook
	for _, w := range spec.WebhooksOf(source) {
		hooks = append(hooks, webhook.Hook{URL: w.URL, Secret: env.getenv(w.Secret), SecretName: w.Secret, Events: w.Events})
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
		con.sayf("pawl: run %s: %s not delivered yet; pawl serve, or the next command that drives the run, retries", r.Run, counted(left, "notice"))
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
