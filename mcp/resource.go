package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/internal/retry"
	"github.com/pawl-run/pawl/internal/wire"
)

// resourceTool is the name, after the server's, of the tool that reads resources. Only servers with
// resources get it, and only if they have no tool of this name.
const resourceTool = "read_resource"

// mostListed bounds the resources, and the prompts, that are listed.
const mostListed = 200

// reader is the tool that reads a server's resources.
type reader struct {
	server *Server
	info   pawl.ToolInfo
}

// reader returns the tool that reads the server's resources, or nil if it has none or the tool is not
// allowed.
func (s *Server) reader(l *link) pawl.Tool {
	if has := l.session.InitializeResult().Capabilities; has == nil || has.Resources == nil || s.opt.Allow != nil && !slices.Contains(s.opt.Allow, resourceTool) || l.pins[resourceTool] != "" {
		return nil
	}
	r := &reader{s, pawl.ToolInfo{
		Name:        named(s.name, resourceTool),
		Description: fmt.Sprintf("Read a resource of the MCP server %s, such as a file or a record, by its URI. Without a uri: list the resources.", s.name),
		Input:       json.RawMessage(`{"type":"object","properties":{"uri":{"type":"string","minLength":1,"description":"the URI, as the list or a result names it"}}}`),
		Effect:      pawl.Write, Reaches: []string{"uri"}, Timeout: s.opt.Timeout, MaxOutput: s.opt.MaxOutput, External: true, Cage: s.cage, Version: "mcp " + wire.Digest([]byte(s.opt.Identity), []byte(resourceTool))[:32],
	}}
	if r.info.Trust = pawl.Untrusted; s.opt.Trusted {
		r.info.Effect, r.info.Trust = pawl.Read, 0
	}
	return r
}

// Info returns the declaration.
func (r *reader) Info() pawl.ToolInfo { return r.info }

// Run reads a resource, or lists them.
func (r *reader) Run(ctx context.Context, inv pawl.Invocation) (pawl.Output, error) {
	in, raw, leave, err := r.server.enter(ctx, inv.Args)
	if err != nil {
		return pawl.Output{}, err
	}
	defer leave()
	var args struct{ URI string }
	if err := json.Unmarshal(raw, &args); err != nil {
		return pawl.Output{}, err
	}
	if args.URI != "" {
		result, err := r.server.contents(ctx, in, args.URI)
		if err != nil {
			return pawl.Output{}, err
		}
		var content []sdk.Content
		for _, c := range result.Contents {
			content = append(content, &sdk.EmbeddedResource{Resource: c})
		}
		return output(&sdk.CallToolResult{Content: content})
	}
	list, err := r.server.resources(ctx, in)
	if err != nil {
		return pawl.Output{}, err
	}
	out, err := wire.Marshal(list)
	return pawl.Output{JSON: out}, err
}

// A resource is something that a server offers to read. Its texts are the server's, without characters that a
// reader would not see.
type resource struct {
	URI         string `json:"uri"` // with {NAME} for the parts of a template to fill in
	Name        string `json:"name,omitempty"`
	Description string `json:"description,omitempty"`
	Type        string `json:"type,omitempty"`
}

// resources lists the server's resources and then its templates, at most 200 together.
func (s *Server) resources(ctx context.Context, in *session) ([]resource, error) {
	return ask(ctx, s, in, func(ctx context.Context, session *sdk.ClientSession) (all []resource, err error) {
		for r, err := range session.Resources(ctx, nil) {
			if err != nil || len(all) == mostListed {
				return all, err
			}
			all = append(all, resource{visible(r.URI), visible(r.Name), described(r.Description), visible(r.MIMEType)})
		}
		for r, err := range session.ResourceTemplates(ctx, nil) {
			if err != nil || len(all) == mostListed {
				return all, err
			}
			all = append(all, resource{visible(r.URITemplate), visible(r.Name), described(r.Description), visible(r.MIMEType)})
		}
		return all, nil
	})
}

