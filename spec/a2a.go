package spec

import (
	"cmp"
	"net/url"
	"os"
	"regexp"
	"strings"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/a2a"
	"github.com/pawl-run/pawl/tool"
)

// remoteAgent is an agent of another server, used as a tool.
type remoteAgent struct {
	url, token string // token is the name of a variable
	options    tool.AgentOptions
	remote     a2a.Options
	at         place
}

// readRemote reads {a2a: {url: https://…}, name: billing}.
func (s *Spec) readRemote(f fields, item *node, taken map[string]int) {
	f = f.titled("tool", a2aToolKeys, item)
	n := item.get("a2a")
	m := f.titled("a2a", a2aKeys, n)
	if n.kind != mapping {
		return
	}
	r := remoteAgent{options: f.runOptions(), at: n.place}
	m.text("url", &r.url)
	m.flag("trusted", &r.remote.Trusted)
	m.duration("timeout", &r.remote.Timeout)
	s.secret(m, "token", &r.token)
	if r.url == "" {
		return
	}
	if err := a2a.CheckURL(r.url); err != nil {
		f.problem(n.get("url").place, "url is %q (%v)", r.url, err)
		return
	}
	at := item.get("name")
	if at == nil {
		at = n.get("url")
		r.options.Name = nameOf(r.url)
	}
	if f.names(r.options.Name, at.place, taken) {
		s.gate(f, r.options.Name)
		s.remotes = append(s.remotes, r)
	}
}

var notInName = regexp.MustCompile(`[^a-zA-Z0-9]+`)

// nameOf is the name of the tool for an agent whose entry has none: the agent's in a URL as
// pawl serve has them, or the host.
func nameOf(at string) string {
	u, err := url.Parse(at)
	if err != nil {
		return ""
	}
	_, agent, _ := strings.Cut(u.Path, "/agents/")
	agent, _, _ = strings.Cut(agent, "/")
	name := strings.Trim(notInName.ReplaceAllString(cmp.Or(agent, "ask_"+u.Host), "_"), "_")
	return name[:min(len(name), 64)]
}

// tool makes the tool. No request is made.
func (r remoteAgent) tool() pawl.Tool {
	o := r.remote
	if r.token != "" {
		o.Token = os.Getenv(r.token)
	}
	u, _ := url.Parse(r.url) // it was checked
	description := cmp.Or(r.options.Description, "Ask the agent at "+u.Host+". It gets a text and answers with one, and knows nothing else of this conversation.")
	name := strings.Trim(strings.ToLower(notInName.ReplaceAllString(r.options.Name, "-")), "-")
	return tool.Agent(a2a.Agent(cmp.Or(name, "remote"), description, r.url, &o), &r.options)
}

// runOptions reads the keys of a tool whose calls are runs.
func (f fields) runOptions() (o tool.AgentOptions) {
	f.text("name", &o.Name)
	f.text("description", &o.Description)
	f.maxOutput(&o.MaxOutput)
	f.count("max_calls", &o.MaxCalls, 1, "5")
	f.count("max_parallel", &o.MaxParallel, 1, "3")
	o.Exempt, o.Alone = f.word("stuck") == "exempt", f.off("parallel")
	choose(f, "effect", &o.Effect)
	choose(f, "trust", &o.Trust)
	return o
}
