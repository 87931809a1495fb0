package mcpserver

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"
	"syscall"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/engine"
	"github.com/pawl-run/pawl/explain"
	"github.com/pawl-run/pawl/internal/wire"
	"github.com/pawl-run/pawl/runs"
)

// Options configure a server. The zero value is valid.
type Options struct {
	// Version is the version that clients see; empty is "dev".
	Version string
	// Labels are added to the runs, and override the agent's own.
	Labels map[string]string
	// Rests is called with the result of a call's run when it has ended or is suspended,
	// before [Server.Close] returns. It must return quickly. May be nil.
	Rests func(pawl.Result)
	// Place is where people type the commands in messages to clients. The zero Place is
	// a shell with pawl's default database.
	Place explain.Place
}

// A Server serves one agent. It is safe for concurrent use and for any number of clients,
// which share it.
type Server struct {
	engine  *engine.Engine
	journal pawl.Journal
	agent   pawl.Agent
	labels  map[string]string
	calls   map[string]pawl.Agent // by tool
	rests   func(pawl.Result)
	place   explain.Place
	kit     *sdk.Server

	life context.Context // of the runs: the server's own
	end  context.CancelFunc

	mu      sync.Mutex
	waiting map[string]string // from a call to its waiting run
	closed  bool
	driving sync.WaitGroup
}

// New makes a server of an agent. e drives the agent's runs on the journal. Tools that the
// client of a run runs, and tools that only ask a person, are left out. The engine's
// approver, if it has one, decides about calls that need approval. New fails if the agent
// is invalid or has a tool with its own name.
func New(e *engine.Engine, journal pawl.Journal, agent pawl.Agent, o *Options) (*Server, error) {
	o = cmp.Or(o, &Options{})
	version := o.Version
	version = cmp.Or(version, "dev")
	m, err := pawl.NewMachine(agent)
	if err != nil {
		return nil, err
	}
	s := &Server{engine: e, journal: journal, agent: agent, labels: o.Labels, rests: o.Rests, place: o.Place, calls: map[string]pawl.Agent{}, waiting: map[string]string{}}
	s.life, s.end = context.WithCancel(context.Background())
	s.kit = sdk.NewServer(&sdk.Implementation{Name: "pawl/" + agent.Name, Version: version}, &sdk.ServerOptions{
		Instructions: agent.Description,
		Capabilities: &sdk.ServerCapabilities{Tools: &sdk.ToolCapabilities{}, Resources: &sdk.ResourceCapabilities{}, Prompts: &sdk.PromptCapabilities{}}, // they never change
	})
	_, taken, ok := m.Tool(agent.Name)
	if ok {
		return nil, fmt.Errorf("agent %s has a tool of its own name, so that clients could not tell the two apart; rename one", taken.Name)
	}
	for _, info := range m.Declaration().Tools {
		if t, _, _ := m.Tool(info.Name); info.Client || info.Name == askHuman || pureTool(info.Name) || inner(t) {
			continue
		}
		if s.calls[info.Name], err = runs.Calling(agent, info.Name); err != nil {
			return nil, err
		}
		s.kit.AddTool(listed(info), func(ctx context.Context, r *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
			return s.call(ctx, r, info.Name)
		})
	}
	about := agent.Description
	about = cmp.Or(about, "Have the agent "+agent.Name+" work on a task.")
	s.kit.AddTool(&sdk.Tool{Name: agent.Name, Description: about, InputSchema: json.RawMessage(
		`{"type":"object","properties":{"input":{"type":"string","minLength":1,"description":"the task"}},"required":["input"],"additionalProperties":false}`)},
		s.ask)
	s.addResources(about)
	return s, nil
}

// askHuman is the tool that asks a person; a client can ask its user itself.
const askHuman = "ask_human"

// inner reports whether a tool is only a part of its agent's loop, such as a step of a
// workflow, and cannot be called by itself.
func inner(t pawl.Tool) bool {
	i, ok := t.(interface{ Inner() bool })
	return ok && i.Inner()
}

// pureTool reports whether a tool is one of the machine's own.
func pureTool(name string) bool { return len(name) > 2 && name[:2] == "__" }

// listed is a tool in the form for clients.
func listed(info pawl.ToolInfo) *sdk.Tool {
	input := info.Input
	if len(input) == 0 {
		input = json.RawMessage(`{"type":"object","properties":{},"additionalProperties":false}`)
	}
	var members map[string]any
	if json.Unmarshal(input, &members) == nil && members["type"] == nil {
		members["type"] = "object" // arguments always are, and the protocol requires it
		input, _ = json.Marshal(members)
	}
	return &sdk.Tool{Name: info.Name, Description: info.Description, InputSchema: input, Annotations: &sdk.ToolAnnotations{
		ReadOnlyHint: info.Effect == pawl.Read, IdempotentHint: info.Effect == pawl.Idempotent,
	}}
}

// Serve serves one client that writes to in and reads from out, a message a line, until it
// disconnects or ctx ends. A line that cannot be read is answered with an error. At the end the
// remaining runs are suspended.
func (s *Server) Serve(ctx context.Context, in io.Reader, out io.Writer) error {
	unhook := context.AfterFunc(ctx, s.end)
	defer unhook()
	lines := newLines(in, out)
	err := s.kit.Run(ctx, &sdk.IOTransport{Reader: io.NopCloser(lines), Writer: lines})
	if ctx.Err() != nil || errors.Is(err, io.EOF) || errors.Is(err, io.ErrClosedPipe) || errors.Is(err, syscall.EPIPE) || errors.Is(err, sdk.ErrConnectionClosed) {
		return nil // the client or this server has closed the connection
	}
	return err
}

// Close suspends the runs whose calls have not ended.
func (s *Server) Close() {
	s.mu.Lock()
	s.closed = true
	s.mu.Unlock()
	s.end()
	s.driving.Wait()
}

// enter makes Close wait for a call until leave is called. It reports false if the server
// is closing.
func (s *Server) enter() (leave func(), ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return nil, false
	}
	s.driving.Add(1)
	return s.driving.Done, true
}

// mostRequest bounds a message of a client, in bytes.
const mostRequest = 1 << 20

// key identifies a repeated call.
func key(tool string, args json.RawMessage) string {
	same, err := wire.Canonical(args)
	if err != nil {
		same = args
	}
	return wire.Digest([]byte(tool), same)
}
