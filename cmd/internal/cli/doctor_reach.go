package cli

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/internal/sheet"
	"github.com/pawl-run/pawl/spec"
)

// A target is something elsewhere that runs need.
type target struct{ check, name, url string }

// reach checks the keys, and that providers, webhooks and the collector answer: those of
// the agents or, without agents, the providers that have a key. No request costs anything.
func (d *doctor) reach(ctx context.Context, agents []*spec.Spec) {
	var all []target
	add := func(check, name, at string) {
		if t := (target{check, name, at}); at != "" && !slices.Contains(all, t) { // a model without a URL is in this process
			all = append(all, t)
		}
	}
	provider := func(m pawl.Model) {
		info := describes(m)
		name, _, _ := strings.Cut(info.Name, "/")
		add("provider", name, info.Endpoint)
	}
	for _, s := range agents {
		d.keys(s)
		for _, p := range s.Retiring(d.registry()) {
			d.find("model", doubt, "name another model in "+p.File, "agent %s: %s", s.Name, p.Message)
		}
		agent, err := s.Agent(d.registry())
		if err != nil {
			d.find("agent", ill, "", "%s: %v", s.Name, err)
			continue
		}
		provider(agent.Model)
		for _, w := range s.Webhooks {
			add("webhook", w.URL, w.URL)
		}
	}
	if len(agents) == 0 {
		for _, p := range providers {
			if m, err := d.registry().Models[p.name](sheet.Default(p.name)); err == nil && d.getenv(p.key) != "" {
				provider(m)
			}
		}
		if all == nil {
			d.find("keys", doubt, "set ANTHROPIC_API_KEY, OPENAI_API_KEY or GEMINI_API_KEY, unless the specs need none", "no provider has a key")
		}
	}
	collector := d.getenv("OTEL_EXPORTER_OTLP_ENDPOINT")
	add("telemetry", collector, collector)
	said := make([]chan finding, len(all))
	for i, t := range all {
		said[i] = make(chan finding, 1)
		go func() { said[i] <- t.try(ctx) }()
	}
	for _, c := range said {
		f := <-c
		d.find(f.Check, f.Grade, f.Remedy, "%s", f.Detail)
	}
}

// sheet says which model sheet is used, and of which day it is.
func (d *doctor) sheet() {
	where := "in this program"
	if file := sheet.File(); file != "" {
		where = "in " + absolute(file)
	}
	g, remedy := well, ""
	if time.Since(sheet.AsOf()) > spec.Outdated {
		g, remedy = doubt, "use a newer pawl, or name a newer sheet in PAWL_MODELS; until then prices are estimates"
	}
	d.find("models", g, remedy, "the model sheet %s is of %s", where, day(sheet.AsOf()))
}

// keys reports the missing keys of an agent.
func (d *doctor) keys(s *spec.Spec) {
	missing := s.Unready(d.registry())
	for _, p := range missing {
		d.find("keys", ill, "set it in the environment of every process that drives "+s.Name, "agent %s: %s", s.Name, p.Message)
	}
	if len(missing) == 0 {
		d.find("keys", well, "", "agent %s has the keys of its models", s.Name)
	}
}

// mostReaching is how long something elsewhere may take to answer.
const mostReaching = 10 * time.Second

// try asks the root of the URL, so that what is behind the URL itself is not called. Any answer
// shows that the service can be reached.
func (t target) try(ctx context.Context) finding {
	u, err := url.Parse(t.url)
	if err != nil || u.Host == "" {
		return finding{t.check, ill, fmt.Sprintf("%s: %q is not a URL", t.name, t.url), "correct the URL"}
	}
	root := (&url.URL{Scheme: u.Scheme, Host: u.Host, Path: "/"}).String()
	ask, err := http.NewRequestWithContext(ctx, http.MethodHead, root, nil)
	if err != nil {
		return finding{t.check, ill, fmt.Sprintf("%s: %v", t.name, err), "correct the URL"}
	}
	client := &http.Client{Timeout: mostReaching, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	begun := time.Now()
	r, err := client.Do(ask)
	if err != nil {
		g := ill
		if t.check == "telemetry" {
			g = doubt // runs go on without it
		}
		return finding{t.check, g, fmt.Sprintf("%s: %v", t.name, err), "check the address, the name service, proxies (HTTPS_PROXY) and firewalls between here and there"}
	}
	_ = r.Body.Close() // the answer to HEAD has none

	// What does not know HEAD answers, too.
	if r.StatusCode >= http.StatusInternalServerError && r.StatusCode != http.StatusNotImplemented {
		remedy := "look at its log; runs do not wait for it"
		if t.check == "provider" {
			remedy = "look at its status page; runs retry, and pause when it stays down"
		}
		return finding{t.check, doubt, fmt.Sprintf("%s at %s answers %s", t.name, u.Host, r.Status), remedy}
	}
	return finding{Check: t.check, Grade: well, Detail: fmt.Sprintf("%s at %s answers in %v", t.name, u.Host, time.Since(begun).Round(time.Millisecond))}
}

// dispatcher checks that what --on names answers and has the namespace, and that workers ask
// for runs of the agents.
func (d *doctor) dispatcher(ctx context.Context, on string, agents []*spec.Spec) {
	system, err := d.dial(ctx, on, slog.New(slog.DiscardHandler))
	if err != nil {
		d.find("temporal", ill, "", "%v", err)
		return
	}
	defer system.Close()
	d.find("temporal", well, "", "the server of %s answers", on)
	for _, s := range agents {
		polled, err := system.Polled(ctx, s.Name)
		switch {
		case err != nil:
			d.find("worker", doubt, "", "agent %s: %v", s.Name, err)
		case !polled:
			d.find("worker", doubt, "start one: pawl worker SPEC --on "+on, "no worker asks for runs of %s, which wait for one", s.Name)
		default:
			d.find("worker", well, "", "a worker asks for runs of %s", s.Name)
		}
	}
}
