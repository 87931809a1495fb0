package site

import (
	"errors"
	"fmt"
	"maps"
	"path"
	"regexp"
	"slices"
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
				if pages[name] == nil && path.Base(name) == home {
					listing, err := directory(pages, path.Dir(name))
					if err != nil {
						return nil, err
					}
					pages[name] = listing
				}
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

// directory makes the page that lists the pages of a directory, in order of their names.
func directory(pages map[string]*Page, dir string) (*Page, error) {
	var below []*Page
	var b strings.Builder
	base := path.Base(dir)
	fmt.Fprintf(&b, "# %s%s\n\n", strings.ToUpper(base[:1]), base[1:])
	for _, name := range slices.Sorted(maps.Keys(pages)) {
		if path.Dir(name) == dir {
			below = append(below, pages[name])
			fmt.Fprintf(&b, "- [%s](%s)\n", pages[name].Title, path.Base(name))
		}
	}
	p, err := parse(path.Join(dir, home), []byte(b.String()))
	if err == nil {
		p.below = below
	}
	return p, err
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

// inOrder lists the pages in the order of the contents. A page of a directory comes
// after the page that lists the directory.
func inOrder(sections []Section) []*Page {
	var order []*Page
	for _, s := range sections {
		for _, p := range s.Pages {
			order = append(append(order, p), p.below...)
		}
	}
	return order
}
