package house

import (
	"go/ast"
	"go/token"
	"regexp"
	"strings"
	"testing"
)

// archaic matches words that a reader has to translate. They are split here so
// that the test does not find itself.
var archaic = regexp.MustCompile(`(?i)\b(` + strings.Join([]string{
	"who" + "ever", "what c" + "ame of", "a" + "new", "a" + "fresh", "me" + "nd(s|ed|ing)?", "pr" + "ick(s|ed|ing)?", "de" + "af", "mu" + "te",
}, "|") + `)\b`)

// quoted matches code spans and quotations, in which any word may occur.
var quoted = regexp.MustCompile("`[^`\n]*`|\"[^\"\n]*\"|“[^”\n]*”")

// archaicIn lists the archaic words of a text outside of code spans and quotations.
func archaicIn(text string) []string {
	return archaic.FindAllString(quoted.ReplaceAllString(text, ""), -1)
}

// archaicInMarkdown is archaicIn for a page, whose code blocks do not count.
func archaicInMarkdown(page string) (found []string) {
	for i, part := range regexp.MustCompile("(?m)^\\s*```").Split(page, -1) {
		if i%2 == 0 {
			found = append(found, archaicIn(part)...)
		}
	}
	return found
}

// archaicInGo lists the archaic words in the comments, strings and names of a file.
func archaicInGo(f *ast.File) (found []string) {
	for _, group := range f.Comments {
		found = append(found, archaicIn(group.Text())...)
	}
	ast.Inspect(f, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.BasicLit:
			if n.Kind == token.STRING {
				found = append(found, archaic.FindAllString(n.Value, -1)...)
			}
		case *ast.Ident:
			found = append(found, archaic.FindAllString(n.Name, -1)...)
		}
		return true
	})
	return found
}

func TestPlainWords(t *testing.T) {
	tr := repository(t)
	found := map[string][]string{} // by first element of the path
	add := func(name string, words []string) {
		dir, _, below := strings.Cut(name, "/")
		if !below {
			dir = "."
		}
		for _, w := range words {
			found[dir] = append(found[dir], name+": "+w)
		}
	}
	for _, k := range tr.pkgs {
		for _, s := range k.files {
			add(s.name, archaicInGo(s.ast))
		}
	}
	for _, name := range tr.files {
		if strings.HasSuffix(name, ".md") && name != "CHANGELOG.md" { // which is history
			add(name, archaicInMarkdown(tr.read(t, name)))
		}
	}
	for dir, words := range found {
		t.Errorf("%s has %d archaic words: write plain English\n%s", dir, len(words), strings.Join(words, "\n"))
	}
}
