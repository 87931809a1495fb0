package cli

import (
	"context"
	"net"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/engine/desk"
	"github.com/pawl-run/pawl/server"
	"github.com/pawl-run/pawl/server/ui"
)

// A service is how agents are served over HTTP.
type service struct {
	driving
	address   string
	socket    string
	tokenFile string
	hosts     []string
	public    string
	linkKey   string
	specs     bool
	resume    bool
	verbose   bool
}

func (a *app) serveCommand() *cobra.Command {
	s := &service{}
	c := a.command("serve [SPEC…|DIR…] [flags]", "Serve the agents in specs over HTTP, with a page to look at their runs", cobra.ArbitraryArgs,
		func(ctx context.Context, args []string) (int, error) { return a.serve(ctx, s, args) })
	c.Flags().StringVar(&s.address, "addr", "127.0.0.1:8080", "where to listen; an address of another machine's reach takes --token-file and --host")
	c.Flags().StringVar(&s.socket, "socket", "", "listen at this Unix socket, which only the user can open, in place of an address")
	c.Flags().StringVar(&s.tokenFile, "token-file", "", "a file with the bearer token, or with lines of TOKEN NAME SCOPES [KEY=VALUE…] (default: $PAWL_TOKEN, or one that is made and printed)")
	c.Flags().StringArrayVar(&s.hosts, "host", nil, "a name that requests may call the server by, such as runs.example.org; may be repeated")
	c.Flags().StringVar(&s.public, "public-url", "", "the URL by which people reach the server, for links in webhooks (default: the address that is listened on)")
	c.Flags().StringVar(&s.linkKey, "link-key", "", "a file with the key that links to approvals are made with, made if it is not there (default: beside the database, or for PostgreSQL under the user's state directory)")
	c.Flags().BoolVar(&s.specs, "allow-specs", false, "let clients bring specs of their own, whose commands run here; they are kept in no file")
	c.Flags().BoolVar(&s.resume, "resume", false, "go on with the runs of these agents that were interrupted, or paused, before; those paused until a time go on at that time anyway")
	c.Flags().BoolVar(&s.verbose, "verbose", false, "tell of every request")
	c.MarkFlagsMutuallyExclusive("addr", "socket")
	s.modelFlag(c)
	s.limitFlag(c, false)
	s.labelFlag(c)
	s.policyFlag(c)
	c.Flags().Var(&s.approvals, "approvals", "calls that need approval: park their runs, or deny them (default: park)")
	return c
}

func (a *app) serve(ctx context.Context, s *service, args []string) (int, error) {
	switch s.approvals {
	case modeAsk:
		return 0, misuse("--approvals ask: there is nobody to ask where a server runs; write park or deny")
	case "":
		s.approvals = modePark
	case modePark, modeDeny:
	}
	if _, _, err := net.SplitHostPort(s.address); err != nil {
		return 0, misuse("--addr is %q; write an address with a port, such as 127.0.0.1:8080", s.address)
	}
	keys, made, err := a.keys(s)
	if err != nil {
		return 0, err
	}
	h, err := a.hosting(s, args)
	if err != nil {
		return 0, err
	}
	h.log = a.serverLog(s.verbose)
	return a.with(ctx, func(j store) (int, error) {
		if err := h.open(ctx, j); err != nil {
			return 0, err
		}
		defer h.close()
		listener, err := s.listen(ctx)
		if err != nil {
			return 0, err
		}
		defer listener.Close()
		key, err := a.linkKey(s)
		if err != nil {
			return 0, err
		}
		rests, quit, err := a.tellAll(ctx, s, j, listener, key, h.log)
		if err != nil {
			return 0, err
		}
		defer quit()
		served, err := server.New(j, h, keys, &server.Options{UI: ui.Handler(), Metrics: a.scraped(), Hosts: s.hosts, LinkKey: key, Rests: rests, Log: h.log})
		if err != nil {
			return 0, refused(err)
		}
		looking, cease := context.WithCancel(ctx)
		defer cease()
		looked, err := a.left(looking, s, j, h, served)
		defer func() { cease(); <-looked }()
		if err != nil {
			return 0, err
		}
		a.tellServed(s, h, listener, made)
		if err := served.Serve(ctx, listener); err != nil {
			return 0, err
		}
		return exitPaused, nil
	})
}

