package workflow

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/pawl-run/pawl/internal/expr"
	"github.com/pawl-run/pawl/internal/wire"
)

// A template is a text with references. All are replaced at once: a {{ in a
// value is plain text.
type template struct {
	texts []string // around the references, one more than there are
	paths []*expr.Path
}

func parseTemplate(text string) (*template, *expr.Error) {
	t := &template{}
	rest, at := text, 1
	for {
		before, after, found := strings.Cut(rest, "{{")
		t.texts = append(t.texts, before)
		if !found {
			return t, nil
		}
		at += utf8.RuneCountInString(before) + 2
		inner, tail, closed := strings.Cut(after, "}}")
		if !closed {
			return nil, expr.Errorf(at-2, "the {{ is not closed with }}")
		}
		path, err := parsePath(inner, at)
		if err != nil {
			return nil, err
		}
		t.paths = append(t.paths, path)
		at += utf8.RuneCountInString(inner) + 2
		rest = tail
	}
}

func parsePath(text string, at int) (*expr.Path, *expr.Error) {
	lead := len(text) - len(strings.TrimLeft(text, " \t"))
	n, err := parse(text)
	if err != nil {
		return nil, expr.Errorf(at+max(0, err.Column-1), "{{%s}}: %s", text, err.Message)
	}
	path, ok := n.(*expr.Path)
	if !ok {
		return nil, expr.Errorf(at+lead, "{{%s}} is not a reference (write {{input}}, or {{steps.ID.output}})", text)
	}
	path.At += expr.At(at - 1)
	return path, nil
}

func parse(source string) (expr.Node, *expr.Error) {
	n, err := expr.Parse(source)
	if err == nil {
		return n, nil
	}
	if e, ok := err.(*expr.Error); ok {
		return nil, e
	}
	return nil, expr.Errorf(0, "%v", err)
}

// whole returns the reference if the text consists of only it; else nil.
func (t *template) whole() *expr.Path {
	if len(t.paths) == 1 && strings.TrimSpace(t.texts[0]) == "" && strings.TrimSpace(t.texts[1]) == "" {
		return t.paths[0]
	}
	return nil
}

// text returns the text with the values of its references. Null is an error.
func (t *template) text(d *data) (string, error) {
	var b strings.Builder
	b.WriteString(t.texts[0])
	for i, path := range t.paths {
		v, err := d.find(path)
		if err != nil {
			return "", err
		}
		s, err := asText(v)
		if err != nil {
			return "", err
		}
		b.WriteString(s)
		b.WriteString(t.texts[i+1])
	}
	return b.String(), nil
}

// asText formats a value for use in a text.
func asText(v any) (string, error) {
	switch v := v.(type) {
	case nil:
		return "", nil
	case string:
		return v, nil
	}
	return encode(v)
}

// encode returns a value as JSON. It does not escape HTML: models and people
// read it.
func encode(v any) (string, error) {
	b, err := wire.Marshal(v)
	return string(b), err
}

// A tree is a JSON value with templates in it.
type tree struct {
	text    *template
	list    []*tree
	members map[string]*tree
	value   any // neither text, list nor object
}

// plant converts a value in the form of encoding/json to a tree.
func plant(v any) (*tree, *expr.Error) {
	switch v := v.(type) {
	case string:
		t, err := parseTemplate(v)
		return &tree{text: t}, err
	case []any:
		t := &tree{list: make([]*tree, len(v))}
		for i := range v {
			var err *expr.Error
			if t.list[i], err = plant(v[i]); err != nil {
				return nil, err
			}
		}
		return t, nil
	case map[string]any:
		t := &tree{members: make(map[string]*tree, len(v))}
		for _, k := range slices.Sorted(maps.Keys(v)) {
			sub, err := plant(v[k])
			if err != nil {
				return nil, expr.Errorf(err.Column, "%s: %s", k, err.Message)
			}
			t.members[k] = sub
		}
		return t, nil
	}
	return &tree{value: v}, nil
}

// fill returns the value with the values of all references in it.
func (t *tree) fill(d *data) (any, error) {
	switch {
	case t.text != nil:
		if path := t.text.whole(); path != nil {
			return d.find(path)
		}
		return t.text.text(d)
	case t.list != nil:
		list := make([]any, len(t.list))
		for i := range list {
			var err error
			if list[i], err = t.list[i].fill(d); err != nil {
				return nil, err
			}
		}
		return list, nil
	case t.members != nil:
		members := make(map[string]any, len(t.members))
		for k, sub := range t.members {
			v, err := sub.fill(d)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", k, err)
			}
			members[k] = v
		}
		return members, nil
	}
	return t.value, nil
}

// refs returns the references in the tree.
func (t *tree) refs() (paths []*expr.Path) {
	if t == nil {
		return nil
	}
	if t.text != nil {
		paths = append(paths, t.text.paths...)
	}
	for _, sub := range t.list {
		paths = append(paths, sub.refs()...)
	}
	for _, k := range slices.Sorted(maps.Keys(t.members)) {
		paths = append(paths, t.members[k].refs()...)
	}
	return paths
}
