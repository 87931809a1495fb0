package spec

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/lexer"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/token"
)

// readYAML reads one YAML document.
func (d *document) readYAML(text string) (root *node) {
	// The library may panic on untrusted input.
	defer func() {
		if p := recover(); p != nil {
			d.problem(d.at(place{1, 1}), "this cannot be read as YAML: %v", p)
			root = nil
		}
	}()
	tokens := lexer.Tokenize(text)
	if !d.bounded(tokens) {
		return nil
	}
	file, err := parser.Parse(tokens, 0, parser.AllowDuplicateMapKey())
	if err != nil {
		d.syntax(err)
		return nil
	}
	var bodies []ast.Node
	for _, doc := range file.Docs {
		if _, directive := doc.Body.(*ast.DirectiveNode); doc.Body != nil && !directive {
			bodies = append(bodies, doc.Body)
		}
	}
	switch len(bodies) {
	case 0:
		return &node{kind: null, src: d.src, place: place{1, 1}}
	case 1:
		return d.convert(bodies[0], 0)
	}
	d.problem(d.at(d.position(bodies[1])), "a second document begins (a spec is one document)")
	return nil
}

// The parser is recursive and compares all keys of a mapping with each other,
// so the input is limited in depth and number.
const (
	mostTokens = 60_000
	mostDepth  = 100
)

func (d *document) bounded(tokens token.Tokens) bool {
	flow, line, row := 0, 0, 0
	for i, t := range tokens {
		switch t.Type {
		case token.SequenceStartType, token.MappingStartType:
			flow++
		case token.SequenceEndType, token.MappingEndType:
			flow--
		case token.SequenceEntryType, token.MappingKeyType, token.TagType, token.AnchorType:
			row++
		}
		if t.Position.Line != line {
			line, row = t.Position.Line, 0
		}
		if flow > mostDepth || row > mostDepth {
			d.problem(d.at(tokenPlace(t)), "values are nested too deep (at most %d levels)", mostDepth)
			return false
		}
		if i >= mostTokens {
			d.problem(d.at(tokenPlace(t)), "the spec is too long (at most %d words and signs)", mostTokens)
			return false
		}
	}
	return true
}

func tokenPlace(t *token.Token) place {
	return place{max(1, t.Position.Line), max(1, t.Position.Column)}
}

func (d *document) syntax(err error) {
	var located interface {
		GetToken() *token.Token
		GetMessage() string
	}
	if strings.HasPrefix(d.text, "#!") {
		d.problem(d.at(place{1, 1}), "this is a script, not a spec")
		return
	}
	if errors.As(err, &located) && located.GetToken() != nil {
		message := located.GetMessage()
		if i := slices.IndexFunc(faults, func(f fault) bool { return strings.Contains(message, f.found) }); i >= 0 {
			message = faults[i].said
		}
		d.problem(d.at(tokenPlace(located.GetToken())), "%s", message)
		return
	}
	d.problem(d.at(place{1, 1}), "%v", err)
}

// A fault is a part of a message of the library, and what to say instead.
type fault struct{ found, said string }

// faults are the common ones, with their usual causes; the first match counts.
var faults = []fault{
	{"found character '\t'", "a tab stands where a line is indented (use spaces)"},
	{"mapping value is not allowed", "there is a colon where none can be (put a text with a colon and a space in quotes, and indent the keys of a mapping alike)"},
	{"value is not allowed in this context", "there is a value where none can be (put a text that goes on after a quote, a bracket or a * in quotes, and indent the keys of a mapping alike)"},
	{"could not find flow map content", "this is not a mapping (put a text that begins with a brace in quotes)"},
	{"',' or '}' must be specified", "a comma or } is missing before this (write {KEY: VALUE, KEY: VALUE})"},
	{"',' or ']' must be specified", "a comma or ] is missing before this (write [VALUE, VALUE])"},
	{"could not find flow mapping end token '}'", "} is missing at the end of this (write {KEY: VALUE, KEY: VALUE})"},
	{"sequence end token ']' not found", "] is missing at the end of this (write [VALUE, VALUE])"},
	{"could not find end character of", "the quotes that begin here do not end (write one more, or none)"},
	{"is a reserved character", "no text begins with this sign in YAML (put it in quotes)"},
	{"block sequence entries are not allowed", "there is a - where none can be (put the list on lines of its own, or in brackets)"},
	{"map key definition includes an implicit line break", "a key goes on over the end of its line (write KEY: VALUE)"},
	{"non-map value is specified", "there is no colon in this line (write KEY: VALUE)"},
	{"unexpected key name", "there is no colon in this line (write KEY: VALUE, with a space before the value)"},
}

