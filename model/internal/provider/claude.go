package provider

import (
	"encoding/json"
	"errors"
	"strings"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/internal/sheet"
	"github.com/pawl-run/pawl/internal/wire"
)

// Thinking is how a request asks a model of Anthropic to think.
type Thinking struct {
	Config map[string]any // the field thinking; nil: it is left out
	Effort string         // of output_config; empty: it is left out
	On     bool           // the model thinks
	Notes  []string
}

// ClaudeThinks returns how to ask a model of Anthropic to think, with room for a reply of at
// most limit tokens. bare says that the current turn has a call without the thinking before it:
// a model with a budget refuses such a turn while it thinks, other models take it.
func (s *Server) ClaudeThinks(effort string, limit int, bare bool) (t Thinking) {
	traits := s.Traits
	if !s.Known { // another maker's model, or one that a gateway renamed: the oldest way is known the widest
		traits = sheet.Traits{Thinking: sheet.ByBudget, Efforts: sheet.Levels}
	}
	near, notes := s.Effort(effort)
	t.Notes = notes
	switch thinks := traits.Thinks(near); {
	case !thinks && near == "none" && traits.Effort != "" && traits.Off != "":
		t.Config = map[string]any{"type": traits.Off}
	case !thinks, traits.Thinking == sheet.ByBudget && (bare || near == ""):
	case traits.Thinking == sheet.ByBudget:
		if budget := thinkingBudget(near, limit); budget > 0 {
			t.Config, t.On = map[string]any{"type": "enabled", "budget_tokens": budget}, true
		}
	default:
		t.Config, t.Effort, t.On = map[string]any{"type": "adaptive", "display": "summarized"}, near, true
	}
	return t
}

// thinkingBudget returns the tokens for thinking with an effort, within a reply's limit; 0: there
// are too few. The API takes no fewer than 1024.
func thinkingBudget(effort string, limit int) int {
	const fewest = 1024
	budget := min(limit/4*3, 32768)
	switch effort {
	case "minimal", "low":
		budget = min(limit/4, 4096)
	case "medium":
		budget = min(limit/2, 16384)
	}
	if limit < 2*fewest {
		return 0
	}
	return max(budget, fewest)
}

// TypeOf returns the type of an object that options may have set; empty: it is none, or has none.
func TypeOf(v any) string {
	var o struct{ Type string }
	if raw, err := wire.Marshal(v); err == nil {
		_ = json.Unmarshal(raw, &o) // what is no object has no type
	}
	return o.Type
}

// A Refusable is a field of a request that can go if the server refuses it.
type Refusable struct {
	Path  string   // of its keys, joined with dots
	Words []string // by which errors name it
}

// LearnFromClaude draws a lesson from the refusal of a request to a model of Anthropic: what the
// error names is left out, or sent as the error recommends. The fields of Anthropic's own
// API stand at the path within, which ends with a dot unless it is empty; more are further ones.
func (l *Lessons) LearnFromClaude(refused error, req map[string]any, within string, more ...Refusable) bool {
	e, ok := errors.AsType[*pawl.ModelError](refused)
	if !ok {
		return false
	}
	learn := func(field string, instead any) bool {
		return at(req, field) != nil && l.Learn(Lesson{Field: field, Instead: instead, Why: e.Message})
	}
	kind, _ := at(req, within+"thinking.type").(string)
	if kind != "" && Unwanted(e, "thinking.type."+kind) { // what else the error names is advice
		var instead any
		switch {
		case kind == "disabled" && strings.Contains(e.Message, "thinking.type.between_tools"):
			instead = map[string]any{"type": "between_tools"}
		case kind == "enabled" && strings.Contains(e.Message, "thinking.type.adaptive"):
			instead = map[string]any{"type": "adaptive", "display": "summarized"}
		}
		return learn(within+"thinking", instead)
	}
	for _, f := range append(more,
		Refusable{within + "thinking.display", []string{"display"}},
		Refusable{within + "top_k", []string{"top_k"}},
		Refusable{within + "output_config.effort", []string{"effort"}},
		Refusable{within + "output_config", []string{"output_config"}},
		Refusable{within + "thinking", []string{"thinking"}},
	) {
		if Unwanted(e, f.Words...) && learn(f.Path, nil) {
			return true
		}
	}
	return false
}

// at returns the value at a path of keys; nil: there is none.
func at(req map[string]any, path string) any {
	key, rest, deeper := strings.Cut(path, ".")
	if deeper {
		if inner := object(req, key); inner != nil {
			return at(inner, rest)
		}
		return nil
	}
	if raw, ok := req[key].(json.RawMessage); ok {
		var v any
		_ = json.Unmarshal(raw, &v) // which is valid, or nothing is there
		return v
	}
	return req[key]
}
