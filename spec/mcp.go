package spec

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/internal/expr"
	"github.com/pawl-run/pawl/tool"
)

// An MCPServer is a server of the Model Context Protocol named in a spec. The
// agent has its tools as NAME__tool. It is a program or a URL.
type MCPServer struct {
	Name string

	Command []string   // the program and its arguments
	Dir     string     // its working directory
	Env     []string   // names of the variables it gets; their values are secrets
	Cage    *tool.Cage // nil: the program has the user's rights

	URL   string // of a server that is reached by streamable HTTP
	Token string // the variable that holds its bearer token; empty: none
	OAuth *OAuth // nil: requests are not authorised by OAuth

	Trusted   bool     // take the effects of its tools from their annotations
	Allow     []string // the server's names of the tools to offer; nil: all
	Timeout   time.Duration
	MaxOutput int
	// MaxParallel is the most concurrent calls of one of its tools; zero: the
	// agent's limit.
	MaxParallel int
	Identity    string // identifies the server as written in the spec, for pinning its tools

	at    place
	trust pawl.Trust // label of its tools' results; zero: determined by Trusted
	only  []*node    // the tools that a Hyphen document names, as NAME__tool; nil: all
}

// OAuth says how requests to an MCP server are authorised by OAuth.
type OAuth struct {
	Client      string // the id of a client that was registered beforehand; empty: one is registered
	Secret      string // the variable that holds its secret; empty: it has none
	Credentials bool   // the client authorises itself, without a person
}

var mcpAuthKeys = &table{name: "mcp_auth", title: "auth", about: "Authorisation of requests.", keys: []key{
	{name: "oauth", needed: true, value: either(aFlag, in(oauthKeys)), about: "OAuth 2.1; a person logs in once with `pawl mcp SPEC --login NAME`", inGo: "mcp.OAuth"},
}}

var oauthKeys = &table{name: "oauth", title: "oauth", about: "The OAuth client.", keys: []key{
	{name: "client", value: aText, otherwise: "one is registered at the login", about: "id of a registered client", inGo: "mcp.OAuth.ClientID"},
	{name: "secret", value: aText, otherwise: "none: the client is public", about: "variable with the client's secret", inGo: "mcp.OAuth.ClientSecret"},
	{name: "grant", value: oneOf("authorization_code", "client_credentials"), otherwise: "authorization_code", about: "a person authorises, or the client alone with its secret", inGo: "mcp.OAuth.Credentials"},
}}

// MCPServer returns the server of that name, and whether the spec names one.
func (s *Spec) MCPServer(name string) (MCPServer, bool) {
	i := slices.IndexFunc(s.servers, func(m MCPServer) bool { return m.Name == name })
	if i < 0 {
		return MCPServer{}, false
	}
	return s.servers[i], true
}

// readAuth reads {oauth: true} or {oauth: {client: …}}.
func (s *Spec) readAuth(m fields, server *MCPServer) {
	n := m.n.get("auth")
	if n == nil {
		return
	}
	in, ok := m.fields(mcpAuthKeys, n).part("oauth", "{client: pawl}", oauthKeys)
	if !ok {
		return
	}
	o := &OAuth{Credentials: in.word("grant") == "client_credentials"}
	in.text("client", &o.Client)
	s.secret(in, "secret", &o.Secret)
	switch {
	case m.n.get("url") == nil:
		m.problem(n.place, "auth is for a url (a program gets the variables under env)")
	case server.Token != "":
		m.problem(n.place, "there is a token and auth (leave one out)")
	case o.Credentials && (o.Client == "" || o.Secret == ""):
		m.problem(in.n.place, "client_credentials needs a client and a secret (name the client, and the variable with its secret)")
	case o.Secret != "" && o.Client == "":
		m.problem(in.n.get("secret").place, "there is a secret and no client (name the client)")
	}
	server.OAuth = o
}

