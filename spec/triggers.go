package spec

import (
	"os"
	"path/filepath"
	"slices"
	"time"

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
	switch {
	case t.Watch != "":
		t.Watch = s.file(t.Watch)
		if info, err := os.Stat(t.Watch); err == nil && !info.IsDir() {
			s.doc.problem(t.at("watch"), "watch is %s, which is a file (name the folder)", filepath.Base(t.Watch))
		}
	case t.Webhook != "":
		if slices.ContainsFunc(before, func(o Trigger) bool { return o.Webhook == t.Webhook }) {
			s.doc.problem(t.at("webhook"), "there is another webhook %s (give each a name of its own)", t.Webhook)
		}
		if t.n.get("start") != nil && t.Signal != "" {
			s.doc.problem(t.n, "the webhook %s has both start and signal (write two triggers)", t.Webhook)
		}
	}
}

func (s *Spec) checkWebhooks() {
	urls := map[string]bool{}
	for _, n := range s.n.all("webhooks.*.url") {
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
