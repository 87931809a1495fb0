package server

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"net/http"
	"strings"

	"github.com/pawl-run/pawl/a2a"
	"github.com/pawl-run/pawl/internal/web"
	"github.com/pawl-run/pawl/server/client"
)

// a2aBearer is how a card says that requests need a bearer token.
var (
	a2aScheme      = map[string]json.RawMessage{"bearer": json.RawMessage(`{"httpAuthSecurityScheme":{"scheme":"Bearer","description":"A token of the server."}}`)}
	a2aRequirement = []json.RawMessage{json.RawMessage(`{"schemes":{"bearer":{"list":["read","run","decide"]}}}`)}
)

// a2aCard answers a request for a public card, which needs no token.
func (s *Server) a2aCard(w http.ResponseWriter, r *http.Request) {
	about, err := s.a2aAbout(r.Context(), cmp.Or(r.PathValue("agent"), s.options.A2A))
	if err != nil {
		s.refuse(w, r, refusal(http.StatusNotFound, "there is no such card"))
		return
	}
	s.a2aPublic(w, r, s.a2aCardOf(r, about, r.PathValue("agent"), nil))
}

// a2aPublic writes a document that everybody may see and keep for a while.
func (s *Server) a2aPublic(w http.ResponseWriter, r *http.Request, v any) {
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		w.Header().Set("Allow", "GET, HEAD")
		s.refuse(w, r, refusal(http.StatusMethodNotAllowed, r.URL.Path+" takes GET"))
		return
	}
	data, err := json.Marshal(v)
	if err != nil {
		s.refuse(w, r, err)
		return
	}
	sum := sha256.Sum256(data)
	h := w.Header()
	h.Set("Cache-Control", "public, max-age=300")
	h.Set("ETag", `"`+hex.EncodeToString(sum[:16])+`"`)
	h.Set("Last-Modified", s.since.UTC().Format(http.TimeFormat))
	h.Set("Vary", "Host")
	if strings.Contains(r.Header.Get("If-None-Match"), h.Get("ETag")) {
		w.WriteHeader(http.StatusNotModified)
		return
	}
	s.write(w, http.StatusOK, "application/json", v)
}

// a2aExtended is GetExtendedAgentCard: the card with the agent's tools as skills.
func (s *Server) a2aExtended(x *exchange, agent string, _ *a2aNothing) (any, error) {
	about, err := s.a2aAbout(x.Context(), agent)
	if err != nil {
		return nil, err
	}
	w, err := s.host.Start(x.Context(), agent, nil)
	if err != nil {
		return nil, err
	}
	defer w.Drop()
	var tools []a2a.Skill
	for _, t := range w.Agent.Tools {
		info := t.Info()
		tools = append(tools, a2a.Skill{ID: agent + "/" + info.Name, Name: info.Name, Description: cmp.Or(info.Description, info.Name), Tags: []string{"tool"}})
	}
	x.ResponseWriter.Header().Set("Cache-Control", "private, max-age=300")
	return s.a2aCardOf(x.Request, about, agent, tools), nil
}

// a2aInputs are what a message may have. Which files an agent's model takes, the run says.
var a2aInputs = []string{"text/plain", "application/json", "image/png", "image/jpeg", "image/webp", "image/gif", "application/pdf", "audio/wav", "audio/mpeg"}

// a2aCardOf makes the card of an agent. Its interfaces name the agent as tenant, unless it is
// the one that a request without a tenant means.
func (s *Server) a2aCardOf(r *http.Request, about client.Agent, tenant string, more []a2a.Skill) *a2a.Card {
	base := s.base(r)
	description := cmp.Or(about.Description, "The agent "+about.Name+".")
	return &a2a.Card{
		Name: about.Name, Description: description, Version: cmp.Or(about.Version, "1"),
		SupportedInterfaces: []a2a.Interface{
			{URL: base + a2aPath, ProtocolBinding: a2a.JSONRPC, Tenant: tenant, ProtocolVersion: a2a.Version},
		},
		Capabilities:    a2a.Capabilities{Streaming: true, ExtendedAgentCard: true},
		SecuritySchemes: a2aScheme, SecurityRequirements: a2aRequirement,
		DefaultInputModes: a2aInputs, DefaultOutputModes: []string{"text/plain", "application/json"},
		Skills: append([]a2a.Skill{{ID: about.Name, Name: about.Name, Description: description, Tags: []string{"agent"}}}, more...),
	}
}

// base is the URL of the server, without a path: the public one or, if there is none, that of a
// request.
func (s *Server) base(r *http.Request) string {
	if s.options.Public != "" {
		return strings.TrimSuffix(s.options.Public, "/")
	}
	if s.options.Secure && !web.Loopback(r.Host) || r.TLS != nil {
		return "https://" + r.Host
	}
	return "http://" + r.Host
}
