package mechanic

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/pawl-run/pawl/fix/internal/gotest"
)

// complaint is a message of the compiler.
type complaint struct {
	file      string
	line, col int
	text      string
}

var complained = regexp.MustCompile(`^(?:vet: )?(\S+\.go):(\d+):(\d+): (.+)$`)

// complaints reads the messages of what does not build, each once.
func complaints(failures []gotest.Failure) []complaint {
	var list []complaint
	for _, f := range failures {
		if f.Kind != gotest.KindBuild {
			continue
		}
		for line := range strings.Lines(f.Output) {
			m := complained.FindStringSubmatch(strings.TrimRight(line, "\n"))
			if m == nil {
				// have (…) and want (…) stand on lines of their own.
				if n := len(list); n > 0 && strings.HasPrefix(line, "\t") {
					list[n-1].text += " " + strings.TrimSpace(line)
				}
				continue
			}
			c := complaint{file: path.Clean(m[1]), text: m[4]}
			c.line, _ = strconv.Atoi(m[2])
			c.col, _ = strconv.Atoi(m[3])
			if !slices.Contains(list, c) {
				list = append(list, c)
			}
		}
	}
	return list
}

// builder makes edits from compiler messages.
type builder struct {
	files memory
	list  []candidate
}

// candidate is an edit to try, with its description.
type candidate struct {
	edit tryEdit
	rule string
}

// rules each read one kind of message, and propose what is most often meant.
var rules = []struct {
	says    *regexp.Regexp
	propose func(b *builder, c complaint, m []string)
}{
	{regexp.MustCompile(`^undefined: (\w+)\.(\w+)$`), (*builder).member},
	{regexp.MustCompile(`^undefined: (\w+)$`), (*builder).undefined},
	{regexp.MustCompile(`\.(\w+) undefined \(.* has no field or method \w+(?:, but does have (?:field|method) (\w+))?`), (*builder).selected},
	{regexp.MustCompile(`^unknown field (\w+) in struct literal`), (*builder).undefined},
	{regexp.MustCompile(`^"([^"]+)" imported (?:as \w+ )?and not used$`), (*builder).imported},
	{regexp.MustCompile(`^declared and not used: (\w+)$`), (*builder).unused},
	{regexp.MustCompile(`^missing return$`), (*builder).missingReturn},
	{regexp.MustCompile(`^(?:not enough|too many) return values have \((.*)\) want \((.*)\)$`), (*builder).results},
	{regexp.MustCompile(`^no new variables on left side of :=$`), (*builder).noNew},
	{regexp.MustCompile(`^cannot use (.+) \(.*\) as (\S+) value in `), (*builder).convert},
	{regexp.MustCompile(`^invalid operation: (.+) ([-+*/%&|<>=!]+) (.+) \(mismatched types (\S+) and (\S+)\)$`), (*builder).mismatch},
	{regexp.MustCompile(`^cannot use .+ as value$`), (*builder).compare},
	{regexp.MustCompile(`^syntax error: `), (*builder).syntax},
}

// buildEdits proposes edits of code that does not compile.
func buildEdits(files memory, list []complaint) []candidate {
	b := &builder{files: files}
	for _, c := range list {
		for _, r := range rules {
			if m := r.says.FindStringSubmatch(c.text); m != nil {
				r.propose(b, c, m)
			}
		}
	}
	return b.list
}

// add proposes another text of a file.
func (b *builder) add(name, after, rule string) {
	before := b.files[name]
	old, with, ok := hunk(before, after)
	if !ok || old == "" || strings.HasSuffix(name, "_test.go") || len(b.list) >= mostEdits {
		return
	}
	edit := tryEdit{editArgs: editArgs{Path: name, Old: old, New: with}}
	if !slices.ContainsFunc(b.list, func(c candidate) bool { return c.edit.key() == edit.key() }) {
		b.list = append(b.list, candidate{edit, name + ":" + strconv.Itoa(lineOf(before, old)) + " " + rule})
	}
}

// at returns where a complaint points in its file; -1 when it is not known.
func (b *builder) at(c complaint) int {
	at := 0
	for range c.line - 1 {
		i := strings.IndexByte(b.files[c.file][at:], '\n')
		if i < 0 {
			return -1
		}
		at += i + 1
	}
	if at += c.col - 1; c.line < 1 || c.col < 1 || at > len(b.files[c.file]) {
		return -1
	}
	return at
}

// swap replaces a text where a complaint points, or else on the rest of its line.
func (b *builder) swap(c complaint, from, to, rule string) {
	at, text := b.at(c), b.files[c.file]
	if at < 0 {
		return
	}
	rest, _, _ := strings.Cut(text[at:], "\n")
	if i := strings.Index(rest, from); i >= 0 {
		at += i
		b.add(c.file, text[:at]+to+text[at+len(from):], rule)
	}
}

