package spec

import (
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/pawl-run/pawl/internal/cron"
	"github.com/pawl-run/pawl/webhook"
)

func (s *Spec) checkTriggers() {
	for i := range s.Triggers {
		s.checkTrigger(&s.Triggers[i], s.Triggers[:i])
	}
}

// Location returns the time zone of Cron.
func (t *Trigger) Location() (*time.Location, error) { return time.LoadLocation(t.Zone) }

func (s *Spec) checkTrigger(t *Trigger, before []Trigger) {
	zone, err := t.Location()
	if err != nil {
		s.doc.problem(t.at("zone"), "there is no zone %s on this machine (write one such as Europe/Berlin, or leave it out for UTC)", t.Zone)
		zone = time.UTC
	}
	switch {
	case t.Cron != "":
		if _, err := cron.Parse(t.Cron, zone); err != nil {
			s.doc.problem(t.at("cron"), "cron %v", err)
		}
	case t.Watch != "":
		t.Watch = s.file(t.Watch)
		if info, err := os.Stat(t.Watch); err == nil && !info.IsDir() {
			s.doc.problem(t.at("watch"), "watch is %s, which is a file (name the folder)", filepath.Base(t.Watch))
		}
	case t.Webhook != "":
		if slices.ContainsFunc(before, func(o Trigger) bool { return o.Webhook == t.Webhook }) {
			s.doc.problem(t.at("webhook"), "there is another webhook %s (give each a name of its own)", t.Webhook)
		}
		if t.n.get("secret") == nil {
			s.doc.problem(t.n, "the webhook %s has no secret (name a variable with what its sender signs with)", t.Webhook)
		}
		switch {
		case t.n.get("start") != nil && t.Signal != "":
			s.doc.problem(t.n, "the webhook %s has both start and signal (write two triggers)", t.Webhook)
		case t.Signal != "" && t.Key == "":
			s.doc.problem(t.n, "the webhook %s has a signal, but no key that says to which run", t.Webhook)
		}
	}
}

func (s *Spec) checkWebhooks() {
	urls := map[string]bool{}
	for _, n := range s.n.all("webhooks.*.url") {
		if err := webhook.CheckURL(n.text); err != nil && n.kind == text {
			s.doc.problem(n, "url cannot be posted to (%v)", err)
		}
		if urls[n.text] {
			s.doc.problem(n, "there is another webhook with this url (drop one)")
		}
		urls[n.text] = n.kind == text
	}
	for _, n := range s.n.all("webhooks.*.secret") { // which reading a recorded run does not need
		if key := os.Getenv(n.text); key != "" && s.opt.family == nil {
			if err := webhook.CheckSecret(key); err != nil {
				s.doc.problem(n, "the variable %s: %v", n.text, err)
			}
		}
	}
}

// unheard reports the webhooks of this spec's agents that this spec does not
// have. They are not called: the agents' runs are parts of a run of the outermost agent.
func (s *Spec) unheard(members []*Spec) {
	for _, m := range members {
		for _, n := range m.n.all("webhooks.*") {
			if !slices.ContainsFunc(s.Webhooks, func(own webhook.Hook) bool { return own.URL == n.get("url").text }) {
				s.doc.problem(n, "the webhook is not called for an agent of %s (name it in %[1]s as well, or leave it out here)", filepath.Base(s.path))
			}
		}
		s.unheard(m.members)
	}
}

// unsigned reports the webhooks whose secret is not set. Without it a receiver could not detect
// forged notices, so the spec does not run.
func (s *Spec) unsigned(d *document) {
	if s.opt.family != nil {
		return
	}
	for _, n := range s.n.all("webhooks.*.secret") {
		if os.Getenv(n.text) == "" {
			d.problem(n, "the variable %s is not set (set it to what notices are to be signed with, such as whsec_ and 32 random bytes in base64)", n.text)
		}
	}
}
