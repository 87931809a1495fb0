package spec

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/internal/expr"
	"github.com/pawl-run/pawl/internal/naming"
)

// OAuth says how requests are authorised; nil: not by OAuth.
func (m MCPServer) OAuth() *OAuth {
	if m.Auth == nil {
		return nil
	}
	return m.Auth.OAuth
}

// MCPServer returns the server of that name, and whether the spec names one.
func (s *Spec) MCPServer(name string) (MCPServer, bool) {
	i := slices.IndexFunc(s.servers, func(m MCPServer) bool { return m.Name == name })
	if i < 0 {
		return MCPServer{}, false
	}
	return s.servers[i], true
}

// ClientCredentials is the Grant of a client that authorises itself, without a person.
const ClientCredentials = "client_credentials"

// A Connector connects to a server and returns its tools and a function that
// ends the connection. Only [Spec.Open] calls it, because it starts programs
// that the spec names. ctx bounds the connecting.
type Connector func(ctx context.Context, s MCPServer) (tools []pawl.Tool, end func() error, err error)

func (s *Spec) readServer(w *MCPServer) {
	m := &w.MCPAddress
	if w.n.get("mcp").kind == 0 {
		return
	}
	s.resolve(m.Command, m.mark)
	s.checkServer(m)
	if other, twice := s.MCPServer(m.Name); twice {
		s.doc.problem(m.n, "there is another MCP server %s in line %d (give each a name of its own)", m.Name, other.MCPAddress.n.place.line)
		return
	}
	if m.Name == "" {
		return
	}
	w.Dir, w.Env, w.Identity = s.dir, s.Env, m.URL
	if m.Command != nil {
		w.Cage = s.cage
		for _, word := range m.at("command").items { // as written, wherever the spec is
			w.Identity += word.text + "\x00"
		}
	}
	if m.Credential != "" {
		w.Credentials = s.credential(m.Credential, m.at("credential"))
	}
	s.servers = append(s.servers, *w)
	s.gate(w.Approval, m.Name+"__*")
}

// checkServer reports problems with the address of a server.
func (s *Spec) checkServer(m *MCPAddress) {
	if m.Auth != nil && m.Credential != "" {
		s.doc.problem(m.Auth.n, "there is a credential and auth (leave one out)")
	}
	if m.Auth != nil && m.Auth.OAuth != nil {
		switch o := m.Auth.OAuth; {
		case m.Token != "":
			s.doc.problem(m.Auth.n, "there is a token and auth (leave one out)")
		case o.Grant == ClientCredentials && (o.Client == "" || o.Secret == ""):
			s.doc.problem(o.n, "client_credentials needs a client and a secret (name the client, and the variable with its secret)")
		}
	}
}

// Open creates the agent like [Spec.Agent], and connects to the MCP servers of
// the spec with the registry's connector, which starts those that are programs.
// Call end to disconnect when no run of the agent continues. The error is
// [Problems], or a server's.
func (s *Spec) Open(ctx context.Context, r *Registry) (a pawl.Agent, end func() error, err error) {
	var ends []func() error
	end = func() error {
		var errs []error
		for _, e := range slices.Backward(ends) {
			errs = append(errs, e())
		}
		ends = nil
		return errors.Join(errs...)
	}
	if a, err = s.Agent(r); err != nil { // before anything is started
		return a, end, err
	}
	connected := r.program()
	connected.remote = map[*Spec]map[string][]pawl.Tool{}
	if err = s.connect(ctx, &connected, &ends); err == nil && len(ends) > 0 {
		a, err = s.Agent(&connected)
	}
	if err != nil {
		return pawl.Agent{}, end, errors.Join(err, end())
	}
	return a, end, nil
}

// connect connects the spec and its agents to their servers.
func (s *Spec) connect(ctx context.Context, r *Registry, ends *[]func() error) error {
	if r.remote[s] != nil {
		return nil
	}
	r.remote[s] = map[string][]pawl.Tool{}
	for _, server := range s.servers {
		if r.MCP == nil {
			d := &document{}
			d.problem(server.MCPAddress.n, "this program connects to no MCP servers (give the registry a connector)")
			return d.problems
		}
		tools, end, err := r.MCP(ctx, server)
		if err != nil {
			return err
		}
		*ends = append(*ends, end)
		if slices.ContainsFunc(tools, func(t pawl.Tool) bool { return server.Cage != nil && t.Info().Cage == "" }) {
			return fmt.Errorf("spec: the registry's connector ignores the cage of the mcp server %s", server.Name)
		}
		if r.remote[s][server.Name], err = s.chosen(server, tools); err != nil {
			return err
		}
	}
	for _, m := range s.members {
		if err := m.connect(ctx, r, ends); err != nil {
			return err
		}
	}
	return nil
}

// chosen returns the tools of a server that the spec offers.
func (s *Spec) chosen(server MCPServer, tools []pawl.Tool) (chosen []pawl.Tool, err error) {
	if server.only == nil {
		return tools, nil
	}
	d := &document{}
	var names []string
	for _, t := range tools {
		names = append(names, t.Info().Name)
	}
	for _, want := range server.only {
		if i := slices.Index(names, want.text); i >= 0 {
			chosen = append(chosen, tools[i])
		} else {
			d.problem(want, "the MCP server %s has no tool %s%s", server.Name, want.text, expr.DidYouMean(want.text, names))
		}
	}
	return chosen, d.problems.err()
}

// spoken returns the tools of a server that the spec names.
func (s *Spec) spoken(server MCPServer) map[string]bool {
	names := map[string]bool{}
	for _, want := range server.only {
		names[want.text] = true
	}
	if server.only != nil {
		return names
	}
	spoken := regexp.MustCompile(`\b` + regexp.QuoteMeta(server.Name) + `__[a-zA-Z0-9_-]+`)
	for _, name := range spoken.FindAllString(s.doc.text+" "+s.opt.Stop, -1) {
		names[name] = true
	}
	for _, name := range server.Allow {
		names[server.Name+"__"+name] = true
	}
	if len(names) == 0 {
		names[server.Name+standsForAll] = true
	}
	return names
}

// remoteTools returns the tools of the MCP servers or, before connecting, one
// placeholder for each tool the spec names, so that the rest can be checked
// without starting anything.
func (s *Spec) remoteTools(r *Registry) (all []pawl.Tool) {
	connected, declared := r.program().remote[s], r.program().declared[s]
	for _, server := range s.servers {
		if connected != nil {
			all = append(all, connected[server.Name]...)
			continue
		}
		if declared != nil {
			for _, info := range declared {
				if strings.HasPrefix(info.Name, server.Name+"__") {
					all = append(all, absent{info})
				}
			}
			continue
		}
		cage := ""
		if server.Cage != nil {
			cage = server.Cage.Describe()
		}
		for name := range s.spoken(server) {
			if naming.ToolName().MatchString(name) {
				all = append(all, absent{pawl.ToolInfo{
					Name: name, Cage: cage, Description: "It is known when the server is connected to.",
					Input: anyArguments,
				}})
			}
		}
	}
	if connected == nil && declared == nil {
		slices.SortFunc(all, func(a, b pawl.Tool) int { return strings.Compare(a.Info().Name, b.Info().Name) })
	}
	return all
}

// anyArguments is the schema of a tool whose own is not known.
var anyArguments = json.RawMessage(`{"type":"object","additionalProperties":true}`)

// standsForAll ends the name of the placeholder for a server of which the spec
// names no tools.
const standsForAll = "__any"
