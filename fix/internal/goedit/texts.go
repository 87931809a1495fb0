package goedit

import (
	"go/ast"
	"go/token"
	"strconv"
	"strings"
)

// mostText is the length of a text for which others of the package are tried: longer ones are
// messages, of which a test shows what is wrong.
const mostText = 12

// otherText proposes other texts for a short one: those of the package that are like it, and
// what people mix up in separators and words.
func (m *mutator) otherText(n *ast.BasicLit) {
	old, err := strconv.Unquote(n.Value)
	if n.Kind != token.STRING || err != nil || len(old) > mostText {
		return
	}
	var twins []twin
	for _, i := range m.g.ingredients(m.d.file.dir()).texts {
		if with, err := strconv.Unquote(i.text); err == nil && with != old {
			w := 0.35 * m.near(i)
			if isWordy(with) == isWordy(old) && old != "" {
				w *= 2
			}
			if m.clues.differs(with) {
				w *= 1.5
			}
			twins = append(twins, twin{i.text, w})
		}
	}
	add := func(with string, weight float64) {
		if with != old {
			twins = append(twins, twin{strconv.Quote(with), weight})
		}
	}
	if isWordy(old) {
		add(strings.ToLower(old), 0.9)
		add(strings.ToUpper(old), 0.9)
	} else if old != "" {
		add(strings.TrimSpace(old), 0.9)
		if strings.TrimSpace(old) == old {
			add(old+" ", 0.7)
			add(" "+old, 0.4)
		}
		for _, set := range similar {
			for _, c := range set {
				if char, err := strconv.Unquote(c); err == nil && char == old {
					for _, other := range set {
						with, _ := strconv.Unquote(other) // all are characters
						add(with, 0.5)
					}
				}
			}
		}
	}
	weight := 0.26
	if m.clues.differs(old) && old != "" {
		weight = 0.6
	}
	twins = distinct(twins)
	m.instead(n, twins[:min(len(twins), 5)], literal, weight, "text")
}

// isWordy reports whether a text has a letter.
func isWordy(s string) bool {
	return strings.ContainsFunc(s, func(r rune) bool { return 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' })
}
