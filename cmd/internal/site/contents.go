package site

import (
	"errors"
	"fmt"
	"path"
	"regexp"
	"strings"

	"github.com/yuin/goldmark/ast"
)

// The contents, and the page that lists it.
const home = "README.md"

// linkName matches a link in a heading; its group is the text.
var linkName = regexp.MustCompile(`\[([^\]]*)\]\([^)]*\)`)

// A Section is a part of the contents.
type Section struct {
	Title string
	Pages []*Page
}

// contents reads the sections from the list of contents.
func contents(pages map[string]*Page) ([]Section, error) {
	p := pages[home]
	if p == nil {
		return nil, fmt.Errorf("docs/%s is missing; it lists the pages", home)
	}
	p.Name = p.Title
	sections := []Section{{Pages: []*Page{p}}}
	var errs []error
	for n := p.tree.FirstChild(); n != nil; n = n.NextSibling() {
		switch n := n.(type) {
		case *ast.Heading:
			if n.Level == 2 {
				sections = append(sections, Section{Title: plain(n, p.source)})
			}
		case *ast.List:
			section := &sections[len(sections)-1]
			for item := n.FirstChild(); item != nil; item = item.NextSibling() {
				link := firstLink(item)
				if link == nil {
					continue
				}
				target := string(link.Destination)
				name := source(target)
				if pages[name] == nil {
					errs = append(errs, fmt.Errorf("docs/%s lists %s, which is not a page", home, target))
					continue
				}
				pages[name].Name = plain(link, p.source)
				section.Pages = append(section.Pages, pages[name])
			}
		}
	}
	return sections, errors.Join(errs...)
}

// firstLink returns the first link of an item of a list, or nil.
func firstLink(item ast.Node) *ast.Link {
	var found *ast.Link
	_ = ast.Walk(item, func(n ast.Node, _ bool) (ast.WalkStatus, error) { // the function returns no error
		if l, ok := n.(*ast.Link); ok {
			found = l
			return ast.WalkStop, nil
		}
		return ast.WalkContinue, nil
	})
	return found
}

// source is the Markdown file of an address in the site.
func source(address string) string {
	if dir, base := path.Split(address); base == "index.html" {
		return path.Join(dir, home)
	}
	return strings.TrimSuffix(address, ".html") + ".md"
}

// inOrder lists the pages in the order of the contents.
func inOrder(sections []Section) []*Page {
	var order []*Page
	for _, s := range sections {
		order = append(order, s.Pages...)
	}
	return order
}