// position returns the place where a node begins. For the library a mapping
// begins at its first colon, and a word at the tab before it.
func (d *document) position(n ast.Node) place {
	switch n := n.(type) {
	case *ast.MappingNode:
		if !n.IsFlowStyle && len(n.Values) > 0 {
			return d.position(n.Values[0])
		}
	case *ast.MappingValueNode:
		return d.position(n.Key)
	case *ast.LiteralNode:
		return tokenPlace(n.Start)
	}
	p := tokenPlace(n.GetToken())
	for i := d.src.index(p); i >= 0 && i < len(d.src.runes) && (d.src.runes[i] == '\t' || d.src.runes[i] == ' '); i++ {
		p.column++
	}
	return p
}

// convert converts a node of the library; a refused one has the zero kind.
func (d *document) convert(n ast.Node, depth int) *node {
	out := d.at(d.position(n))
	refuse := func(format string, args ...any) *node {
		d.problem(out, format, args...)
		return out
	}
	if depth > mostDepth {
		return refuse("values are nested too deep (at most %d levels)", mostDepth)
	}
	switch n := n.(type) {
	case *ast.NullNode:
		out.kind = null
	case *ast.BoolNode:
		out.kind, out.text, out.word = boolean, strconv.FormatBool(n.Value), n.Token.Value
	case *ast.IntegerNode:
		return out.number(n.Token.Value, n.Value)
	case *ast.FloatNode:
		return out.number(n.Token.Value, n.Value)
	case *ast.StringNode:
		out.kind, out.text = text, n.Value
		quoted := n.Token.Type == token.SingleQuoteType || n.Token.Type == token.DoubleQuoteType
		if !quoted && decimal.MatchString(n.Value) { // the library leaves large numbers and 1e5 as text
			if value, err := strconv.ParseFloat(n.Value, 64); err == nil || strict.MatchString(n.Value) {
				return out.number(n.Value, value)
			}
		}
	case *ast.LiteralNode:
		out.kind, out.text = text, n.Value.Value
	case *ast.SequenceNode:
		out.kind = list
		for _, v := range n.Values {
			out.items = append(out.items, d.convert(v, depth+1))
		}
	case *ast.MappingValueNode:
		out.kind = mapping
		d.entry(out, n, depth, map[string]*node{})
	case *ast.MappingNode:
		out.kind = mapping
		first := map[string]*node{}
		for _, v := range n.Values {
			d.entry(out, v, depth, first)
		}
	case *ast.AnchorNode:
		return refuse("anchors are not supported (write the value where it is needed)")
	case *ast.AliasNode:
		return refuse("aliases are not supported (write the value out)")
	case *ast.TagNode:
		return refuse("tags are not supported (leave %s out; quotes make a text)", n.Start.Value)
	default:
		return refuse("%s is not a value for a spec (write text, a number, true, false, a list or a mapping)", strings.TrimSpace(n.String()))
	}
	return out
}

// entry adds an entry to a mapping, unless its key is one of those before it.
func (d *document) entry(out *node, n *ast.MappingValueNode, depth int, first map[string]*node) {
	key := d.at(d.position(n.Key))
	switch k := n.Key.(type) {
	case *ast.StringNode:
		key.text = k.Value
	case *ast.IntegerNode, *ast.FloatNode, *ast.BoolNode, *ast.NullNode:
		key.text = k.GetToken().Value
	case *ast.MergeKeyNode:
		d.problem(key, "merge keys are not supported (write the keys out)")
		return
	default:
		d.problem(key, "this key is not a plain word (write KEY: VALUE)")
		return
	}
	value := d.convert(n.Value, depth+1)
	if before := first[key.text]; before != nil {
		d.problem(key, "%s is given twice (first in line %d)", key.text, before.place.line)
		return
	}
	first[key.text] = key
	out.pairs = append(out.pairs, pair{key, value})
}

// decimal matches the numbers that YAML 1.2's core schema and JSON share, and a
// few that only YAML has; strict those of JSON.
var (
	decimal = regexp.MustCompile(`^[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?$`)
	strict  = regexp.MustCompile(`^-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][-+]?[0-9]+)?$`)
)

// number makes the node a number, exactly as it is written where JSON can.
func (n *node) number(word string, value any) *node {
	n.kind, n.text, n.word = number, word, word
	if !strict.MatchString(word) {
		n.text = fmt.Sprint(value)
	}
	return n
}
