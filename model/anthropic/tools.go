package anthropic

import (
	"encoding/json"
	"strings"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/model/internal/provider"
)

// A tool is declared with a schema, or, if the provider runs it, with a type.
type tool struct {
	Schema      json.RawMessage `json:"input_schema,omitempty"`
	Name        string          `json:"name"`
	Description string          `json:"description,omitempty"`
	Type        string          `json:"type,omitempty"`
	Uses        int             `json:"max_uses,omitempty"`
	Callers     []string        `json:"allowed_callers,omitempty"`
}

// The newest types of hosted tools, and those that every model and platform has.
const (
	newestSearch = "web_search_20260318"
	newestCode   = "code_execution_20260521"
	oldSearch    = "web_search_20250305"
	oldCode      = "code_execution_20250825"
)

func (c *call) tools(infos []pawl.ToolInfo) []tool {
	list := make([]tool, len(infos))
	for i, info := range infos {
		list[i] = tool{Schema: provider.Input(info.Input), Name: info.Name, Description: info.Description}
		if info.Hosted != (pawl.Usage{}) {
			list[i] = c.hosted(info)
		}
	}
	return list
}

// hosted returns the newest type of a hosted tool that the model takes. Since 2026, a search may
// run code on the provider's machines to filter what it finds, unless only the model may call it:
// nobody has offered the model to run code.
func (c *call) hosted(info pawl.ToolInfo) tool {
	t := tool{Name: info.Name, Type: c.server.Traits.Hosted[info.Name]}
	if c.refused(t.Type) || t.Type == "" {
		t.Type = map[string]string{provider.WebSearch: oldSearch, provider.CodeExecution: oldCode}[info.Name]
	}
	if info.Name != provider.WebSearch {
		return t
	}
	t.Uses = info.MaxCalls
	if !c.refused("allowed_callers") && t.Type != oldSearch {
		t.Callers = []string{"direct"}
	}
	return t
}

// calledTools declares the tools called in the messages, in the order of their
// first call.
func calledTools(msgs []pawl.Message) []pawl.ToolInfo {
	var infos []pawl.ToolInfo
	seen := map[string]bool{}
	add := func(info pawl.ToolInfo) {
		if !seen[info.Name] {
			seen[info.Name] = true
			infos = append(infos, info)
		}
	}
	for _, msg := range msgs {
		for _, part := range msg.Parts {
			switch part := part.(type) {
			case pawl.Call:
				add(pawl.ToolInfo{Name: provider.Name(part.Tool)})
			case pawl.Thinking:
				if had := read(part.Opaque); had.Type == "server_tool_use" {
					add(pawl.ToolInfo{Name: hostedName(had.Name), MaxCalls: 1, Hosted: pawl.Usage{Sessions: 1}})
				}
			}
		}
	}
	return infos
}

// hostedName is the name of a hosted tool, as the run knows it.
func hostedName(name string) string {
	if strings.HasSuffix(name, provider.CodeExecution) {
		return provider.CodeExecution
	}
	return name
}
