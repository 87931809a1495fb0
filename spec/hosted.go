package spec

import (
	"strings"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/tool"
)

// hostedSpec is a tool that the provider of the model runs.
type hostedSpec struct {
	name    string
	options tool.HostedOptions
	at      place
}

// readHosted reads {hosted: web_search, max_calls: 3}.
func (s *Spec) readHosted(f fields, item *node, taken map[string]int) {
	f = f.titled("tool", hostedKeys, item)
	h := hostedSpec{name: f.word("hosted"), at: item.get("hosted").place}
	if h.name == "" {
		return
	}
	f.count("max_calls", &h.options.MaxCalls, 1, "5")
	f.maxOutput(&h.options.MaxOutput)
	choose(f, "trust", &h.options.Trust)
	if f.names(h.name, h.at, taken) {
		s.hosted = append(s.hosted, h)
	}
}

// unhosted finds hosted tools that the provider of a model does not run.
func (s *Spec) unhosted(d *document, a pawl.Agent) {
	for _, h := range s.hosted {
		if err := objection(tool.Hosted(h.name, &h.options), a); err != nil {
			d.problem(h.at, "%s", strings.TrimPrefix(err.Error(), "tool \""+h.name+"\": "))
		}
	}
}

// hostedNode is the entry of a hosted tool.
func hostedNode(t pawl.ToolInfo) *node {
	n := &node{kind: mapping}
	n.put("hosted", textNode(t.Name))
	n.put("max_calls", numberNode(t.MaxCalls))
	n.put("max_output", numberNode(t.MaxOutput))
	n.flag("trust", t.Trust != pawl.Untrusted, textNode(pawl.Trusted.String()))
	return n
}
