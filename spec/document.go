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
	text     string
	src      *source
	problems Problems
}

func (d *document) problem(p place, format string, args ...any) {
	d.problems = append(d.problems, Problem{d.src.file, p.line, p.column, fmt.Sprintf(format, args...)})
}

// about adds a problem with an option, or with a place in the file.
func (d *document) about(outside bool, option string, p place, format string, args ...any) {
	if !outside {
		d.problem(p, format, args...)
		return
	}
	d.problems = append(d.problems, Problem{option, 0, 0, fmt.Sprintf(format, args...)})
}

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
		d.problem(place{1, 1}, "the spec is too long (at most %d bytes)", mostBytes)
		return d, nil
	}
	for i, r := range content {
		if r == 0 || r == utf8.RuneError && !strings.HasPrefix(content[i:], "\ufffd") {
			d.problem(d.src.offset(content, i), "this is not text in UTF-8 (save the file as UTF-8)")
			return d, nil
		}
	}
	var root *node
	if strings.EqualFold(filepath.Ext(file), ".json") {
		root = d.readJSON()
	} else {
		root = d.readYAML()
	}
	d.unique(root)
	return d, root
}

// unique drops duplicate keys, and reports them.
func (d *document) unique(n *node) {
	if n == nil {
		return
	}
	first := map[string]place{}
	kept := n.pairs[:0]
	for _, p := range n.pairs {
		d.unique(p.value)
		if before, twice := first[p.key]; twice {
			d.problem(p.place, "%s is given twice (first in line %d)", p.key, before.line)
			continue
		}
		first[p.key] = p.place
		kept = append(kept, p)
	}
	n.pairs = kept
	for _, item := range n.items {
		d.unique(item)
	}
}

// expression reports the errors of an expression in a text, each at its place
// in the file.
func (d *document) expression(what string, n *node, err error) {
	for _, e := range parts(err) {
		if fault, ok := e.(*expr.Error); ok && fault.Column > 0 {
			if p, ok := d.src.within(n, fault.Column); ok {
				d.problem(p, "%s: %s", what, fault.Message)
				continue
			}
		}
		d.problem(n.place, "%s: %v", what, e)
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