// A Connector connects to a server and returns its tools and a function that
// ends the connection. Only [Spec.Open] calls it, because it starts programs
// that the spec names. ctx bounds the connecting.
type Connector func(ctx context.Context, s MCPServer) (tools []pawl.Tool, end func() error, err error)

// serverName repeats the check of mcp.Names, because here the place is known.
var serverName = regexp.MustCompile(`^[a-zA-Z0-9]+([_-]?[a-zA-Z0-9]+)*$`)

// longestServer leaves room for the names of tools.
const longestServer = 32

// readServer reads {mcp: {name: files, command: [...]}, allow: [...]}.
func (s *Spec) readServer(f fields, item *node) {
	f = f.fields(mcpToolKeys, item)
	n := item.get("mcp")
	m := f.fields(mcpKeys, n)
	if n.kind != mapping {
		return
	}
	server := MCPServer{Dir: s.dir, Env: s.Env, at: n.place}
	if n.get("command") != nil {
		server.Cage = s.cage
	}
	m.text("name", &server.Name)
	if at := n.get("name"); server.Name != "" && (len(server.Name) > longestServer || !serverName.MatchString(server.Name)) {
		f.problem(at.place, "name is %q (use 1 to %d letters and digits, with single _ or - between them)", server.Name, longestServer)
	}
	m.flag("trusted", &server.Trusted)
	m.text("url", &server.URL)
	s.secret(m, "token", &server.Token)
	s.readAuth(m, &server)
	if command := n.get("command"); command != nil {
		server.Command = s.argv(m, "command", "[npx, -y, some-server]")
		for _, word := range command.items { // as written, wherever the spec is
			server.Identity += word.text + "\x00"
		}
	}
	f.checkServer(m, &server)
	if f.n.get("allow") != nil {
		names, at := f.words("allow", "[read_text_file]")
		if server.Allow = append([]string{}, names...); len(names) == 0 {
			f.problem(f.n.get("allow").place, "allow is empty (name the server's tools, or leave it out for all)")
		}
		for i, name := range names {
			if strings.TrimSpace(name) == "" || slices.Index(names, name) < i {
				f.problem(at[i].place, "allow has %q twice or blank (name each tool once)", name)
			}
		}
	}
	choose(f, "trust", &server.trust)
	f.duration("timeout", &server.Timeout)
	f.maxOutput(&server.MaxOutput)
	f.count("max_parallel", &server.MaxParallel, 1, "3")
	for _, other := range s.servers {
		if other.Name == server.Name {
			f.problem(n.place, "there is another MCP server %s in line %d (give each a name of its own)", server.Name, other.at.line)
			return
		}
	}
	g, gated := f.readGate(server.Name + "__*")
	if server.Name == "" {
		return
	}
	s.servers = append(s.servers, server)
	if gated {
		s.gates = append(s.gates, g)
	}
}

// checkServer reports problems with the address of a server.
func (f fields) checkServer(m fields, server *MCPServer) {
	command, address := m.n.get("command"), m.n.get("url")
	switch {
	case command != nil && address != nil:
		f.problem(address.place, "there is a command and a url (a server is a program or a URL; leave one out)")
	case command == nil && address == nil:
		f.problem(m.n.place, "mcp has neither command nor url (list the program and its arguments, or write its url)")
	case server.Token != "" && address == nil:
		f.problem(m.n.get("token").place, "token is for a url (a program gets the variables under env)")
	}
	if server.URL == "" {
		return
	}
	u, err := url.Parse(server.URL)
	switch {
	case err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http":
		f.problem(address.place, "url is %q (write one such as https://HOST/mcp)", server.URL)
	case u.User != nil:
		f.problem(address.place, "url holds a name or password (put the token into a variable, and its name under token)")
	case u.Scheme == "http" && !slices.Contains([]string{"localhost", "127.0.0.1", "::1"}, u.Hostname()):
		f.problem(address.place, "url %s is not encrypted (write https; http is for this machine)", server.URL)
	}
	server.Identity = server.URL
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
	if a, err = s.Agent(r); err != nil || !s.remotely() { // before anything is started
		return a, end, err
	}
	connected, err := s.connected(ctx, r, &ends)
	if err == nil {
		a, err = connected.Agent(r)
	}
	if err != nil {
		return pawl.Agent{}, end, errors.Join(err, end())
	}
	return a, end, nil
}

