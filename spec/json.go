package spec

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"strings"

	"github.com/pawl-run/pawl/internal/wire"
)

// readJSON reads a strict JSON document. The YAML reader could read it, but
// accepts trailing commas and misplaces tokens after a tab.
func (d *document) readJSON() *node {
	dec := json.NewDecoder(strings.NewReader(d.text))
	dec.UseNumber()
	r := jsonReader{document: d, dec: dec}
	n := r.value(0)
	if n == nil {
		return nil
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		d.problem(r.next(), "something follows the end of the document (a spec is one JSON object)")
		return nil
	}
	return n
}

type jsonReader struct {
	*document
	dec *json.Decoder
}

// next returns the place of the next token.
func (r *jsonReader) next() place {
	i := int(r.dec.InputOffset())
	for i < len(r.text) && strings.IndexByte(" \t\r\n,:", r.text[i]) >= 0 {
		i++
	}
	return r.src.offset(r.text, i)
}

// value reads one value; nil after an error, which ends the reading.
func (r *jsonReader) value(depth int) *node {
	at := r.next()
	if depth > mostDepth {
		r.problem(at, "values are nested too deep (at most %d levels)", mostDepth)
		return nil
	}
	token, err := r.dec.Token()
	if err != nil {
		r.broken(err)
		return nil
	}
	n := &node{place: at}
	switch t := token.(type) {
	case json.Delim:
		return r.container(n, t, depth)
	case string:
		n.kind, n.style, n.text = text, double, t
	case json.Number:
		n.kind, n.text = number, t.String()
	case bool:
		n.kind, n.text = boolean, "false"
		if t {
			n.text = "true"
		}
	default:
		n.kind = null
	}
	return n
}

func (r *jsonReader) container(n *node, open json.Delim, depth int) *node {
	n.kind = list
	if open == '{' {
		n.kind = mapping
	}
	for r.dec.More() {
		if n.kind == list {
			item := r.value(depth + 1)
			if item == nil {
				return nil
			}
			n.items = append(n.items, item)
			continue
		}
		at := r.next()
		key, err := r.dec.Token()
		if err != nil {
			r.broken(err)
			return nil
		}
		value := r.value(depth + 1)
		if value == nil {
			return nil
		}
		n.pairs = append(n.pairs, pair{key.(string), at, value})
	}
	if _, err := r.dec.Token(); err != nil {
		r.broken(err)
		return nil
	}
	return n
}

// broken reports a syntax error.
func (r *jsonReader) broken(err error) {
	var syntax *json.SyntaxError
	switch {
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		r.problem(r.src.offset(r.text, len(r.text)), "the document ends before its value does")
	case errors.As(err, &syntax):
		r.problem(r.next(), "%s", r.plainFault(strings.TrimPrefix(syntax.Error(), "json: ")))
	default:
		r.problem(r.next(), "%v", err)
	}
}

// plainFault adds the usual cause to a message of the library.
func (r *jsonReader) plainFault(message string) string {
	i := r.src.index(r.next())
	var sign rune
	if i >= 0 && i < len(r.src.runes) {
		sign = r.src.runes[i]
	}
	switch {
	case sign == '}' || sign == ']':
		return message + " (there is a comma before it, or a value missing)"
	case sign == '\'':
		return message + " (texts stand in double quotes)"
	case sign == '/' || sign == '#':
		return message + " (JSON has no comments; a spec with comments is a .yaml file)"
	case strings.Contains(message, "after object key:value pair"), strings.Contains(message, "after array element"):
		return message + " (put a comma between the two)"
	}
	return message
}

// quote writes a text as JSON, with <, > and & unchanged.
func quote(b *bytes.Buffer, s string) {
	raw, _ := wire.Marshal(s) // a string always has a JSON form
	b.Write(raw)
}
