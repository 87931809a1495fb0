package site

import (
	"strings"

	"github.com/yuin/goldmark/ast"
)

// An entry is a part of a page that a search finds: a heading with the text below it.
type entry struct {
	Path    string `json:"path"`
	Title   string `json:"title"`             // of the page
	Heading string `json:"heading,omitempty"` // empty before the second heading
	Text    string `json:"text"`
}

// entries splits the pages at their headings.
func entries(pages []*Page) []entry {
	var all []entry
	for _, p := range pages {
		e := entry{Path: p.Path, Title: p.Title}
		for n := p.tree.FirstChild(); n != nil; n = n.NextSibling() {
			h, ok := n.(*ast.Heading)
			if !ok {
				e.Text += plain(n, p.source) + " "
				continue
			}
			if h.Level == 1 {
				continue
			}
			all = append(all, e)
			id, _ := h.AttributeString("id")
			slug, _ := id.([]byte)
			e = entry{Path: p.Path + "#" + string(slug), Title: p.Title, Heading: plain(h, p.source)}
		}
		all = append(all, e)
	}
	for i := range all {
		all[i].Text = strings.Join(strings.Fields(all[i].Text), " ")
	}
	return all
}
