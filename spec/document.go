package spec

import (
	"fmt"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"github.com/pawl-run/pawl/internal/expr"
)

// mostBytes is the largest size of a spec.
const mostBytes = 1 << 20

// document is a spec being read: its text and its problems.
type document struct {
	text      string
	src       *source
	problems  Problems
	variables []*node // that name variables of the environment
}

// problem reports a problem with a value at its place, or with an option.
func (d *document) problem(n *node, format string, args ...any) {
	d.problems = append(d.problems, Problem{n.src.file, n.place.line, n.place.column, fmt.Sprintf(format, args...)})
}

// at returns a place in the document.
func (d *document) at(p place) *node { return &node{src: d.src, place: p} }

// plainLines ends each line of a text with LF, also those that end in a single
// CR: the YAML reader loses count of lines that end in CR LF, and keeps the CR.
func plainLines(text string) string {
	return strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(strings.TrimPrefix(text, "\ufeff"))
}

// readDocument parses a file; the node is nil if its syntax is invalid.
func readDocument(file, content string) (*document, *node) {
	content = plainLines(content)
	d := &document{text: content, src: newSource(file, content)}
	if len(content) > mostBytes {
		d.problem(d.at(place{1, 1}), "the spec is too long (at most %d bytes)", mostBytes)
		return d, nil
	}
	for i, r := range content {
		if r == 0 || r == utf8.RuneError && !strings.HasPrefix(content[i:], "\ufffd") {
			d.problem(d.at(d.src.offset(content, i)), "this is not text in UTF-8 (save the file as UTF-8)")
			return d, nil
		}
	}
	var root *node
	if strings.EqualFold(filepath.Ext(file), ".json") {
		root = d.readJSON()
	} else {
		root = d.readYAML(content)
	}
	return d, root
}

// expression reports the errors of an expression in a text, each at its place. what is the key of
// the text.
func (d *document) expression(what string, n *node, err error) {
	for _, e := range parts(err) {
		message, at := e.Error(), n
		if fault, ok := e.(*expr.Error); ok && fault.Column > 0 {
			if p, ok := n.src.within(n, fault.Column); ok {
				message, at = fault.Message, &node{src: n.src, place: p}
			}
		}
		if n.place.line > 0 { // an option has its key before it
			message = what + ": " + message
		}
		d.problem(at, "%s", message)
	}
}

// parts splits an error from errors.Join.
func parts(err error) []error {
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		var all []error
		for _, e := range joined.Unwrap() {
			all = append(all, parts(e)...)
		}
		return all
	}
	return []error{err}
}
