package cli

import (
	"context"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/engine"
	"github.com/pawl-run/pawl/internal/display"
	"github.com/pawl-run/pawl/runs/worker"
	"github.com/pawl-run/pawl/webhook"
)

// A shift holds the options of pawl worker.
type shift struct {
	service
	slots int
	takes []string // labels
	grace time.Duration
	on    string
}

func workerCommand(a *app) *cobra.Command {
	s := &shift{}
	c := a.command("worker [SPEC…|DIR…] [flags]", "Drive queued runs of the agents in specs, and runs whose process ended", cobra.ArbitraryArgs,
		func(ctx context.Context, args []string) (int, error) { return workRuns(ctx, a, s, args) })
	c.Flags().IntVar(&s.slots, "slots", worker.DefaultSlots, "drive at most this many runs at once")
	c.Flags().StringArrayVar(&s.takes, "label", nil, "take only runs with this label, as `KEY=VALUE`; may be repeated")
	c.Flags().DurationVar(&s.grace, "grace", 20*time.Second, "after a signal, how long runs may go on before they are queued again for another worker")
	c.Flags().StringVar(&s.on, "on", "", "drive the runs that Temporal dispatches (temporal://HOST:PORT/NAMESPACE) instead of taking them from the database")
	c.Flags().StringVar(&s.public, "public-url", "", "the URL of the server for people, for links in webhooks (default: no links)")
	c.Flags().StringVar(&s.linkKey, "link-key", "", "the file with the server's key that signs links to approvals (default: as for pawl serve)")
	c.Flags().StringVar(&s.metrics, "metrics", "", "listen at this address, as :9090, for Prometheus and probes: /metrics, /healthz and /readyz, without a token")
	s.gc = scheduled(c.Flags())
	s.caps.flags(c.Flags())
	c.Flags().BoolVar(&s.verbose, "verbose", false, "log every run that is taken")
	s.flag(c, "model", "effort", "limit", "policy", "parking")
	return c
}

func workRuns(ctx context.Context, a *app, s *shift, args []string) (int, error) {
	if code, handed, err := handOver(ctx, a, s.on); handed || err != nil {
		return code, err
	}
	labels, err := queriedLabels(s.takes)
	switch {
	case err != nil:
		return 0, err
	case s.on != "" && len(labels) > 0:
		return 0, misuse("--label does not go with --on: Temporal dispatches runs by their agent")
	case s.on != "" && s.caps != (caps{}):
		return 0, misuse("--max-per-agent and --max-per-tenant do not go with --on: Temporal dispatches runs as their slots allow")
	case s.slots < 1:
		return 0, misuse("--slots is %d; it must be at least 1", s.slots)
	case s.grace < 0:
		return 0, misuse("--grace is %v; it must not be negative", s.grace)
	case len(args) == 0:
		return 0, misuse("a worker needs the agents whose runs it drives; name their specs, or a directory of specs")
	}
	h, err := hosting(a, &s.service, args, "a worker")
	if err != nil {
		return 0, err
	}
	var system Dispatch
	if s.on != "" {
		if system, err = a.dispatch(ctx, s.on, h.log); err != nil {
			return 0, err
		}
		defer system.Close()
	}
	return a.with(ctx, func(j store) (int, error) {
		defer h.close()
		if err := h.open(ctx, j); err != nil {
			return 0, err
		}
		public, key := "", []byte(nil)
		if s.public != "" {
			if public, err = s.publicURL(nil); err == nil {
				key, err = linkKey(a, &s.service)
			}
			if err != nil {
				return 0, err
			}
		}
		agents, _ := workHost{h}.Names(ctx) // never fails
		rests, quit, err := h.attend(ctx, j, agents, &webhook.Options{Loopback: true, Public: public, LinkKey: key})
		if err != nil {
			return 0, err
		}
		defer quit()
		o := &worker.Options{Slots: s.slots, Labels: labels, MaxPerAgent: int(s.perAgent), MaxPerTenant: int(s.perTenant), Reason: engine.ErrDrain, Rests: rests, Log: h.log}
		w := worker.New(j, workHost{h}, o)
		if !a.quiet {
			for _, one := range h.served {
				a.sayf("agent %s: %s", one.title(), place(one.work.Agent.Model))
			}
		}
		quitProbes, err := a.probes(ctx, s.metrics, w)
		if err != nil {
			return 0, err
		}
		defer quitProbes()
		a.sayf("working with %s", display.Count(s.slots, "slot"))
		if system != nil {
			if err := system.Work(ctx, j, workHost{h}, s.grace, o); err != nil {
				return 0, err
			}
			return exitPaused, nil
		}
		w.Run(ctx)
		if !a.quiet {
			a.sayf("stopping: runs may go on for %v, then they are queued for another worker", s.grace)
		}
		grace, cancel := context.WithTimeout(context.WithoutCancel(ctx), s.grace)
		defer cancel()
		w.Drain(grace)
		if err := w.Close(); err != nil {
			return 0, err
		}
		return exitPaused, nil
	})
}

// A workHost makes the agents of a worker.
type workHost struct{ *serveHost }

// Again rebuilds the agent of a run to resume it.
func (h workHost) Again(ctx context.Context, s *pawl.State) (worker.Work, error) {
	return h.serveHost.Again(ctx, s, nil)
}

// Names are the agents whose runs are taken from the queue.
func (h workHost) Names(context.Context) (names []string, err error) {
	for _, one := range h.served {
		if one.unready != nil {
			continue
		}
		for _, name := range append([]string{one.about.Name}, one.about.Team...) { // runs of its team are resumed with it
			if !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
	}
	return names, nil
}