// remotely reports whether this spec or one of its agents has MCP servers.
func (s *Spec) remotely() bool {
	return len(s.servers) > 0 || slices.ContainsFunc(s.agents, func(d delegate) bool { return d.spec.remotely() }) ||
		slices.ContainsFunc(s.mates(), (*Spec).remotely)
}

// connected returns the spec, and those of its agents, connected to their
// servers.
func (s *Spec) connected(ctx context.Context, r *Registry, ends *[]func() error) (*Spec, error) {
	c := *s
	c.remote = map[string][]pawl.Tool{}
	for _, server := range s.servers {
		if r == nil || r.MCP == nil {
			d := &document{text: s.doc.text, src: s.doc.src}
			d.problem(server.at, "this program connects to no MCP servers (give the registry a connector)")
			return nil, d.problems
		}
		tools, end, err := r.MCP(ctx, server)
		if err != nil {
			return nil, err
		}
		*ends = append(*ends, end)
		if slices.ContainsFunc(tools, func(t pawl.Tool) bool { return server.Cage != nil && t.Info().Cage == "" }) {
			return nil, fmt.Errorf("spec: the registry's connector ignores the cage of the mcp server %s", server.Name)
		}
		if c.remote[server.Name], err = s.chosen(server, tools); err != nil {
			return nil, err
		}
	}
	c.agents = slices.Clone(s.agents)
	for i := range c.agents {
		var err error
		if c.agents[i].spec, err = c.agents[i].spec.connected(ctx, r, ends); err != nil {
			return nil, err
		}
	}
	c.team = maps.Clone(s.team)
	for path, mate := range c.team {
		var err error
		if c.team[path], err = mate.connected(ctx, r, ends); err != nil {
			return nil, err
		}
	}
	return &c, nil
}

// chosen returns the tools of a server that the spec offers.
func (s *Spec) chosen(server MCPServer, tools []pawl.Tool) (chosen []pawl.Tool, err error) {
	if server.only == nil {
		return tools, nil
	}
	d := &document{text: s.doc.text, src: s.doc.src}
	var names []string
	for _, t := range tools {
		names = append(names, t.Info().Name)
	}
	for _, want := range server.only {
		if i := slices.Index(names, want.text); i >= 0 {
			chosen = append(chosen, tools[i])
		} else {
			d.problem(want.place, "the MCP server %s has no tool %s%s", server.Name, want.text, expr.DidYouMean(want.text, names))
		}
	}
	return chosen, d.problems.sorted().asError()
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
func (s *Spec) remoteTools() (all []pawl.Tool) {
	for _, server := range s.servers {
		cage := ""
		if server.Cage != nil {
			cage = server.Cage.Describe()
		}
		if s.remote != nil {
			all = append(all, s.remote[server.Name]...)
			continue
		}
		for name := range s.spoken(server) {
			if toolName.MatchString(name) {
				all = append(all, absent{pawl.ToolInfo{
					Name: name, Cage: cage, Description: "It is known when the server is connected to.",
					Input: json.RawMessage(`{"type":"object","additionalProperties":true}`),
				}})
			}
		}
	}
	if s.remote == nil {
		slices.SortFunc(all, func(a, b pawl.Tool) int { return strings.Compare(a.Info().Name, b.Info().Name) })
	}
	return all
}

// standsForAll ends the name of the placeholder for a server of which the spec
// names no tools.
const standsForAll = "__any"
