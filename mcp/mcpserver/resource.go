package mcpserver

import (
	"context"
	"strings"
	"unicode"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/internal/wire"
	"github.com/pawl-run/pawl/runs"
)

// runsURI is the resource that lists the agent's runs. A run is below it, by its id.
const runsURI = "pawl://runs"

// mostRuns bounds the list.
const mostRuns = 50

// addResources serves the agent's runs as resources, and a prompt that gives the agent a task.
func (s *Server) addResources(about string) {
	s.kit.AddResource(&sdk.Resource{URI: runsURI, Name: "runs", MIMEType: "application/json",
		Description: "The latest runs of the agent " + s.agent.Name + ", as JSON."}, s.listRuns)
	s.kit.AddResourceTemplate(&sdk.ResourceTemplate{URITemplate: runsURI + "/{run}", Name: "run", MIMEType: "text/markdown",
		Description: "What a run did, why it stopped and what to do next, in Markdown."}, s.readRun)
	s.kit.AddPrompt(&sdk.Prompt{Name: s.agent.Name, Description: about,
		Arguments: []*sdk.PromptArgument{{Name: "input", Description: "the task", Required: true}}}, s.prompt)
}

// A listedRun is a run in the list.
type listedRun struct {
	URI    string      `json:"uri"`
	Status pawl.Status `json:"status"`
	Began  string      `json:"began"`
}

func (s *Server) listRuns(ctx context.Context, r *sdk.ReadResourceRequest) (*sdk.ReadResourceResult, error) {
	list := []listedRun{}
	for h, err := range runs.List(ctx, s.journal, runs.Filter{Query: pawl.Query{Agent: s.agent.Name, Max: mostRuns}}) {
		if err != nil {
			return nil, err
		}
		list = append(list, listedRun{runsURI + "/" + h.Run, h.Status, h.Created.UTC().Format("2006-01-02T15:04:05Z")})
	}
	text, err := wire.Marshal(list)
	return contents(r.Params.URI, "application/json", string(text)), err
}

// readRun explains a run of the agent. Runs of other agents are none of the client's business.
func (s *Server) readRun(ctx context.Context, r *sdk.ReadResourceRequest) (*sdk.ReadResourceResult, error) {
	id := strings.TrimPrefix(r.Params.URI, runsURI+"/")
	h, err := runs.Head(ctx, s.journal, id)
	if err != nil || h.Agent != s.agent.Name || strings.ContainsFunc(id, unicode.IsSpace) {
		return nil, sdk.ResourceNotFoundError(r.Params.URI)
	}
	report, err := runs.Report(ctx, s.journal, h, s.place)
	if err != nil {
		return nil, err
	}
	return contents(r.Params.URI, "text/markdown", report.Markdown()), nil
}

func contents(uri, kind, text string) *sdk.ReadResourceResult {
	return &sdk.ReadResourceResult{Contents: []*sdk.ResourceContents{{URI: uri, MIMEType: kind, Text: text}}}
}

// prompt asks the client's model to give the agent a task.
func (s *Server) prompt(_ context.Context, r *sdk.GetPromptRequest) (*sdk.GetPromptResult, error) {
	text := "Call the tool " + s.agent.Name + " with this input, and report what it answers:\n\n" + r.Params.Arguments["input"]
	return &sdk.GetPromptResult{Messages: []*sdk.PromptMessage{{Role: "user", Content: &sdk.TextContent{Text: text}}}}, nil
}
