package cli

import (
	"context"
	"net"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/a2a"
	"github.com/pawl-run/pawl/internal/display"
	"github.com/pawl-run/pawl/internal/web"
	"github.com/pawl-run/pawl/runs"
	"github.com/pawl-run/pawl/server"
	"github.com/pawl-run/pawl/server/ui"
	"github.com/pawl-run/pawl/webhook"
)

// A service holds the options of pawl serve.
type service struct {
	driving
	caps
	gc        *sweep
	address   string
	socket    string
	tokenFile string
	hosts     []string
	public    string
	linkKey   string
	metrics   string
	a2a       bool
	specs     bool
	most      uint
	resume    bool
	verbose   bool
	grace     time.Duration
}

func serveCommand(a *app) *cobra.Command {
	s := &service{}
	c := a.command("serve [SPEC…|DIR…] [flags]", "Serve the agents in specs over HTTP, with a web page that shows their runs", cobra.ArbitraryArgs,
		func(ctx context.Context, args []string) (int, error) { return serveRuns(ctx, a, s, args) })
	c.Flags().StringVar(&s.address, "addr", "127.0.0.1:8080", "where to listen; non-loopback addresses require a token (--token-file) and --host")
	c.Flags().StringVar(&s.socket, "socket", "", "listen at this Unix socket, which only the user can open, instead of an address")
	c.Flags().StringVar(&s.tokenFile, "token-file", "", "a file with the bearer token, or with lines of TOKEN NAME SCOPES [KEY=VALUE…] (default: $PAWL_TOKEN, else one is generated and printed)")
	c.Flags().StringArrayVar(&s.hosts, "host", nil, "a host `NAME` that requests may use, such as runs.example.org; may be repeated")
	c.Flags().StringVar(&s.public, "public-url", "", "the URL of the server for people, for links in webhooks (default: the listening address)")
	c.Flags().StringVar(&s.linkKey, "link-key", "", "a file with the key that signs links to approvals and log-ins, created if missing (default: $PAWL_LINK_KEY, else next to the database or in the user's state directory)")
	c.Flags().StringVar(&s.metrics, "metrics", "", "also listen at this address, as :9090, for Prometheus and probes: /metrics, /healthz and /readyz, without a token")
	c.Flags().BoolVar(&s.a2a, "a2a", false, "also serve the agents over the Agent2Agent protocol (A2A 1.0), at /a2a and /a2a/v1")
	s.gc = scheduled(c.Flags())
	c.Flags().BoolVar(&s.specs, "allow-specs", false, "let clients send specs, whose commands run here; the specs are not stored in files")
	c.Flags().BoolVar(&s.resume, "resume", false, "resume the runs of these agents that an earlier server paused")
	c.Flags().UintVar(&s.most, "max-runs", 0, "drive at most this many runs at once; a request for one more gets 429 with Retry-After (default: no limit)")
	s.caps.flags(c.Flags())
	c.Flags().DurationVar(&s.grace, "grace", 20*time.Second, "after a signal, how long model calls in progress may go on before their runs are paused")
	c.Flags().BoolVar(&s.verbose, "verbose", false, "log every request")
	c.MarkFlagsMutuallyExclusive("addr", "socket")
	s.flag(c, "model", "effort", "limit", "label", "policy", "parking")
	return c
}