// Read reads a resource. Each of its parts is a file.
func (s *Server) Read(ctx context.Context, uri string) (files []pawl.File, err error) {
	result, err := s.contents(ctx, s.own, uri)
	if err != nil {
		return nil, err
	}
	for _, c := range result.Contents {
		f := pawl.File{Name: path.Base(visible(c.URI)), Type: c.MIMEType, Data: c.Blob}
		if c.Text != "" {
			f.Type, f.Data = "text/plain", []byte(c.Text)
		}
		files = append(files, f)
	}
	return files, nil
}

func (s *Server) contents(ctx context.Context, in *session, uri string) (*sdk.ReadResourceResult, error) {
	return ask(ctx, s, in, func(ctx context.Context, session *sdk.ClientSession) (*sdk.ReadResourceResult, error) {
		return session.ReadResource(ctx, &sdk.ReadResourceParams{URI: uri})
	})
}

// A Prompt is a text that a server offers to its user.
type Prompt struct {
	Name        string
	Description string
	Arguments   []string // their names
}

// Prompts lists the server's prompts, at most 200. A server without prompts has none.
func (s *Server) Prompts(ctx context.Context) ([]Prompt, error) {
	return ask(ctx, s, s.own, func(ctx context.Context, session *sdk.ClientSession) (all []Prompt, err error) {
		if has := session.InitializeResult().Capabilities; has == nil || has.Prompts == nil {
			return nil, nil
		}
		for p, err := range session.Prompts(ctx, nil) {
			if err != nil || len(all) == mostListed {
				return all, err
			}
			one := Prompt{Name: visible(p.Name), Description: described(p.Description)}
			for _, a := range p.Arguments {
				one.Arguments = append(one.Arguments, visible(a.Name))
			}
			all = append(all, one)
		}
		return all, nil
	})
}

// Prompt returns the text of a prompt. Messages that are not the user's begin with who speaks.
func (s *Server) Prompt(ctx context.Context, name string, args map[string]string) (string, error) {
	result, err := ask(ctx, s, s.own, func(ctx context.Context, session *sdk.ClientSession) (*sdk.GetPromptResult, error) {
		return session.GetPrompt(ctx, &sdk.GetPromptParams{Name: name, Arguments: args})
	})
	if err != nil {
		return "", err
	}
	var texts []string
	for _, m := range result.Messages {
		out, err := output(&sdk.CallToolResult{Content: []sdk.Content{m.Content}})
		text := ""
		if err = errors.Join(err, json.Unmarshal(out.JSON, &text)); err != nil {
			return "", err
		}
		if m.Role != "user" {
			text = string(m.Role) + ": " + text
		}
		texts = append(texts, visible(text))
	}
	return strings.Join(texts, "\n\n"), nil
}

// ask makes one request, which its context bounds.
func ask[T any](ctx context.Context, s *Server, in *session, do func(context.Context, *sdk.ClientSession) (T, error)) (none T, err error) {
	l, _, err := s.link(ctx, in)
	if err != nil {
		return none, &retry.NotRunError{Err: err}
	}
	type answer struct {
		value T
		err   error
	}
	done := make(chan answer, 1)
	go func() {
		value, err := do(ctx, l.session)
		done <- answer{value, err}
	}()
	a := answer{err: sdk.ErrConnectionClosed}
	select {
	case a = <-done:
	case <-l.gone:
	case <-ctx.Done():
		select {
		case <-done:
		case <-time.After(leaving):
			l.drop() // it does not even accept the cancellation
		}
		return none, context.Cause(ctx)
	}
	if said, ok := errors.AsType[*jsonrpc.Error](a.err); ok && !local(said.Code) {
		return none, fmt.Errorf("the server refused: %s", visible(said.Message))
	}
	if a.err != nil {
		return none, &retry.UnknownError{Err: s.wrong(and(l.line.why(), a.err))}
	}
	return a.value, nil
}
