package site

import (
	"bytes"
	"fmt"
	"io/fs"
	"path"
	"strings"
	"unicode"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
)

var markdown = goldmark.New(goldmark.WithExtensions(extension.Table), goldmark.WithParserOptions(parser.WithAutoHeadingID()))

// A Page is one page of the site.
type Page struct {
	Source   string // its Markdown file, such as howto/slack.md
	Path     string // its address in the site, such as howto/slack.html
	Title    string
	Name     string    // what the contents call it; empty for a page of a directory
	Body     string    // HTML; raw HTML in the pages is left out
	Headings []Heading // the second ones, for the contents of the page

	tree   ast.Node
	source []byte
}

// A Heading is a place in a page.
type Heading struct{ ID, Text string }

// read reads and parses all pages, and copies what is not one: the pictures.
func read(fsys fs.FS) (map[string]*Page, map[string][]byte, error) {
	pages, files := map[string]*Page{}, map[string][]byte{}
	err := fs.WalkDir(fsys, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := fs.ReadFile(fsys, name)
		if err != nil {
			return err
		}
		if path.Ext(name) != ".md" {
			files[name] = data
			return nil
		}
		p, err := parse(name, data)
		pages[name] = p
		return err
	})
	return pages, files, err
}

// address is where a Markdown file is in the site.
func address(name string) string {
	if path.Base(name) == "README.md" {
		return path.Join(path.Dir(name), "index.html")
	}
	return strings.TrimSuffix(name, ".md") + ".html"
}

func parse(name string, source []byte) (*Page, error) {
	p := &Page{Source: name, Path: address(name), source: source}
	p.tree = markdown.Parser().Parse(text.NewReader(source), parser.WithContext(parser.NewContext(parser.WithIDs(&slugs{map[string]bool{}}))))
	err := ast.Walk(p.tree, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if !entering {
			return ast.WalkContinue, nil
		}
		switch n := n.(type) {
		case *ast.Heading:
			id, _ := n.AttributeString("id")
			slug, _ := id.([]byte)
			switch {
			case n.Level == 1 && p.Title == "":
				p.Title = plain(n, source)
			case n.Level == 2:
				p.Headings = append(p.Headings, Heading{string(slug), plain(n, source)})
			}
		case *ast.Link:
			n.Destination = []byte(p.rewrite(string(n.Destination)))
		}
		return ast.WalkContinue, nil
	})
	if err == nil && p.Title == "" {
		err = fmt.Errorf("docs/%s has no title; begin it with a line such as \"# Title\"", name)
	}
	if err != nil {
		return nil, err
	}
	unlink(p.tree)
	var b bytes.Buffer
	if err := markdown.Renderer().Render(&b, source, p.tree); err != nil {
		return nil, fmt.Errorf("docs/%s: %w", name, err)
	}
	p.Body = b.String()
	return p, nil
}

// outside reports whether a link leads out of the site but stays in the repository.
func (p *Page) outside(target string) bool {
	target = path.Join(path.Dir(p.Source), target)
	return strings.HasPrefix(target, "../") || path.Dir(target) == "decisions" || target == "decisions"
}

// rewrite turns a link between Markdown files into one between pages. It returns
// nothing for a file of the repository that the site does not have.
func (p *Page) rewrite(target string) string {
	file, fragment, found := strings.Cut(target, "#")
	switch {
	case file == "" || strings.Contains(file, ":"):
		return target
	case p.outside(file):
		return ""
	case path.Ext(file) == ".md":
		file = address(file)
	}
	if found {
		return file + "#" + fragment
	}
	return file
}

// unlink replaces each link without a destination by its text.
func unlink(tree ast.Node) {
	var gone []ast.Node
	_ = ast.Walk(tree, func(n ast.Node, entering bool) (ast.WalkStatus, error) { // the function returns no error
		if l, ok := n.(*ast.Link); ok && entering && len(l.Destination) == 0 {
			gone = append(gone, n)
		}
		return ast.WalkContinue, nil
	})
	for _, n := range gone {
		parent := n.Parent()
		for c := n.FirstChild(); c != nil; c = n.FirstChild() {
			parent.InsertBefore(parent, n, c)
		}
		parent.RemoveChild(parent, n)
	}
}

// plain is the text of a node without its markup.
func plain(n ast.Node, source []byte) string {
	var b strings.Builder
	_ = ast.Walk(n, func(n ast.Node, entering bool) (ast.WalkStatus, error) { // the function returns no error
		switch n := n.(type) {
		case *ast.Text:
			if entering {
				b.Write(n.Value(source))
				if n.SoftLineBreak() || n.HardLineBreak() {
					b.WriteByte(' ')
				}
			}
		case *ast.FencedCodeBlock, *ast.CodeBlock:
			if entering {
				b.Write(n.Lines().Value(source))
			}
		}
		if !entering && n.Type() == ast.TypeBlock {
			b.WriteByte(' ')
		}
		return ast.WalkContinue, nil
	})
	return strings.TrimSpace(b.String())
}

// slugs names headings as code hosts do: lower case, spaces as hyphens, other
// punctuation dropped, and a number for each repetition.
type slugs struct{ used map[string]bool }

func (s *slugs) Generate(value []byte, _ ast.NodeKind) []byte {
	slug := strings.Map(func(r rune) rune {
		switch {
		case r == ' ':
			return '-'
		case r == '-', r == '_', unicode.IsLetter(r), unicode.IsDigit(r):
			return unicode.ToLower(r)
		}
		return -1
	}, linkName.ReplaceAllString(string(value), "$1"))
	name := slug
	for i := 1; s.used[name]; i++ {
		name = fmt.Sprintf("%s-%d", slug, i)
	}
	s.Put([]byte(name))
	return []byte(name)
}

func (s *slugs) Put(value []byte) { s.used[string(value)] = true }
