package jsonschema

import (
	"bytes"
	"encoding/json"
	"strings"

	"github.com/pawl-run/pawl/internal/wire"
)

// Anything reports whether the schema accepts every document.
func (s *Schema) Anything() bool {
	object, _ := s.doc.(map[string]any)
	anything, _ := s.doc.(bool)
	return anything || object != nil && len(object) == 0
}

// Settle does what [Schema.Settle] does for a schema that is not compiled. The reasons are for a
// model to read. Nothing follows a schema that is none, and that is no fault of the answer.
func Settle(schema json.RawMessage, text string, given json.RawMessage) (value json.RawMessage, reasons []string) {
	s, err := Compile(schema, nil)
	if err != nil {
		return nil, nil
	}
	value, problems := s.Settle(text, given)
	return value, Tell(problems, string(schema))
}

// Settle returns the value that an answer stands for, or what is wrong with it. The value is the
// first of these that follows the schema: what was given as JSON, if anything was; the document in
// the text of it; the text itself, so that a model which is asked for one of a few words need not
// quote it. A schema that accepts anything wants a document.
func (s *Schema) Settle(text string, given json.RawMessage) (json.RawMessage, []Problem) {
	if given == nil && !s.Anything() {
		given = wire.Quote(strings.TrimSpace(text))
	} else if given != nil {
		problems := s.Validate(given)
		if problems == nil || given[0] != '"' {
			return given, problems
		}
		text = wire.Plain(given)
	}
	document := wire.Document(text)
	problems := s.Validate(document)
	if problems == nil || given == nil {
		return document, problems
	}
	others := s.Validate(given)
	if others == nil || !json.Valid(document) && !bytes.ContainsAny(document[:min(1, len(document))], `{["`) {
		return given, others // a word, and no broken document
	}
	return document, problems
}
