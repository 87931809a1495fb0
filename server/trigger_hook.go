package server

import (
	"cmp"
	"fmt"
	"log/slog"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/pawl-run/pawl/engine"
	"github.com/pawl-run/pawl/internal/web"
	"github.com/pawl-run/pawl/internal/wire"
	"github.com/pawl-run/pawl/server/client"
)

var triggerRoute = route{
	method: http.MethodPost, path: "/v1/triggers/{name}", name: "trigger", summary: "Start or signal a run by a signed webhook; needs only its signature",
	reply: client.Triggered{}, refuses: []int{400, 401, 404, 409, 413, 415, 422}, do: (*Server).trigger,
}

// trigger takes a webhook. Nothing of it is read before its signature is right.
func (s *Server) trigger(x *exchange) (any, error) {
	i := slices.IndexFunc(s.triggers, func(t *trigger) bool { return t.Webhook != "" && t.Webhook == x.PathValue("name") })
	if i < 0 {
		return nil, refusal(http.StatusNotFound, "there is no trigger of that name")
	}
	t := s.triggers[i]
	body, err := s.receive(x, "application/json")
	if err != nil {
		return nil, err
	}
	if err := web.CheckSignature(t.Sign, t.Secret, x.Request.Header, body, time.Now()); err != nil {
		return nil, refusal(http.StatusUnauthorized, err.Error())
	}
	value := map[string]any{}
	if err := wire.Unmarshal(body, &value); err != nil || value == nil {
		return nil, refusal(http.StatusBadRequest, fmt.Sprintf("the body is no JSON object: %v", err))
	}
	switch {
	case t.Sign == "slack" && part(value, "type") == "url_verification": // https://docs.slack.dev/reference/events/url_verification
		return client.Triggered{Challenge: part(value, "challenge")}, nil
	case t.Sign == "github" && x.Request.Header.Get("X-Github-Event") == "ping":
		return client.Triggered{Ignored: "ping"}, nil
	}
	for _, path := range slices.Sorted(maps.Keys(t.When)) {
		if got := part(value, path); got != t.When[path] {
			return client.Triggered{Ignored: fmt.Sprintf("%s is not %s", path, t.When[path])}, nil
		}
	}
	value["body"] = string(body)
	// Under a key with a gap in it, all requests would be one run.
	if err := cmp.Or(lacking("key", t.Key, value, false), lacking("start", t.Input, value, true), lacking("signal", t.Signal, value, true)); err != nil {
		s.log.Warn("a webhook was refused", slog.String("trigger", t.name), slog.Any("error", err))
		return nil, refusal(http.StatusBadRequest, err.Error())
	}
	key := t.own(body)
	if t.Key != "" {
		key = fill(t.Key, value)
	}
	if t.Signal == "" {
		run, found, err := s.fire(x.Context(), t, key, fill(cmp.Or(t.Input, "{{body}}"), value))
		return client.Triggered{Run: run, Found: found}, err
	}
	run := engine.KeyRun(t.key(key))
	desk, err := s.desk(x.Context(), run)
	if err != nil {
		return nil, refusal(http.StatusNotFound, fmt.Sprintf("no run was started under the key %q", key))
	}
	text := strings.TrimSpace(fill(t.Signal, value))
	if err := desk.Say(x.Context(), run, t.name, text, &engine.SayOptions{Signal: t.name, Key: t.own(body)}); err != nil {
		return nil, refusal(http.StatusConflict, err.Error())
	}
	if wakes, err := engine.Signalled(x.Context(), s.journal, run); err != nil || !wakes {
		return client.Triggered{Run: run, Found: true}, err
	}
	_, _, err = s.forward(x.Context(), run, true)
	return client.Triggered{Run: run, Found: true}, err
}