// undefined proposes names that look like one that is not known.
func (b *builder) undefined(c complaint, m []string) {
	name := m[1]
	if at := b.at(c); at >= 0 {
		text := b.files[c.file]
		if strings.HasPrefix(text[at:], name+".") {
			for _, p := range known[name] {
				b.imports(c.file, p)
			}
		}
		if strings.HasPrefix(text[at:], name+" = ") {
			b.swap(c, name+" = ", name+" := ", "= → :=")
		}
	}
	for _, like := range b.alike(c.file, name) {
		b.swap(c, name, like, name+" → "+like)
	}
	for _, like := range b.alike(c.file, name) {
		b.rename(c.file, like, name)
	}
}

func (b *builder) selected(c complaint, m []string) {
	if m[2] != "" {
		b.swap(c, m[1], m[2], m[1]+" → "+m[2])
	}
	b.undefined(c, m[:2])
}

// member proposes members of an imported package.
func (b *builder) member(c complaint, m []string) {
	at := b.at(c)
	if at < 0 {
		return
	}
	var names []string
	for _, p := range imports(b.files) {
		if path.Base(p) != m[1] {
			continue
		}
		if from := library(b.files); from != nil {
			if pkg, err := from.Import(p); err == nil {
				names = append(names, pkg.Scope().Names()...)
			}
		}
	}
	for _, like := range closest(m[2], names) {
		b.swap(c, m[2], like, m[2]+" → "+like)
	}
	b.undefined(c, m[1:])
}

// imported takes an import away.
func (b *builder) imported(c complaint, m []string) {
	text := b.files[c.file]
	lines := strings.SplitAfter(text, "\n")
	if c.line < 1 || c.line > len(lines) || !strings.Contains(lines[c.line-1], strconv.Quote(m[1])) {
		return
	}
	b.add(c.file, strings.Join(slices.Delete(lines, c.line-1, c.line), ""), "without the import of "+m[1])
}

// imports adds an import.
func (b *builder) imports(name, p string) {
	text := b.files[name]
	file, err := parser.ParseFile(token.NewFileSet(), name, text, parser.ImportsOnly)
	if err != nil {
		return
	}
	at, what := int(file.Name.End())-1, "\n\nimport "+strconv.Quote(p)
	for _, d := range file.Decls {
		if g, ok := d.(*ast.GenDecl); ok && g.Tok == token.IMPORT && g.Lparen.IsValid() {
			at, what = int(g.Lparen), "\n\t"+strconv.Quote(p)
			break
		}
	}
	b.add(name, text[:at]+what+text[at:], "with the import of "+p)
}

// unused proposes to assign in place of a declaration, or to do without.
func (b *builder) unused(c complaint, m []string) {
	at, text := b.at(c), b.files[c.file]
	if at < 0 {
		return
	}
	line, _, _ := strings.Cut(text[at:], "\n")
	if i := strings.Index(line, ":="); i >= 0 {
		b.add(c.file, text[:at+i]+"="+text[at+i+2:], ":= → =")
	}
	if strings.HasPrefix(line, m[1]+" := ") {
		b.swap(c, m[1]+" := ", "_ = ", m[1]+" not declared")
	}
	b.swap(c, m[1], "_", m[1]+" not declared")
}

func (b *builder) noNew(c complaint, _ []string) { b.swap(c, ":=", "=", ":= → =") }

func (b *builder) compare(c complaint, _ []string) { b.swap(c, " = ", " == ", "= → ==") }

// convert makes a value of the type that is wanted.
func (b *builder) convert(c complaint, m []string) {
	for _, to := range []string{m[2] + "(" + m[1] + ")", "&" + m[1], "*" + m[1]} {
		b.swap(c, m[1], to, m[1]+" → "+to)
	}
}

// mismatch converts an operand to the type of the other.
func (b *builder) mismatch(c complaint, m []string) {
	x, op, y := m[1], " "+m[2]+" ", m[3]
	c.col = 1 // it points at either operand
	b.swap(c, x+op+y, x+op+m[4]+"("+y+")", "operand converted to "+m[4])
	b.swap(c, x+op+y, m[5]+"("+x+")"+op+y, "operand converted to "+m[5])
}

// syntax adds or takes away what ends a line.
func (b *builder) syntax(c complaint, _ []string) {
	lines := strings.Split(b.files[c.file], "\n")
	for _, n := range []int{c.line, c.line - 1} {
		if n < 1 || n > len(lines) {
			continue
		}
		for _, end := range []string{")", ",", " {", "}", "]", "("} {
			for how, with := range []string{lines[n-1] + end, strings.TrimSuffix(lines[n-1], end)} {
				after := slices.Clone(lines)
				after[n-1] = with
				text := strings.Join(after, "\n")
				if _, err := parser.ParseFile(token.NewFileSet(), c.file, text, parser.SkipObjectResolution); err == nil {
					b.add(c.file, text, []string{"with ", "without "}[how]+strings.TrimSpace(end)+" at the end")
				}
			}
		}
	}
}
