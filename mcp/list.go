package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/pawl-run/pawl/internal/jsonschema"
	"github.com/pawl-run/pawl/internal/wire"
)

// The bounds of a list of tools. The largest known list has a few hundred tools; a larger
// one is malicious.
const (
	mostPages      = 100
	mostTools      = 1000
	mostDefinition = 128 << 10 // bytes of one definition
)

// A definition is a tool as its server describes it.
type definition struct {
	name        string // the server's name for it
	description string
	input       json.RawMessage
	readOnly    bool
	idempotent  bool
	pin         string // the digest of the whole definition
	loose       string // what is not checked of its arguments; empty: all is
	wrong       error  // why it cannot be offered
}

// list lists all tools. The list ends when its cursor does not move on. Exceeding a bound is an
// error of the server: half a list was never approved.
func list(ctx context.Context, session *sdk.ClientSession, identity string) (all []definition, err error) {
	pins, cursors := map[string]string{}, map[string]bool{}
	cursor := ""
	for range mostPages {
		page, err := session.ListTools(ctx, &sdk.ListToolsParams{Cursor: cursor})
		if err != nil {
			return nil, err
		}
		for _, t := range page.Tools {
			if t == nil {
				continue
			}
			d := define(t, identity)
			switch pin, twice := pins[t.Name]; {
			case twice && pin != d.pin:
				return nil, fmt.Errorf("it lists tool %.60q twice, with different definitions", t.Name)
			case twice:
				continue
			case len(all) == mostTools:
				return nil, fmt.Errorf("it lists more than %d tools", mostTools)
			}
			pins[t.Name] = d.pin
			all = append(all, d)
		}
		if cursor = page.NextCursor; cursor == "" || cursors[cursor] {
			return all, nil
		}
		cursors[cursor] = true
	}
	return nil, fmt.Errorf("its list of tools has more than %d pages", mostPages)
}

func define(t *sdk.Tool, identity string) definition {
	d := definition{name: t.Name, description: described(t.Description)}
	if d.description == "" {
		d.description = described(t.Title)
	}
	if t.Annotations != nil {
		d.readOnly, d.idempotent = t.Annotations.ReadOnlyHint, t.Annotations.IdempotentHint
	}
	raw, err := json.Marshal(t)
	if err == nil {
		raw, err = wire.Canonical(raw)
	}
	switch {
	case err != nil:
		d.wrong = fmt.Errorf("its definition: %w", err)
	case len(raw) > mostDefinition:
		d.wrong = fmt.Errorf("its definition has %d bytes, which is more than %d", len(raw), mostDefinition)
	case t.Name == "" || !utf8.ValidString(t.Name):
		d.wrong = errors.New("its name is empty or no text")
	}
	const digits = 32 // 128 bits, so that nobody finds a second text for them
	d.pin = wire.Digest([]byte(identity), raw)[:digits]
	if d.wrong == nil {
		d.input, d.loose, d.wrong = schema(t.InputSchema)
	}
	return d
}

// schema is the schema of a tool's arguments, its texts cleaned like descriptions. What cannot be
// checked is taken out of it and named; the server checks its arguments itself.
func schema(from any) (input json.RawMessage, loose string, err error) {
	if from == nil {
		return json.RawMessage(`{"type":"object"}`), "", nil
	}
	object, ok := from.(map[string]any)
	if !ok {
		text, _ := json.Marshal(from) // which came as JSON
		return nil, "", fmt.Errorf("its input schema is %.40s, not an object (correct it at the server)", text)
	}
	kinds, several := object["type"].([]any)
	if t, one := object["type"].(string); one && t != "object" || several && !slices.Contains(kinds, any("object")) {
		return nil, "", fmt.Errorf("its input schema is for %v; the arguments of a tool are an object", object["type"])
	}
	if err := tidy(object); err != nil {
		return nil, "", err
	}
	if input, err = json.Marshal(object); err != nil {
		return nil, "", err
	}
	closed := &jsonschema.Options{Closed: true}
	_, why := jsonschema.Compile(input, closed)
	if why == nil {
		return input, "", nil
	}
	removed := jsonschema.Loosen(object)
	if input, err = json.Marshal(object); err != nil {
		return nil, "", err
	}
	if _, err = jsonschema.Compile(input, closed); err != nil || len(removed) == 0 {
		return json.RawMessage(`{"type":"object","additionalProperties":true}`), fmt.Sprintf("of its arguments (%v)", why), nil
	}
	return input, fmt.Sprintf("of %s (%v)", strings.Join(removed, ", "), why), nil
}

// tidy cleans the words for readers within a schema and leaves alone what
// values are compared with.
func tidy(v any) error {
	switch v := v.(type) {
	case []any:
		for _, item := range v {
			if err := tidy(item); err != nil {
				return err
			}
		}
	case map[string]any:
		for key, value := range v {
			if strings.ContainsFunc(key, hidden) {
				return fmt.Errorf("its input schema has the key %+.60q, of which a reader would not see all", key)
			}
			text, isText := value.(string)
			switch key {
			case "description", "title", "$comment":
				if isText {
					v[key] = described(text)
					continue
				}
			case "const", "enum", "default", "examples":
				continue
			}
			if err := tidy(value); err != nil {
				return err
			}
		}
	}
	return nil
}