func serveRuns(ctx context.Context, a *app, s *service, args []string) (int, error) {
	if s.grace < 0 {
		return 0, misuse("--grace is %v; it must not be negative", s.grace)
	}
	if _, _, err := net.SplitHostPort(s.address); err != nil {
		return 0, misuse("--addr is %q; write an address with a port, such as 127.0.0.1:8080", s.address)
	}
	keys, made, err := a.keys(s)
	if err != nil {
		return 0, err
	}
	h, err := hosting(a, s, args, "a server")
	if err != nil {
		return 0, err
	}
	return a.with(ctx, func(j store) (int, error) {
		defer h.close()
		if err := h.open(ctx, j); err != nil {
			return 0, err
		}
		listener, err := s.listen(ctx)
		if err != nil {
			return 0, err
		}
		defer listener.Close()
		key, err := linkKey(a, s)
		if err != nil {
			return 0, err
		}
		public, err := s.publicURL(listener)
		if err != nil {
			return 0, err
		}
		protocol := "" // the agent that the Agent2Agent protocol means by default; empty: it is not served
		switch {
		case s.a2a && len(h.served) == 0:
			return 0, misuse("--a2a serves agents, and there are none; name their specs")
		case s.a2a:
			protocol = h.served[0].about.Name
		}
		rests, quit, err := h.attend(ctx, j, nil, &webhook.Options{Loopback: !s.specs, Public: public, LinkKey: key})
		if err != nil {
			return 0, err
		}
		defer quit()
		triggers, err := h.triggers()
		if err != nil {
			return 0, err
		}
		served, err := server.New(j, h, keys, &server.Options{Triggers: triggers, UI: ui.Handler(), MaxRuns: int(s.most), MaxPerAgent: int(s.perAgent), MaxPerTenant: int(s.perTenant), Metrics: a.scraped(), Hosts: s.hosts, Secure: strings.HasPrefix(strings.ToLower(s.public), "https://"), LinkKey: key, Rests: rests, Public: public, A2A: protocol, Log: h.log, Place: s.place(listener)})
		if err != nil {
			return 0, refused(err)
		}
		defer func() { _ = served.Close() }() // also if a signal comes while runs are resumed
		quitProbes, err := a.probes(ctx, s.metrics, served)
		if err != nil {
			return 0, err
		}
		defer quitProbes()
		if err := resumePaused(ctx, a, s, j, h, served); err != nil {
			return 0, err
		}
		a.tellServed(s, h, listener, made)
		if err := served.Serve(ctx, listener); err != nil {
			return 0, err
		}
		return exitPaused, nil
	})
}

// tellServed prints what is served and where. A generated token is printed only here.
func (con *console) tellServed(s *service, h *serveHost, l net.Listener, made string) {
	where := "http://" + l.Addr().String()
	if s.socket != "" {
		where = "unix:" + s.socket
	}
	if !con.quiet {
		for _, one := range h.served {
			con.sayf("agent %s: %s", one.title(), place(one.work.Agent.Model))
		}
		if len(h.served) == 0 && !s.specs {
			con.sayf("no agents to start; the runs in the database can be shown, decided and resumed")
		}
		if s.specs {
			con.sayf("clients may send specs, whose commands run in %s as this user", h.dir)
		}
	}
	if made != "" {
		con.sayf("token: %s", made)
	}
	if made != "" && s.socket == "" {
		con.sayf("open %s/#token=%s", where, made)
	}
	con.sayf("serving at %s", where)
	if s.a2a && !con.quiet {
		con.sayf("A2A: %s%s", where, a2a.CardPath)
	}
}

// resumePaused resumes the runs that were paused when an earlier server stopped, if --resume
// is given, and otherwise prints that there are some. Every server resumes runs that
// are paused until a time, and runs whose owner died.
func resumePaused(ctx context.Context, a *app, s *service, j store, h *serveHost, served *server.Server) error {
	var waiting []string
	for head, err := range j.List(ctx, pawl.Query{Status: pawl.StatusPaused}) {
		switch {
		case err != nil:
			return err
		case h.named(head.Agent) == nil || runs.IsChild(head):
		case head.WakeAt.IsZero():
			waiting = append(waiting, head.Run)
		case head.WakeAt.After(time.Now()) && !a.quiet:
			a.sayf("run %s resumes at %s", head.Run, head.WakeAt.UTC().Format(time.RFC3339))
		}
	}
	if !s.resume && len(waiting) > 0 {
		a.sayf("%s of these agents %s paused; resume one with: %s, or all of them with --resume",
			display.Count(len(waiting), "run"), map[bool]string{true: "is", false: "are"}[len(waiting) == 1], a.typed("pawl", "resume", waiting[0]))
		return nil
	}
	for _, run := range waiting {
		if err := served.GoOn(ctx, run); err != nil {
			a.sayf("run %s cannot resume: %v", run, err)
		} else if !a.quiet {
			a.sayf("run %s goes on", run)
		}
	}
	return nil
}

// near reports whether an address is reachable from this machine only.
func near(address string) bool {
	host, _, err := net.SplitHostPort(address)
	return err == nil && web.Loopback(host)
}
