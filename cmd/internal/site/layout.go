package site

import (
	_ "embed"
	"fmt"
	"html"
	"strings"
)

//go:embed page.html
var pageHTML string

// A view is what stands around a page.
type view struct {
	*Page
	Sections       []Section
	Root           string // the path from the page to the root of the site
	Previous, Next *Page  // nil at the ends
}

// html fills the layout in. A template of the standard library would make the command 7 MB
// larger: it calls methods by name, so the linker drops none of any type.
func (v view) html() []byte {
	var contents, ends, headings strings.Builder
	for _, s := range v.Sections {
		if s.Title != "" {
			fmt.Fprintf(&contents, "<h2>%s</h2>", html.EscapeString(s.Title))
		}
		contents.WriteString("\n<ul>")
		for _, p := range s.Pages {
			here := ""
			if p.Path == v.Path {
				here = ` aria-current="page"`
			}
			fmt.Fprintf(&contents, "\n<li><a href=\"%s\"%s>%s</a></li>", v.to(p), here, html.EscapeString(p.Name))
		}
		contents.WriteString("\n</ul>\n")
	}
	if p := v.Previous; p != nil {
		fmt.Fprintf(&ends, "<a rel=\"prev\" href=\"%s\">← %s</a>\n", v.to(p), html.EscapeString(p.Title))
	}
	if p := v.Next; p != nil {
		fmt.Fprintf(&ends, "<a rel=\"next\" href=\"%s\">%s →</a>\n", v.to(p), html.EscapeString(p.Title))
	}
	if len(v.Headings) > 0 {
		headings.WriteString("\n<h2>On this page</h2>\n<ul>")
		for _, h := range v.Headings {
			fmt.Fprintf(&headings, "\n<li><a href=\"#%s\">%s</a></li>", html.EscapeString(h.ID), html.EscapeString(h.Text))
		}
		headings.WriteString("\n</ul>")
	}
	return []byte(strings.NewReplacer("{title}", html.EscapeString(v.Title), "{root}", v.Root, "{body}", v.Body,
		"{contents}", contents.String(), "{ends}", ends.String(), "{headings}", headings.String()).Replace(pageHTML))
}

// to is the address of a page as this one writes it.
func (v view) to(p *Page) string { return html.EscapeString(v.Root + p.Path) }
