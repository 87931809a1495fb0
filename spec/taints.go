package spec

import (
	"cmp"
	"path/filepath"
	"slices"
	"strings"

	"github.com/pawl-run/pawl"
)

// unheld warns about a data-flow guard that never holds a call, because no tool
// of the spec returns untrusted text.
func (s *Spec) unheld(d *document) {
	if s.guarded() && !s.family.member() && !s.taints() {
		d.problem(s.at("guard", "data_flow"), "data_flow holds no call: nothing that the agent reads is untrusted (label the tools that read text of unknown authors: trust: untrusted)")
	}
}

// guarded reports whether the spec has a data-flow guard.
func (s *Spec) guarded() bool { return s.Guard.DataFlow == "true" || s.Guard.DataFlow == "strict" }

// taints reports whether a tool returns untrusted text.
func (s *Spec) taints() bool {
	return s.notes != nil && !s.notes.Trusted || slices.ContainsFunc(s.entries, func(e entry) bool {
		return e.tool != nil && cmp.Or(e.trust, e.tool.Info().Trust) == pawl.Untrusted
	}) || slices.ContainsFunc(s.servers, MCPServer.untrusted) || slices.ContainsFunc(s.members, (*Spec).taints) // the guard also applies to these
}

// untrusted reports whether the results of the server's tools are.
func (m MCPServer) untrusted() bool {
	return m.Trust == pawl.Untrusted || m.Trust == 0 && !m.Trusted
}

// laundered warns about builtin tools that are trusted by default and that return what
// strangers wrote: run_command with a network, and what reads a directory that an
// untrusted program writes.
func (s *Spec) laundered(d *document) {
	writer := s.untrustedWriter()
	for _, n := range s.n.all("tools.*.builtin.*") {
		switch {
		case slices.ContainsFunc(s.entries, func(e entry) bool { return e.name == n.text && e.trust != 0 }):
		case n.text == "run_command" && (s.cage == nil || !s.cage.NoNetwork):
			d.problem(n, "run_command can download, and data_flow trusts what it prints (label it trust: untrusted, or set cage: {network: none})")
		case (n.text == "read_file" || n.text == "search_files") && writer != "":
			d.problem(n, "data_flow trusts what %s reads, and in an earlier run the untrusted %s may have written it (label %[1]s trust: untrusted, or set cage: {files: …})", n.text, writer)
		}
	}
}

// untrustedWriter names a program of the spec that is untrusted and can write to the
// directory that the builtin tools read; empty: there is none.
func (s *Spec) untrustedWriter() string {
	reaches := func(path string) bool {
		if !filepath.IsAbs(path) {
			path = filepath.Join(s.dir, path)
		}
		down, err := filepath.Rel(s.dir, path)
		up, other := filepath.Rel(path, s.dir)
		return err == nil && !strings.HasPrefix(down, "..") || other == nil && !strings.HasPrefix(up, "..")
	}
	if s.cage != nil && s.cage.Files != nil && !slices.ContainsFunc(s.cage.Files.Write, reaches) {
		return ""
	}
	for _, t := range s.made(ofCommand) {
		if info := t.Info(); info.Trust == pawl.Untrusted && info.Effect != pawl.Read && !info.Client {
			return info.Name
		}
	}
	for _, server := range s.servers {
		if len(server.Command) > 0 && server.untrusted() {
			return "MCP server " + server.Name
		}
	}
	return ""
}
