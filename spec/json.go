package spec

import (
	"bytes"
	"encoding/json"
	"errors"
	"slices"
	"strings"

	"github.com/pawl-run/pawl/internal/wire"
)

// readJSON reads a strict JSON document. The YAML reader could read it, but
// accepts trailing commas and misplaces tokens after a tab.
func (d *document) readJSON() *node {
	doc := []byte(d.text)
	if err, ok := errors.AsType[*wire.Error](wire.Check(doc, wire.MaxDepth-mostDepth-1)); ok {
		at := d.at(d.src.offset(d.text, err.Offset))
		switch {
		case err.Err == wire.ErrTooDeep:
			d.problem(at, "values are nested too deep (at most %d levels)", mostDepth)
		case err.Offset >= len(strings.TrimRight(d.text, " \t\r\n")):
			d.problem(at, "the document ends before its value does")
		default:
			d.problem(at, "%v%s", err.Err, usualCause(d.text[err.Offset]))
		}
		return nil
	}
	tokens := slices.Collect(wire.Tokens(doc))
	return d.jsonValue(&tokens)
}

// jsonValue takes the tokens of one value.
func (d *document) jsonValue(tokens *[]wire.Token) *node {
	take := func() wire.Token {
		t := (*tokens)[0]
		*tokens = (*tokens)[1:]
		return t
	}
	t := take()
	n := d.at(d.src.offset(d.text, t.Start))
	switch t.Kind {
	case '{':
		n.kind = mapping
		for t = take(); t.Kind != '}'; t = take() {
			key := d.at(d.src.offset(d.text, t.Start))
			key.text = t.Text
			n.pairs = append(n.pairs, pair{key, d.jsonValue(tokens)})
		}
	case '[':
		n.kind = list
		for (*tokens)[0].Kind != ']' {
			n.items = append(n.items, d.jsonValue(tokens))
		}
		take()
	case '"':
		n.kind, n.text = text, t.Text
	case '0':
		n.kind, n.text, n.word = number, t.Text, t.Text
	case 't':
		n.kind, n.text, n.word = boolean, t.Text, t.Text
	default:
		n.kind = null
	}
	return n
}

// usualCause returns the usual cause of a syntax error at a character, in
// parentheses; empty: there is none.
func usualCause(sign byte) string {
	switch sign {
	case '}', ']':
		return " (there is a comma before it, or a value missing)"
	case '\'':
		return " (texts stand in double quotes)"
	case '/', '#':
		return " (JSON has no comments; a spec with comments is a .yaml file)"
	}
	return ""
}

// quote writes a text as JSON, with <, > and & unchanged.
func quote(b *bytes.Buffer, s string) {
	raw, _ := wire.Marshal(s) // a string always has a JSON form
	b.Write(raw)
}

// JSON converts the document of a spec, in YAML or JSON by the name of its file, to JSON with the
// keys in order. It does not check the content. The error is [Problems].
func JSON(name string, data []byte) (json.RawMessage, error) {
	d, root := readDocument(name, string(data))
	if err := d.problems.sorted().asError(); err != nil || root == nil {
		return nil, err
	}
	var b bytes.Buffer
	root.json(&b)
	return b.Bytes(), nil
}
