package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

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
	wrong       error  // why it cannot be used
}

// list lists all tools. Exceeding a bound is an error of the server: half a list was
// never approved.
func list(ctx context.Context, session *sdk.ClientSession, identity string) (all []definition, err error) {
	seen, cursors := map[string]bool{}, map[string]bool{}
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
			if seen[t.Name] {
				return nil, fmt.Errorf("it lists tool %.60q twice", t.Name)
			}
			if seen[t.Name] = true; len(all) == mostTools {
				return nil, fmt.Errorf("it lists more than %d tools", mostTools)
			}
			all = append(all, define(t, identity))
		}
		if cursor = page.NextCursor; cursor == "" {
			return all, nil
		}
		if cursors[cursor] {
			return nil, errors.New("its list of tools goes round in circles")
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
		raw, err = wire.Canonical(nil, raw)
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
		d.input, d.wrong = schema(t.InputSchema)
	}
	return d
}

// schema is the schema of a tool's arguments, its texts cleaned like descriptions.
func schema(from any) (json.RawMessage, error) {
	if from == nil {
		return json.RawMessage(`{"type":"object"}`), nil
	}
	object, ok := from.(map[string]any)
	if !ok {
		return nil, fmt.Errorf("its input schema is %T, not an object", from)
	}
	if t := object["type"]; t != nil && t != "object" {
		return nil, fmt.Errorf("its input schema is for %v; the arguments of a tool are an object", t)
	}
	if err := tidy(object); err != nil {
		return nil, err
	}
	return json.Marshal(object)
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
