package spec

import (
	"bytes"
	"regexp"
	"strings"
)

// yaml writes a mapping as YAML that parses to the same values: one key per
// line, short values on the line of their key and long ones below it.
func (n *node) yaml(b *strings.Builder, indent string) {
	for _, p := range n.pairs {
		b.WriteString(indent + word(p.key) + ":")
		p.value.below(b, indent)
	}
}

// shortest is the longest value on the line of its key.
const shortest = 72

// below writes the value of a key, and ends its line.
func (n *node) below(b *strings.Builder, indent string) {
	lines := strings.Split(strings.TrimSuffix(n.text, "\n"), "\n")
	switch inline := n.inline(); {
	case n.kind == text && len(lines) > 1 && literal(lines) && !strings.HasSuffix(n.text, "\n\n"):
		b.WriteString(" |")
		if !strings.HasSuffix(n.text, "\n") {
			b.WriteString("-")
		}
		for _, line := range lines {
			b.WriteString("\n")
			if line != "" {
				b.WriteString(indent + "  " + line)
			}
		}
		b.WriteString("\n")
	case n.kind == mapping && len(n.pairs) > 0 && len(inline) > shortest:
		b.WriteString("\n")
		n.yaml(b, indent+"  ")
	case n.kind == list && len(n.items) > 0 && len(inline) > shortest:
		b.WriteString("\n")
		for _, item := range n.items {
			item.dashed(b, indent+"  ")
		}
	case n.kind == text && sentence(n.text):
		b.WriteString(" " + n.text + "\n")
	default:
		b.WriteString(" " + inline + "\n")
	}
}

// dashed writes an item of a list.
func (n *node) dashed(b *strings.Builder, indent string) {
	if n.kind != mapping || len(n.pairs) == 0 || len(n.inline()) <= shortest {
		b.WriteString(indent + "-")
		n.below(b, indent)
		return
	}
	var inner strings.Builder
	n.yaml(&inner, indent+"  ")
	b.WriteString(indent + "- " + strings.TrimPrefix(inner.String(), indent+"  "))
}

// inline returns a value in the form for one line.
func (n *node) inline() string {
	var parts []string
	switch n.kind {
	case list:
		for _, item := range n.items {
			parts = append(parts, item.inline())
		}
		return "[" + strings.Join(parts, ", ") + "]"
	case mapping:
		for _, p := range n.pairs {
			parts = append(parts, word(p.key)+": "+p.value.inline())
		}
		return "{" + strings.Join(parts, ", ") + "}"
	case text:
		return word(n.text)
	}
	var b bytes.Buffer
	n.json(&b)
	return b.String()
}

// Words that need no quotes, and those that would be read as something else.
var (
	bareWord = regexp.MustCompile(`^([0-9]+(ms|s|m|h|KB|MB|GB)|[A-Za-z_/][A-Za-z0-9_./-]*( [A-Za-z0-9_./-]+)*)$`)
	taken    = regexp.MustCompile(`(?i)^(true|false|null|yes|no|on|off|y|n|nan|inf)$`)
)

// word quotes a text if needed, with JSON's quotes, which are also YAML's.
func word(s string) string {
	if bareWord.MatchString(s) && !taken.MatchString(s) {
		return s
	}
	var b bytes.Buffer
	quote(&b, s)
	return b.String()
}

// sentence reports whether a text needs no quotes where nothing follows it.
func sentence(s string) bool {
	return plainLine.MatchString(s) && !taken.MatchString(s) && strings.TrimRight(s, " :") == s &&
		!strings.Contains(s, ": ") && !strings.Contains(s, " #")
}

var plainLine = regexp.MustCompile(`^([0-9]+(ms|s|m|h|KB|MB|GB)|[A-Za-z][^\x00-\x1f\x7f-\x{a0}\x{2028}\x{2029}\x{feff}]*)$`)

var printable = regexp.MustCompile(`^[^\x00-\x1f\x7f-\x{9f}\x{2028}\x{2029}\x{feff}]*$`)

// literal reports whether lines can be written unchanged below a |.
func literal(lines []string) bool {
	if strings.HasPrefix(lines[0], " ") || lines[0] == "" {
		return false
	}
	for _, line := range lines {
		if !printable.MatchString(line) || strings.TrimRight(line, " ") != line {
			return false
		}
	}
	return true
}
