package google

import (
	"errors"
	"strings"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/model/internal/provider"
)

// An asking is a request and what its server taught about it.
type asking struct {
	*Model
	r       pawl.Request
	lessons *provider.Lessons
}

// schemaField is the path of the schema of the answer.
const schemaField = "generationConfig.responseJsonSchema"

// taught are the fields that a server may not know, such as one behind a gateway or one of an
// older model, by the words with which it names them.
var taught = []struct {
	field string
	words []string
}{
	{"generationConfig.thinkingConfig.thinkingLevel", []string{"thinkingLevel", "thinking_level"}},
	{"generationConfig.thinkingConfig.thinkingBudget", []string{"thinkingBudget", "thinking_budget", "thinking budget"}},
	{"generationConfig.thinkingConfig.thinkingLevel", []string{"thinking level"}}, // which the one above names in its stead
	{"generationConfig.thinkingConfig", []string{"thinkingConfig", "thinking_config", "includeThoughts", "include_thoughts"}},
	{"generationConfig.temperature", []string{"temperature"}},
	{schemaField, []string{"responseJsonSchema", "response_json_schema"}},
	{"toolConfig.includeServerSideToolInvocations", []string{"includeServerSideToolInvocations"}},
}

// attempt returns the next attempt: the first one, or one without what the server refused.
func (a *asking) attempt(path string, refused error) (*provider.Attempt, error) {
	if refused != nil && !a.learn(refused) {
		return nil, refused
	}
	body, notes, err := a.body(a.r, "", a.lessons)
	return &provider.Attempt{
		Path: path, Body: body, Lessons: a.lessons, Notes: notes,
		Reader: &turn{once: a.server.Traits.SearchOnce, again: a.again},
	}, err
}

// again returns the request for the rest of a reply.
func (a *asking) again(token string, limit int) ([]byte, error) {
	r := a.r
	r.MaxTokens = limit
	body, _, err := a.body(r, token, a.lessons)
	return body, err
}

// learn reports whether the refusal names a field that can be left out.
func (a *asking) learn(refused error) bool {
	e, ok := errors.AsType[*pawl.ModelError](refused)
	for _, t := range taught {
		if ok && provider.Unwanted(refused, t.words...) {
			return a.lessons.Learn(provider.Lesson{Field: t.field, Why: strings.TrimSpace(e.Message)})
		}
	}
	return false
}
