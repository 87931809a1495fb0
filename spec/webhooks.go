package spec

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/pawl-run/pawl/internal/expr"
	"github.com/pawl-run/pawl/webhook"
)

// A Webhook is a URL that a spec wants notified of its runs.
type Webhook struct {
	URL    string
	Secret string          // the variable with the key that signs notices
	Events []webhook.Event // the events to report; nil: all

	at place
}

// readWebhooks reads a list of {url: https://…, secret: NAME, events: [run.stopped]}.
func (s *Spec) readWebhooks(f fields) {
	for _, item := range f.items("webhooks", "[{url: https://hooks.example.org/pawl, secret: HOOK_SECRET}]") {
		w := Webhook{at: item.place}
		h := f.fields(webhookKeys, item)
		if h.text("url", &w.URL); w.URL != "" {
			if err := webhook.CheckURL(w.URL); err != nil {
				h.problem(item.get("url").place, "url cannot be posted to (%v)", err)
			}
		}
		// reading a recorded run does not need the secret
		if s.secret(h, "secret", &w.Secret) && s.opt.family == nil && os.Getenv(w.Secret) != "" {
			if err := webhook.CheckSecret(os.Getenv(w.Secret)); err != nil {
				h.problem(item.get("secret").place, "the variable %s: %v", w.Secret, err)
			}
		}
		words, at := h.words("events", "[run.waiting, run.stopped]")
		for i, word := range words {
			var e webhook.Event
			switch err := e.UnmarshalText([]byte(word)); {
			case err != nil:
				h.problem(at[i].place, "there is no event %s%s", word, expr.DidYouMean(word, webhook.EventNames))
			case slices.Contains(w.Events, e):
				h.problem(at[i].place, "events has %s twice (drop one)", word)
			default:
				w.Events = append(w.Events, e)
			}
		}
		if e := item.get("events"); e != nil && e.kind == list && len(e.items) == 0 {
			h.problem(e.place, "events is empty (name some, or leave it out for all)")
		}
		if slices.ContainsFunc(s.Webhooks, func(other Webhook) bool { return other.URL == w.URL && w.URL != "" }) {
			h.problem(item.place, "there is another webhook with this url (drop one)")
		}
		s.Webhooks = append(s.Webhooks, w)
	}
}

// untold is a webhook in the spec of a sub-agent. It is not called: the
// sub-agent's runs are parts of a run of the outermost agent, whose own
// webhooks are called.
type untold struct {
	url, file string
	at        place
}

// unheard reports the webhooks of this spec's agents that this spec does not
// have.
func (s *Spec) unheard(d *document) {
	for _, u := range s.untold {
		if !slices.ContainsFunc(s.Webhooks, func(w Webhook) bool { return w.URL == u.url }) {
			d.problems = append(d.problems, Problem{u.file, u.at.line, u.at.column, fmt.Sprintf(
				"the webhook is not called for an agent of %s (name it in %[1]s as well, or leave it out here)", filepath.Base(s.path))})
		}
	}
}

// unsigned reports the webhooks whose secret is not set. Without it a receiver could not detect
// forged notices, so the spec does not run.
func (s *Spec) unsigned(d *document) {
	if s.opt.family != nil {
		return
	}
	for _, n := range s.root.all("webhooks.*.secret") {
		if os.Getenv(n.text) == "" {
			d.problem(n.place, "the variable %s is not set (set it to what notices are to be signed with, such as whsec_ and 32 random bytes in base64)", n.text)
		}
	}
}

// WebhooksOf returns the webhooks in the source of an agent: none if the source
// is not a spec's, or this version cannot read it.
func WebhooksOf(source string) []Webhook { return readAgain(source).Webhooks }
