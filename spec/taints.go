package spec

import "github.com/pawl-run/pawl"

// unheld warns about a data-flow guard that never holds a call, because no tool
// of the spec returns untrusted text.
func (s *Spec) unheld(d *document) {
	if s.dataFlow && !s.family.member() && !s.taints() {
		d.problem(s.root.get("guard").get("data_flow").place, "data_flow holds no call: nothing that the agent reads is untrusted (label the tools that read text of unknown authors: trust: untrusted)")
	}
}

// taints reports whether a tool returns untrusted text.
func (s *Spec) taints() bool {
	for _, name := range s.own {
		trust := s.trust[name]
		if trust == 0 {
			trust = s.ownTool(name).Info().Trust
		}
		if trust == pawl.Untrusted {
			return true
		}
	}
	for _, h := range s.hosted {
		if h.options.Trust != pawl.Trusted {
			return true
		}
	}
	for _, t := range s.tools {
		if t.options.Trust == pawl.Untrusted {
			return true
		}
	}
	for _, server := range s.servers {
		if server.trust == pawl.Untrusted || server.trust == 0 && !server.Trusted {
			return true
		}
	}
	for _, r := range s.remotes {
		if r.options.Trust == pawl.Untrusted || r.options.Trust == 0 && !r.remote.Trusted {
			return true
		}
	}
	for _, m := range s.members { // the guard also applies to these
		if m.taints() {
			return true
		}
	}
	return false
}
