package spec

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"

	"github.com/pawl-run/pawl/internal/wire"
)

// readJSON reads a strict JSON document, which is also YAML.
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
			d.problem(at, "%v%s", err.Err, usualCauses[d.text[err.Offset]])
		}
		return nil
	}
	return d.readYAML(strings.ReplaceAll(d.text, "\t", " ")) // whose places are wrong behind a tab
}

// usualCauses are the usual causes of a syntax error at a character.
var usualCauses = map[byte]string{
	'}':  " (there is a comma before it, or a value missing)",
	']':  " (there is a comma before it, or a value missing)",
	'\'': " (texts stand in double quotes)",
	'/':  " (JSON has no comments; a spec with comments is a .yaml file)",
	'#':  " (JSON has no comments; a spec with comments is a .yaml file)",
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
	if err := d.problems.err(); err != nil || root == nil {
		return nil, err
	}
	var b bytes.Buffer
	root.json(&b)
	return b.Bytes(), nil
}
