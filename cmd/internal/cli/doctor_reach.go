package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/internal/prices"
	"github.com/pawl-run/pawl/spec"
)

// agents reads the specs to check. Their problems are errors of the command line.
func (d *doctor) agents(args []string, model string) (made []*spec.Spec, err error) {
	files, err := specFiles(args)
	if err != nil {
		return nil, err
	}
	for _, file := range files {
		s, err := loadSpec(file, &spec.Options{Registry: d.registry(), Model: model})
		if err != nil {
			return nil, err
		}
		made = append(made, s)
	}
	return made, nil
}

// A target is something elsewhere that runs need.
type target struct {
	check, name string
	ask         *http.Request
	key         string // the variable whose value the request has
}

// reach checks the keys, and that providers, webhooks and the collector answer: those of
// the agents or, without agents, the providers that have a key. No request costs anything.
func (d *doctor) reach(ctx context.Context, agents []*spec.Spec) {
	var all []target
	known := map[string]bool{}
	add := func(t target, err error) {
		switch {
		case err != nil:
			d.find(t.check, ill, "correct the URL", "%s: %v", t.name, err)
		case t.ask == nil: // it is in this process
		case !known[t.check+" "+t.ask.URL.String()]:
			known[t.check+" "+t.ask.URL.String()] = true
			all = append(all, t)
		}
	}
	for _, s := range agents {
		d.keys(s)
		agent, err := s.Agent(d.registry())
		if err != nil {
			d.find("agent", ill, "", "%s: %v", s.Name, err)
			continue
		}
		add(d.provider(ctx, agent.Model))
		for _, w := range s.Webhooks {
			r, err := origin(ctx, w.URL)
			add(target{check: "webhook", name: w.URL, ask: r}, err)
		}
	}
	if len(agents) == 0 {
		n := 0
		for _, p := range providers {
			if d.getenv(p.key) == "" {
				continue
			}
			n++
			if m, err := d.registry().Models[p.name](prices.Default(p.name)); err == nil {
				add(d.provider(ctx, m))
			}
		}
		if n == 0 {
			d.find("keys", doubt, "set ANTHROPIC_API_KEY, OPENAI_API_KEY or GEMINI_API_KEY, unless the specs need none", "no provider has a key")
		}
	}
	if at := d.getenv("OTEL_EXPORTER_OTLP_ENDPOINT"); at != "" {
		r, err := origin(ctx, at)
		add(target{check: "telemetry", name: at, ask: r}, err)
	}
	said := make([]chan finding, len(all))
	for i, t := range all {
		said[i] = make(chan finding, 1)
		go func() { said[i] <- t.try() }()
	}
	for _, c := range said {
		f := <-c
		d.find(f.Check, f.Grade, f.Remedy, "%s", f.Detail)
	}
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

// provider asks a provider for its list of models, which needs a key and costs nothing, or
// another service just for an answer. A model of this process is asked nothing.
func (d *doctor) provider(ctx context.Context, m pawl.Model) (target, error) {
	info := describes(m)
	name, _, _ := strings.Cut(info.Name, "/")
	t, at := target{check: "provider", name: name}, info.Endpoint
	if at == "" {
		return t, nil
	}
	var header, value string
	path := "models"
	switch name {
	case "openai", "openai-responses":
		t.key = "OPENAI_API_KEY"
		header, value = "Authorization", "Bearer "+d.getenv(t.key)
	case "anthropic":
		t.key, path = "ANTHROPIC_API_KEY", "v1/models"
		header, value = "X-Api-Key", d.getenv(t.key)
	case "google":
		t.key, path = "GEMINI_API_KEY", "v1beta/models"
		header, value = "X-Goog-Api-Key", cmp.Or(d.getenv(t.key), d.getenv("GOOGLE_API_KEY"))
	default:
		r, err := origin(ctx, at)
		t.ask = r
		return t, err
	}
	u, err := url.Parse(at)
	if err != nil {
		return t, err
	}
	t.ask, err = http.NewRequestWithContext(ctx, http.MethodGet, u.JoinPath(path).String(), nil)
	if err == nil && value != "" && value != "Bearer " {
		t.ask.Header.Set(header, value)
		t.ask.Header.Set("Anthropic-Version", "2023-06-01")
	}
	return t, err
}

// origin asks the root of a URL, so that what is behind the URL itself is not called.
func origin(ctx context.Context, at string) (*http.Request, error) {
	u, err := url.Parse(at)
	if err != nil || u.Host == "" {
		return nil, fmt.Errorf("%q is not a URL", at)
	}
	return http.NewRequestWithContext(ctx, http.MethodHead, (&url.URL{Scheme: u.Scheme, Host: u.Host, Path: "/"}).String(), nil)
}

// mostReaching is how long something elsewhere may take to answer.
const mostReaching = 10 * time.Second

// try sends the request. Any answer shows that the service can be reached.
func (t target) try() finding {
	client := &http.Client{Timeout: mostReaching, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	begun := time.Now()
	r, err := client.Do(t.ask)
	if err != nil {
		g := ill
		if t.check == "telemetry" {
			g = doubt // runs go on without it
		}
		return finding{t.check, g, fmt.Sprintf("%s: %v", t.name, err), "check the address, the name service, proxies (HTTPS_PROXY) and firewalls between here and there"}
	}
	_, _ = io.Copy(io.Discard, io.LimitReader(r.Body, 1<<20))
	_ = r.Body.Close()
	took := time.Since(begun).Round(time.Millisecond)
	switch {
	case t.key != "" && (r.StatusCode == http.StatusUnauthorized || r.StatusCode == http.StatusForbidden):
		return finding{t.check, ill, fmt.Sprintf("%s at %s refuses the key: %s", t.name, t.ask.URL.Host, r.Status), "put a valid key into " + t.key}
	case r.StatusCode >= http.StatusInternalServerError:
		return finding{t.check, doubt, fmt.Sprintf("%s at %s answers %s", t.name, t.ask.URL.Host, r.Status), "look at its status page; runs retry, and pause when it stays down"}
	}
	return finding{Check: t.check, Grade: well, Detail: fmt.Sprintf("%s at %s answers in %v", t.name, t.ask.URL.Host, took)}
}

// dispatcher checks what --on names: that it answers, that the namespace is there, and that
// workers ask for runs of the agents.
func (d *doctor) dispatcher(ctx context.Context, on string, agents []*spec.Spec) {
	system, err := d.dial(ctx, on, slog.New(slog.DiscardHandler))
	if err == nil {
		defer system.Close()
	}
	lost, absent := errors.AsType[interface {
		error
		Namespace() string
	}](err)
	if err != nil && !absent {
		d.find("temporal", ill, "", "%v", err)
		return
	}
	d.find("temporal", well, "", "the server of %s answers", on)
	if absent {
		d.find("namespace", ill, "", "%v", lost)
		return
	}
	d.find("namespace", well, "", "it is there, or the key does not let pawl look")
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