// tellServed says where what is served. A token that was made stands nowhere else.
func (a *app) tellServed(s *service, h *serveHost, l net.Listener, made string) {
	where := "http://" + l.Addr().String()
	if s.socket != "" {
		where = "unix:" + s.socket
	}
	if !a.quiet {
		for _, one := range h.served {
			a.sayf("agent %s: %s", one.about.Name, place(one.work.Agent.Model))
		}
		if len(h.served) == 0 && !s.specs {
			a.sayf("there are no agents to start; what is in the database can be looked at, decided about and gone on with")
		}
		if s.specs {
			a.sayf("clients may bring specs, whose commands run in %s as this user", h.dir)
		}
	}
	if made != "" {
		a.sayf("token: %s", made)
	}
	if made != "" && s.socket == "" {
		a.sayf("open %s/#token=%s", where, made)
	}
	a.sayf("serving at %s", where)
}

// left tells of runs that an earlier process left in the middle, or goes on with
// them. They are not gone on with unasked: what ended that process may be what
// they do. Those that are paused until a time are woken in any case. looked is
// closed when nothing of this goes on any more, soon after ctx has ended at the
// latest.
func (a *app) left(ctx context.Context, s *service, j store, h *serveHost, served *server.Server) (<-chan struct{}, error) {
	looked := make(chan struct{})
	waits := false
	defer func() {
		if !waits {
			close(looked)
		}
	}()
	var runs []string
	var held []pawl.Head // by somebody who may be gone: of another machine that is not known
	for _, status := range []pawl.Status{pawl.Running, pawl.Interrupted, pawl.Paused} {
		for head, err := range desk.List(ctx, j, desk.Filter{Status: status}) {
			if err != nil {
				return looked, err
			}
			switch {
			case h.named(head.Agent) == nil:
			case head.Status == pawl.Running:
				held = append(held, head)
			case head.WakeAt.IsZero():
				runs = append(runs, head.Run)
			case head.WakeAt.After(time.Now()) && !a.quiet: // the server wakes it, also when its time has come already
				a.sayf("run %s goes on at %s", head.Run, head.WakeAt.UTC().Format(time.RFC3339))
			}
		}
	}
	if s.resume {
		for _, run := range runs {
			a.goOn(ctx, served, run)
		}
		waits = true
		go func() {
			defer close(looked)
			a.lapsed(ctx, j, served, held)
		}()
	} else if len(runs) > 0 {
		a.sayf("%s of these agents %s left in the middle; go on with one as pawl resume %s, or with all by --resume",
			counted(len(runs), "run"), map[bool]string{true: "was", false: "were"}[len(runs) == 1], runs[0])
	}
	return looked, nil
}

func (a *app) goOn(ctx context.Context, served *server.Server, run string) {
	if err := served.GoOn(ctx, run); err != nil {
		a.sayf("run %s does not go on: %v", run, err)
	} else if !a.quiet {
		a.sayf("run %s goes on", run)
	}
}

// lapsed goes on with those of runs whose owners let their leases lapse, as who
// died on another machine does. An owner that lives renews his.
func (a *app) lapsed(ctx context.Context, j store, served *server.Server, held []pawl.Head) {
	slices.SortFunc(held, func(a, b pawl.Head) int { return a.Lease.Until.Compare(b.Lease.Until) })
	for _, was := range held {
		select {
		case <-time.After(time.Until(was.Lease.Until) + time.Second): // the journal's clock need not be ours
		case <-ctx.Done():
			return
		}
		now, err := desk.Head(ctx, j, was.Run)
		if err == nil && now.Status == pawl.Running && now.Lease.Epoch == was.Lease.Epoch && !desk.Owned(now.Lease) {
			a.goOn(ctx, served, was.Run)
		}
	}
}

// near reports whether an address can be reached from this machine only.
func near(address string) bool {
	host, _, err := net.SplitHostPort(address)
	ip := net.ParseIP(strings.Trim(host, "[]"))
	return err == nil && (host == "localhost" || ip != nil && ip.IsLoopback())
}
