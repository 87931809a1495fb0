package provider

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/internal/wire"
)

// The hosted tools, by the names that they have in a run.
const (
	WebSearch     = "web_search"
	CodeExecution = "code_execution"
)

// Hosts returns an error unless the hosted ones among the tools are such as all the
// wires here have.
func Hosts(model string, tools []pawl.ToolInfo) error {
	_, hosted := Split(tools)
	for _, t := range hosted {
		if t.Name != WebSearch && t.Name != CodeExecution {
			return fmt.Errorf("%s runs no %s itself; it runs %s and %s", model, t.Name, WebSearch, CodeExecution)
		}
	}
	return nil
}

// Split returns the tools that the run has, and those that the provider has.
func Split(tools []pawl.ToolInfo) (own, hosted []pawl.ToolInfo) {
	if !slices.ContainsFunc(tools, hosts) {
		return tools, nil
	}
	for _, t := range tools {
		if hosts(t) {
			hosted = append(hosted, t)
		} else {
			own = append(own, t)
		}
	}
	return own, hosted
}

func hosts(t pawl.ToolInfo) bool { return t.Hosted != (pawl.Usage{}) }

// Readable returns a result without what only the provider can read, and the kinds of
// its objects: for the log and for people.
func Readable(raw json.RawMessage) json.RawMessage {
	var v any
	if wire.Unmarshal(raw, &v) != nil {
		return nil
	}
	return Marshal(legible(v))
}

func legible(v any) any {
	switch v := v.(type) {
	case []any:
		for i := range v {
			v[i] = legible(v[i])
		}
	case map[string]any:
		for key, item := range v {
			if empty, is := item.([]any); item == nil || key == "type" || strings.HasPrefix(key, "encrypted_") || is && len(empty) == 0 {
				delete(v, key)
			} else {
				v[key] = legible(item)
			}
		}
	}
	return v
}
