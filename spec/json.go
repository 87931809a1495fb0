package spec

import (
	"bytes"
	"errors"
	"strings"

	"github.com/pawl-run/pawl/internal/wire"
)

// readJSON reads a strict JSON document. The YAML reader could read it, but
// accepts trailing commas and misplaces tokens after a tab.
func (d *document) readJSON() *node {
	r := wire.NewReader([]byte(d.text))
	n := d.jsonValue(&r, 0)
	err, ok := errors.AsType[*wire.Error](r.Done())
	switch {
	case !ok:
		return n
	case len(d.problems) > 0: // the values are nested too deep
	case err.Offset >= len(strings.TrimRight(d.text, " \t\r\n")):
		d.problem(d.src.offset(d.text, len(d.text)), "the document ends before its value does")
	default:
		d.problem(d.src.offset(d.text, err.Offset), "%v%s", err.Err, usualCause(d.text[err.Offset]))
	}
	return nil
}

// jsonValue reads one value. After an error, which r keeps, it is incomplete.
func (d *document) jsonValue(r *wire.Reader, depth int) *node {
	n := &node{place: d.src.offset(d.text, r.Offset())}
	if depth > mostDepth {
		d.problem(n.place, "values are nested too deep (at most %d levels)", mostDepth)
		r.FailAt(r.Offset(), wire.TooDeep)
		return n
	}
	switch r.Kind() {
	case '{':
		n.kind = mapping
		for r.Open(); r.More(); {
			at, key := d.src.offset(d.text, r.Offset()), string(r.Key())
			n.pairs = append(n.pairs, pair{key, at, d.jsonValue(r, depth+1)})
		}
	case '[':
		n.kind = list
		for r.List(); r.Element(); {
			n.items = append(n.items, d.jsonValue(r, depth+1))
		}
	case '"':
		n.kind, n.style, n.text = text, double, r.String()
	case '0':
		n.kind, n.text = number, string(r.Number())
		n.word = n.text
	case 't':
		n.kind, n.text = boolean, "false"
		if r.Bool() {
			n.text = "true"
		}
		n.word = n.text
	default:
		n.kind = null
		r.Skip()
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
