// Package acp serves an agent to editors over the Agent Client Protocol
// (https://agentclientprotocol.com), version 1: a session is a thread, a prompt is a run, and a
// request for permission is an approval.
package acp

import (
	"context"
	"crypto/rand"
	"io"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	protocol "github.com/coder/acp-go-sdk"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/engine"
)

// Options are what a server needs.
type Options struct {
	Version string
	Journal pawl.Journal
	// Open makes the agent for a session in a directory, and the engine that drives it with an
	// approver, and says in which directory the agent's tools work. It is called for the first
	// session; later ones share the agent.
	Open func(ctx context.Context, dir string, by engine.Approver) (_ pawl.Agent, _ *engine.Engine, tools string, err error)
	Log  *slog.Logger
}

// Serve serves an editor until it closes the connection or ctx ends. Runs in progress are then
// suspended.
func Serve(ctx context.Context, in io.Reader, out io.Writer, o Options) error {
	life, cancel := context.WithCancel(ctx)
	s := &server{o: o, life: life, sessions: map[protocol.SessionId]*session{}}
	s.changed.L = &s.mu
	ready := make(chan struct{})
	s.conn = protocol.NewAgentSideConnection(s, out, &gate{in, ready})
	s.conn.SetLogger(o.Log)
	close(ready)
	select {
	case <-s.conn.Done():
	case <-ctx.Done():
	}
	cancel()
	s.prompts.Wait()
	if s.engine != nil {
		return s.engine.Close()
	}
	return nil
}

// gate holds back what is read until the connection, which begins to read when it is made, is set.
type gate struct {
	io.Reader
	ready <-chan struct{}
}

func (g *gate) Read(p []byte) (int, error) {
	<-g.ready
	return g.Reader.Read(p)
}

// server is the agent's side of the connection. The SDK calls its methods, each in a goroutine.
type server struct {
	o       Options
	conn    *protocol.AgentSideConnection
	life    context.Context //nolint:containedctx // that of the connection
	prompts sync.WaitGroup

	mu       sync.Mutex
	dir      string
	tools    string // the directory of the agent's tools
	agent    pawl.Agent
	engine   *engine.Engine
	sessions map[protocol.SessionId]*session
	changed  sync.Cond // a session shows one more call
}

// session is a thread of an editor.
type session struct {
	id     protocol.SessionId
	prompt sync.Mutex  // held by the prompt in progress
	run    string      // the run of that prompt; empty: none
	ended  atomic.Bool // the editor has cancelled that prompt
	// shown are the calls that the editor has seen; true: with the change of a file.
	shown map[protocol.ToolCallId]bool
	open  map[protocol.ToolCallId]bool // those of them that are not over
}

// Initialize says what the server can do.
func (s *server) Initialize(context.Context, protocol.InitializeRequest) (protocol.InitializeResponse, error) {
	return protocol.InitializeResponse{
		ProtocolVersion: protocol.ProtocolVersionNumber,
		AgentInfo:       &protocol.Implementation{Name: "pawl", Version: s.o.Version},
		AuthMethods:     []protocol.AuthMethod{},
		AgentCapabilities: protocol.AgentCapabilities{
			LoadSession:        true,
			PromptCapabilities: protocol.PromptCapabilities{Image: true, Audio: true, EmbeddedContext: true},
		},
	}, nil
}

// NewSession begins a thread.
func (s *server) NewSession(ctx context.Context, r protocol.NewSessionRequest) (protocol.NewSessionResponse, error) {
	if err := s.open(ctx, r.Cwd, r.McpServers); err != nil {
		return protocol.NewSessionResponse{}, err
	}
	id := protocol.SessionId("acp-" + strings.ToLower(rand.Text()[:12]))
	s.add(id)
	return protocol.NewSessionResponse{SessionId: id}, nil
}

