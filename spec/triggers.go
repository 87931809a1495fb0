package spec

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"time"

	"github.com/pawl-run/pawl/internal/cron"
)

// A Trigger is what starts runs of an agent where it is served; see server.Trigger.
type Trigger struct {
	Cron    string
	Zone    *time.Location
	MakeUp  bool
	Webhook string
	Sign    string
	Secret  string // the name of a variable
	When    map[string]string
	Key     string
	Signal  string
	Watch   string // absolute
	Input   string
}

var triggerName = regexp.MustCompile(`^[a-z0-9][a-z0-9-]*$`)

// readTriggers reads a list of {cron: "0 8 * * 1-5", input: …}.
func (s *Spec) readTriggers(f fields) {
	for _, item := range f.items("triggers", `[{cron: "0 8 * * 1-5", input: Good morning.}]`) {
		t := f.fields(triggerKeys, item)
		if item.kind == mapping {
			s.readTrigger(t, item)
		}
	}
}

// triggerOf are the keys that go with each kind of trigger.
var triggerOf = map[string][]string{
	"cron":    {"input", "zone", "missed"},
	"webhook": {"start", "signal", "secret", "sign", "when", "key"},
	"watch":   {"input"},
}

func (s *Spec) readTrigger(f fields, item *node) {
	var t Trigger
	var zone string
	kind := ""
	for _, one := range []string{"cron", "webhook", "watch"} {
		if item.get(one) == nil {
			continue
		}
		if kind != "" {
			f.problem(item.place, "a trigger has both %s and %s (write two)", kind, one)
			return
		}
		kind = one
	}
	if kind == "" {
		f.problem(item.place, "a trigger has none of cron, webhook and watch (write one)")
		return
	}
	for _, p := range item.pairs {
		if p.key != kind && slices.ContainsFunc(triggerKeys.keys, func(k key) bool { return k.name == p.key }) && !slices.Contains(triggerOf[kind], p.key) {
			f.problem(p.place, "%s is not for a trigger with %s", p.key, kind)
		}
	}
	f.text("cron", &t.Cron)
	f.text("zone", &zone)
	f.text("webhook", &t.Webhook)
	f.text("key", &t.Key)
	f.text("signal", &t.Signal)
	f.text("watch", &t.Watch)
	f.text("input", &t.Input)
	f.text("start", &t.Input)
	if w := f.value("when", mapping, "a mapping such as {action: opened}"); w != nil {
		t.When = map[string]string{}
		for _, p := range w.pairs {
			t.When[p.key] = p.value.text
		}
	}
	t.MakeUp, t.Sign, t.Zone = f.word("missed") == "once", f.word("sign"), time.UTC
	if zone != "" {
		var err error
		if t.Zone, err = time.LoadLocation(zone); err != nil {
			f.problem(item.get("zone").place, "there is no zone %s on this machine (write one such as Europe/Berlin, or leave it out for UTC)", zone)
			t.Zone = time.UTC
		}
	}
	switch {
	case t.Cron != "":
		if _, err := cron.Parse(t.Cron, t.Zone); err != nil {
			f.problem(item.get("cron").place, "cron %v", err)
		}
	case t.Watch != "":
		t.Watch = s.at(t.Watch)
		if info, err := os.Stat(t.Watch); err == nil && !info.IsDir() {
			f.problem(item.get("watch").place, "watch is %s, which is a file (name the folder)", filepath.Base(t.Watch))
		}
	case t.Webhook != "":
		s.checkTriggerHook(f, item, &t)
	}
	s.Triggers = append(s.Triggers, t)
}

func (s *Spec) checkTriggerHook(f fields, item *node, t *Trigger) {
	at := item.get("webhook").place
	switch {
	case !triggerName.MatchString(t.Webhook):
		f.problem(at, "webhook is %q (use small letters, digits and hyphens: it is a part of the address)", t.Webhook)
	case slices.ContainsFunc(s.Triggers, func(o Trigger) bool { return o.Webhook == t.Webhook }):
		f.problem(at, "there is another webhook %s (give each a name of its own)", t.Webhook)
	}
	if !s.secret(f, "secret", &t.Secret) && t.Secret == "" {
		f.problem(item.place, "the webhook %s has no secret (name a variable with what its sender signs with)", t.Webhook)
	}
	switch {
	case item.get("start") != nil && t.Signal != "":
		f.problem(item.place, "the webhook %s has both start and signal (write two triggers)", t.Webhook)
	case t.Signal != "" && t.Key == "":
		f.problem(item.place, "the webhook %s has a signal, but no key that says to which run", t.Webhook)
	}
}

// untriggered warns about folders that are missing, and secrets that are not set.
func (s *Spec) untriggered(d *document) {
	if s.family.member() { // only the triggers of a spec that is served count
		return
	}
	for _, n := range s.root.all("triggers.*.watch") {
		if _, err := os.Stat(s.at(n.text)); err != nil {
			d.problem(n.place, "there is no folder %s (nothing starts until there is)", s.at(n.text))
		}
	}
	for _, n := range s.root.all("triggers.*.secret") {
		if os.Getenv(n.text) == "" {
			d.problem(n.place, "the variable %s is not set (no server serves the webhook without it)", n.text)
		}
	}
}
