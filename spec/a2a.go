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

// readRemote reads an agent of another server, used as a tool.
func (s *Spec) readRemote(w *a2aItem) {
	if w.A2A.URL == "" {
		return
	}
	at := w.A2A.at("url")
	if w.Name != "" {
		at = w.at("name")
	}
	w.Name = cmp.Or(w.Name, nameOf(w.A2A.URL))
	trust := w.Trust
	if trust == 0 && !w.A2A.Trusted {
		trust = pawl.Untrusted
	}
	s.add(entry{kind: ofServer, name: w.Name, at: at, tool: w.tool(), trust: trust}, w.Approval)
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
func (w *a2aItem) tool() pawl.Tool {
	o := a2a.Options{Trusted: w.A2A.Trusted, Timeout: w.A2A.Timeout}
	if w.A2A.Token != "" {
		o.Token = os.Getenv(w.A2A.Token)
	}
	u, _ := url.Parse(w.A2A.URL) // it was checked
	description := cmp.Or(w.Description, "Ask the agent at "+u.Host+". It gets a text and answers with one, and knows nothing else of this conversation.")
	return tool.Agent(a2a.Agent(agentNameOf(w.Name, "remote"), description, w.A2A.URL, &o), &w.AgentOptions)
}
