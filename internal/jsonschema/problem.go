package jsonschema

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/pawl-run/pawl/internal/wire"
)

// Problem is one thing that is wrong with a document.
type Problem struct {
	Path    string // JSON pointer (RFC 6901) to the value; "" is the whole document
	Message string // what would be right, and what was found
}

// String is the message, preceded by the path if there is one.
func (p Problem) String() string {
	if p.Path == "" {
		return p.Message
	}
	return p.Path + ": " + p.Message
}

func (p Problem) where() string {
	if p.Path == "" {
		return ""
	}
	return " at " + p.Path
}

// sortProblems sorts and drops repetitions: the library walks Go maps, so the
// order it reports in is chance.
func sortProblems(all []Problem) []Problem {
	slices.SortFunc(all, func(a, b Problem) int {
		return cmp.Or(cmp.Compare(a.Path, b.Path), cmp.Compare(a.Message, b.Message))
	})
	return slices.Compact(all)
}

var pointerEscapes = strings.NewReplacer("~", "~0", "/", "~1")

// join makes a JSON pointer of path tokens.
func join(tokens []string) string {
	var b strings.Builder
	for _, t := range tokens {
		b.WriteByte('/')
		b.WriteString(pointerEscapes.Replace(t))
	}
	return b.String()
}

var pointerUnescapes = strings.NewReplacer("~0", "~", "~1", "/")

// pointer reads a JSON pointer in the form it has in the fragment of a URL.
func pointer(fragment string) []string {
	var tokens []string
	for i, t := range strings.Split(fragment, "/") {
		if i == 0 {
			continue
		}
		if plain, err := url.PathUnescape(t); err == nil {
			t = plain
		}
		tokens = append(tokens, pointerUnescapes.Replace(t))
	}
	return tokens
}

// lookup finds the value at a path of a decoded document.
func lookup(value any, path []string) any {
	for _, t := range path {
		switch v := value.(type) {
		case map[string]any:
			inner, ok := v[t]
			if !ok {
				return nil
			}
			value = inner
		case []any:
			i, err := strconv.Atoi(t)
			if err != nil || i < 0 || i >= len(v) {
				return nil
			}
			value = v[i]
		default:
			return nil
		}
	}
	return value
}

// literal writes a value as compact JSON, which is what its reader will write
// back.
func literal(value any) string {
	b, err := wire.Marshal(value)
	if err != nil {
		return fmt.Sprint(value)
	}
	return string(b)
}

func quote(s string) string { return literal(s) }

// show describes a value briefly: scalars as they are, containers by kind.
func show(value any) string {
	const most = 60
	switch v := value.(type) {
	case map[string]any:
		return "an object"
	case []any:
		return "an array"
	case string:
		if len([]rune(v)) > most {
			v = string([]rune(v)[:most]) + "…"
		}
		return "the string " + quote(v)
	case json.Number:
		if len(v) > most {
			return "the number " + string(v[:most]) + "…"
		}
		return "the number " + string(v)
	case nil:
		return "null"
	default:
		return fmt.Sprint(v)
	}
}

func literals[T any](values []T) string {
	all := make([]string, len(values))
	for i, v := range values {
		all[i] = literal(v)
	}
	return strings.Join(all, ", ")
}
