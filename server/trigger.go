package server

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"log/slog"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/pawl-run/pawl/engine"
	"github.com/pawl-run/pawl/internal/cron"
	"github.com/pawl-run/pawl/internal/web"
	"github.com/pawl-run/pawl/runs"
)

// A Trigger starts runs of an agent without a client: at the times of Cron, on signed requests
// to /v1/triggers/{Webhook}, or for the files in Watch. One of the three is set. A run is queued
// under an idempotency key, so servers with the same trigger on one journal start it once. It
// has the label trigger, and its input is untrusted, but for that of Cron.
type Trigger struct {
	Agent string

	// Cron is an expression such as "0 8 * * 1-5", for a clock in Zone. Nil: UTC.
	Cron string
	Zone *time.Location
	// MakeUp starts one run for times that passed while no server was running. Without it
	// they are left out.
	MakeUp bool

	// Webhook is the name in the path. Requests have JSON that is signed with Secret in the
	// way of Sign: standard (Standard Webhooks; the default), github or slack.
	Webhook, Sign string
	Secret        []byte
	// When has values that parts of the JSON must have, as in {"action": "opened"}. Other
	// requests are answered and ignored.
	When map[string]string
	// Key is the idempotency key of the run; empty: the body. Signal, if set, is a message
	// to the run that a trigger of the agent has started under that key. It is named Webhook, so it
	// wakes a run that waits for a signal of that name.
	Key, Signal string

	// Watch is a folder. Each file there starts a run once, by its name and content.
	Watch string

	// Input is the input of the run. In it, and in Key and Signal, {{a.b}} stands for a part
	// of the JSON and {{body}} for all of it; a request without that part is refused. Watch has
	// {{file.name}}, {{file.path}} and {{file.text}}, Cron has {{time}}. Empty: the body, the
	// text, or the agent's own input.
	Input string
}

// trigger is a trigger that was checked.
type trigger struct {
	Trigger
	name string // in the label of its runs
	cron *cron.Schedule
}

var webhookName = regexp.MustCompile(`^[a-z0-9][a-z0-9-]*$`)

// prepare checks triggers.
func prepare(all []Trigger) (out []*trigger, err error) {
	names := map[string]bool{}
	for _, t := range all {
		made := &trigger{Trigger: t}
		switch {
		case (t.Cron != "") == (t.Webhook != "" || t.Watch != "") || t.Webhook != "" && t.Watch != "":
			return nil, fmt.Errorf("a trigger of %s is not one of cron, webhook and watch", t.Agent)
		case t.Cron != "":
			zone := t.Zone
			if zone == nil {
				zone = time.UTC
			}
			if made.cron, err = cron.Parse(t.Cron, zone); err != nil {
				return nil, fmt.Errorf("cron of %s: %w", t.Agent, err)
			}
			made.name = "cron " + t.Cron
		case t.Watch != "":
			made.name = "watch " + t.Watch
		case !webhookName.MatchString(t.Webhook) || names[t.Webhook]:
			return nil, fmt.Errorf("the webhook %q of %s needs a name of its own, of small letters, digits and hyphens", t.Webhook, t.Agent)
		case len(t.Secret) == 0:
			return nil, fmt.Errorf("the webhook %s has no secret, so anybody could start runs", t.Webhook)
		case t.Sign != "" && !slices.Contains(web.SignatureSchemes, t.Sign):
			return nil, fmt.Errorf("the webhook %s: sign is %q, not one of %s", t.Webhook, t.Sign, strings.Join(web.SignatureSchemes, ", "))
		case t.Signal != "" && t.Key == "":
			return nil, fmt.Errorf("the webhook %s has a signal, but no key that says to which run", t.Webhook)
		default:
			made.name = t.Webhook
			names[t.Webhook] = true
		}
		out = append(out, made)
	}
	return out, nil
}

// Trigger starts runs at times and for files until ctx ends. [Server.Serve] calls it.
func (s *Server) Trigger(ctx context.Context) {
	var all sync.WaitGroup
	defer all.Wait()
	for _, t := range s.triggers {
		switch {
		case t.cron != nil:
			all.Go(func() { s.tick(ctx, t) })
		case t.Watch != "":
			all.Go(func() { s.watch(ctx, t) })
		}
	}
}

// fire starts the run of a key, if it has not been started, and returns its id.
func (s *Server) fire(ctx context.Context, t *trigger, key, input string) (run string, found bool, err error) {
	w, err := s.host.Start(ctx, t.Agent, nil)
	if err != nil {
		return "", false, err
	}
	defer w.Drop()
	if input != "" {
		w.Input = input
	}
	if strings.TrimSpace(w.Input) == "" && asks(w.Agent) {
		return "", false, invalid("the trigger gives no input, and the agent has no default input")
	}
	labels := runs.Labels(w.Agent.Labels, map[string]string{"trigger": t.name})
	h, err := w.Engine.Queue(ctx, w.Agent, w.Input, &engine.StartOptions{Labels: labels, Key: t.key(key), Untrusted: t.cron == nil})
	if err != nil {
		return "", false, err
	}
	if !h.Found() {
		s.log.Info("a trigger has queued a run", slog.String("trigger", t.name), slog.String("run", h.ID()))
	}
	return h.ID(), h.Found(), nil
}

// key is the idempotency key of a run of the trigger: those of clients do not begin so.
func (t *trigger) key(key string) string { return "trigger " + t.Agent + " " + key }

// own is the key of what has none of its own.
func (t *trigger) own(of ...[]byte) string {
	sum := sha256.New()
	for _, part := range of {
		fmt.Fprintf(sum, "%d:", len(part))
		sum.Write(part)
	}
	return t.name + " " + hex.EncodeToString(sum.Sum(nil)[:16])
}

var placeholder = regexp.MustCompile(`\{\{\s*([\w.-]+)\s*\}\}`)

// fill puts parts of a value into a text. What is not there is empty.
func fill(text string, value any) string {
	return placeholder.ReplaceAllStringFunc(text, func(at string) string {
		return part(value, placeholder.FindStringSubmatch(at)[1])
	})
}

// lacking returns an error if the body of a webhook lacks a part that a text names, or, unless null
// may stand there, has null in its place.
func lacking(what, text string, body any, null bool) error {
	for _, at := range placeholder.FindAllStringSubmatch(text, -1) {
		if found, ok := lookup(body, at[1]); !ok || found == nil && !null {
			return fmt.Errorf("%s: the body has no %s", what, at[1])
		}
	}
	return nil
}

// part is the text of a part of a value, such as pull_request.title or commits.0.id.
func part(value any, path string) string {
	value, _ = lookup(value, path)
	switch v := value.(type) {
	case nil:
		return ""
	case string:
		return v
	}
	text, err := json.Marshal(value)
	if err != nil { // it was JSON
		return ""
	}
	return string(text)
}

// lookup finds a part of a value, which may be null.
func lookup(value any, path string) (found any, ok bool) {
	for name := range strings.SplitSeq(path, ".") {
		switch v := value.(type) {
		case map[string]any:
			if value, ok = v[name]; !ok {
				return nil, false
			}
		case []any:
			i, err := strconv.Atoi(name)
			if err != nil || i < 0 || i >= len(v) {
				return nil, false
			}
			value = v[i]
		default:
			return nil, false
		}
	}
	return value, true
}
