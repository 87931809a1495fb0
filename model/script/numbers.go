package script

import (
	"encoding/json"
	"strings"

	"github.com/goccy/go-yaml/ast"
)

// isNumber reports whether a text is a number in JSON. YAML reads some of them as texts, and others inexactly.
func isNumber(text string) bool {
	return json.Valid([]byte(text)) && strings.ContainsAny(text[:1], "-0123456789")
}

// exactly begins the texts that stand for numbers between the two functions below.
const exactly = "\x00number "

// keepNumbers puts a text in place of each number in the arguments and results of a document.
func keepNumbers(n ast.Node, within bool) ast.Node {
	switch n := n.(type) {
	case *ast.MappingNode:
		for _, pair := range n.Values {
			keepNumbers(pair, within)
		}
	case *ast.MappingValueNode:
		key := n.Key.String()
		n.Value = keepNumbers(n.Value, within || strings.Trim(key, `"'`) == "args" || strings.Trim(key, `"'`) == "result")
	case *ast.SequenceNode:
		for i := range n.Values {
			n.Values[i] = keepNumbers(n.Values[i], within)
		}
	case *ast.AnchorNode:
		n.Value = keepNumbers(n.Value, within)
	case *ast.StringNode, *ast.IntegerNode, *ast.FloatNode:
		if token := *n.GetToken(); within && isNumber(token.Value) && token.Origin != "" && !strings.ContainsAny(token.Origin, `"'`) {
			text := ast.String(&token)
			text.Value = exactly + token.Value
			return text
		}
	}
	return n
}

// numbers returns a value with the numbers that were kept.
func numbers(v any) any {
	switch v := v.(type) {
	case string:
		if number, ok := strings.CutPrefix(v, exactly); ok {
			return json.Number(number)
		}
	case []any:
		for i := range v {
			v[i] = numbers(v[i])
		}
	case map[string]any:
		for k := range v {
			v[k] = numbers(v[k])
		}
	}
	return v
}
