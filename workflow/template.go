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

// text returns a text with the values of its references.
func (d *data) text(source string) (string, error) {
	t, wrong := parseTemplate(source)
	if wrong != nil {
		return "", wrong // not possible: it was compiled
	}
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

// fill returns a JSON value with the values of the references in its texts. A text that is only
// one reference becomes the value itself.
func (d *data) fill(value any) (any, error) {
	return eachText(value, func(text string) (any, error) {
		if t, _ := parseTemplate(text); t != nil && len(t.paths) == 1 && strings.TrimSpace(t.texts[0]+t.texts[1]) == "" {
			return d.find(t.paths[0])
		}
		return d.text(text)
	})
}

// eachText returns a JSON value in the form of encoding/json with another value for each text.
func eachText(value any, replace func(string) (any, error)) (any, error) {
	switch v := value.(type) {
	case string:
		return replace(v)
	case []any:
		list := make([]any, len(v))
		for i := range v {
			var err error
			if list[i], err = eachText(v[i], replace); err != nil {
				return nil, err
			}
		}
		return list, nil
	case map[string]any:
		members := make(map[string]any, len(v))
		for _, k := range slices.Sorted(maps.Keys(v)) {
			var err error
			if members[k], err = eachText(v[k], replace); err != nil {
				return nil, fmt.Errorf("%s: %w", k, err)
			}
		}
		return members, nil
	}
	return value, nil
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