// LoadSession opens a thread again, and shows what was said in it.
func (s *server) LoadSession(ctx context.Context, r protocol.LoadSessionRequest) (protocol.LoadSessionResponse, error) {
	if err := s.open(ctx, r.Cwd, r.McpServers); err != nil {
		return protocol.LoadSessionResponse{}, err
	}
	var heads []pawl.Head
	for h, err := range s.o.Journal.List(ctx, pawl.Query{Thread: string(r.SessionId)}) {
		if err != nil {
			return protocol.LoadSessionResponse{}, err
		}
		heads = append(heads, h)
	}
	if len(heads) == 0 {
		return protocol.LoadSessionResponse{}, protocol.NewInvalidParams("there is no session " + string(r.SessionId))
	}
	if old, err := s.session(r.SessionId); err == nil {
		if !old.prompt.TryLock() {
			return protocol.LoadSessionResponse{}, inProgress()
		}
		defer old.prompt.Unlock()
	}
	at := s.add(r.SessionId)
	for _, h := range slices.Backward(heads) {
		u := &updates{server: s, ctx: ctx, session: at, past: true}
		for e, err := range engine.Entries(ctx, s.o.Journal, h.Run, 1) {
			if err == nil {
				err = u.add(e)
			}
			if err != nil {
				return protocol.LoadSessionResponse{}, err
			}
		}
	}
	return protocol.LoadSessionResponse{}, nil
}

// open makes the agent for the first session. It serves one directory.
func (s *server) open(ctx context.Context, dir string, servers []protocol.McpServer) (err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(servers) > 0 {
		s.o.Log.Warn("the editor's MCP servers are not used: the spec names those of the agent", "servers", len(servers))
	}
	if s.engine == nil {
		s.dir = dir
		s.agent, s.engine, s.tools, err = s.o.Open(context.WithoutCancel(ctx), dir, engine.ApproverFunc(s.approve))
		return err
	}
	if dir != s.dir {
		return protocol.NewInvalidParams("this process serves " + s.dir + "; start another one for " + dir)
	}
	return nil
}

func (s *server) add(id protocol.SessionId) *session {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.sessions[id] = &session{id: id, shown: map[protocol.ToolCallId]bool{}, open: map[protocol.ToolCallId]bool{}}
	return s.sessions[id]
}

func (s *server) session(id protocol.SessionId) (*session, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if found := s.sessions[id]; found != nil {
		return found, nil
	}
	return nil, protocol.NewInvalidParams("there is no session " + string(id))
}

// Cancel cancels the prompt in progress, and its run if there is one already.
func (s *server) Cancel(ctx context.Context, r protocol.CancelNotification) error {
	at, err := s.session(r.SessionId)
	if err != nil {
		return err
	}
	at.ended.Store(true)
	s.mu.Lock()
	run := at.run
	s.mu.Unlock()
	if run == "" {
		return nil
	}
	return s.engine.Cancel(ctx, run, editor, "cancelled in the editor")
}

// editor is who decides and answers.
const editor = "the user of the editor"

// Authenticate is not needed: the editor runs the server as its user.
func (s *server) Authenticate(context.Context, protocol.AuthenticateRequest) (protocol.AuthenticateResponse, error) {
	return protocol.AuthenticateResponse{}, nil
}

// The rest is not offered.
func (s *server) CloseSession(context.Context, protocol.CloseSessionRequest) (protocol.CloseSessionResponse, error) {
	return protocol.CloseSessionResponse{}, protocol.NewMethodNotFound(protocol.AgentMethodSessionClose)
}

func (s *server) ListSessions(context.Context, protocol.ListSessionsRequest) (protocol.ListSessionsResponse, error) {
	return protocol.ListSessionsResponse{}, protocol.NewMethodNotFound(protocol.AgentMethodSessionList)
}

func (s *server) ResumeSession(context.Context, protocol.ResumeSessionRequest) (protocol.ResumeSessionResponse, error) {
	return protocol.ResumeSessionResponse{}, protocol.NewMethodNotFound(protocol.AgentMethodSessionResume)
}

func (s *server) SetSessionConfigOption(context.Context, protocol.SetSessionConfigOptionRequest) (protocol.SetSessionConfigOptionResponse, error) {
	return protocol.SetSessionConfigOptionResponse{}, protocol.NewMethodNotFound(protocol.AgentMethodSessionSetConfigOption)
}

func (s *server) SetSessionMode(context.Context, protocol.SetSessionModeRequest) (protocol.SetSessionModeResponse, error) {
	return protocol.SetSessionModeResponse{}, protocol.NewMethodNotFound(protocol.AgentMethodSessionSetMode)
}
