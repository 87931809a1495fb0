package fetch

import (
	"cmp"
	"fmt"
	"net/url"
	"strings"
	"unicode/utf8"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
	"golang.org/x/text/encoding/charmap"
)

// decode converts a text to UTF-8 from one of the character sets of a byte a character. If no charset is given, the
// text is UTF-8 if valid, else Windows-1252, which browsers assume. The tables of the East Asian sets would make
// every program with this tool half a megabyte larger, for less than one page in a hundred.
func decode(body []byte, kind, charset string) (string, error) {
	if !textual(kind) {
		return "", fmt.Errorf("%s, which is not text", kind)
	}
	name := strings.NewReplacer(" ", "", "-", "", "_", "").Replace(strings.ToLower(charset))
	switch name {
	case "utf8":
		return strings.ToValidUTF8(string(body), "\ufffd"), nil
	case "", "ascii", "usascii", "latin1", "iso88591":
		name = "windows1252"
	}
	if charset == "" && utf8.Valid(body) {
		return string(body), nil
	}
	for _, set := range charmap.All {
		if set, ok := set.(*charmap.Charmap); ok && strings.NewReplacer(" ", "", "-", "").Replace(strings.ToLower(set.String())) == name {
			text, err := set.NewDecoder().Bytes(body)
			return string(text), err
		}
	}
	if utf8.Valid(body) {
		return string(body), nil
	}
	return "", fmt.Errorf("text in %s, which cannot be read; UTF-8 and the sets of a byte a character can", charset)
}

func textual(kind string) bool {
	switch kind {
	case "application/json", "application/xml", "application/javascript", "application/yaml", "application/toml", "application/x-sh", "application/sql":
		return true
	}
	return strings.HasPrefix(kind, "text/") || strings.HasSuffix(kind, "+json") || strings.HasSuffix(kind, "+xml")
}

// readable returns the title and the text of an HTML page: headings with #, items with -,
// links with their targets, and nothing that is hidden. It does no layout: the order is that
// of the source, and a table is its rows.
func readable(page string, base *url.URL) (title, text string) {
	w := &writer{}
	var hidden, pre int
	var inTitle bool
	var begin, link string
	tokens := html.NewTokenizer(strings.NewReader(page))
	for {
		kind := tokens.Next()
		if kind == html.ErrorToken || w.Len() > mostBody { // the end: a tokenizer accepts any text as HTML
			return strings.Join(strings.Fields(title), " "), strings.TrimSpace(w.String()) + "\n"
		}
		token := tokens.Token()
		open, end := kind == html.StartTagToken, kind == html.EndTagToken
		switch a := token.DataAtom; {
		case kind == html.TextToken && inTitle:
			title = cmp.Or(title, token.Data)
		case kind == html.TextToken && hidden == 0 && pre > 0:
			w.write(strings.TrimPrefix(token.Data, begin))
			begin = ""
		case kind == html.TextToken && hidden == 0:
			w.words(token.Data)
		case a == atom.Title:
			inTitle = open
		case unseen[a]:
			hidden = depth(hidden, open, end)
		case hidden > 0:
		case a == atom.Pre:
			pre, begin = depth(pre, open, end), "\n" // a line end that begins a block of it does not count
			w.block()
		case a == atom.A && open:
			link = strings.TrimSpace(attribute(token, "href")) // no link is within another
		case a == atom.A && end:
			w.write(target(link, base))
			link = ""
		case a == atom.Img:
			w.words(attribute(token, "alt"))
		case a == atom.Br:
			w.line()
		case a == atom.Td, a == atom.Th:
			w.words(" ")
		case open && headings[a] != "":
			w.block()
			w.write(headings[a])
		case open && a == atom.Li:
			w.line()
			w.write("- ")
		case lines[a]:
			w.line()
		case blocks[a]:
			w.block()
		}
	}
}

func depth(n int, open, end bool) int {
	switch {
	case open:
		return n + 1
	case end:
		return max(0, n-1)
	}
	return n
}

// What elements mean to a reader; see the HTML Standard, section 15.3.
var (
	unseen = map[atom.Atom]bool{
		atom.Script: true, atom.Style: true, atom.Noscript: true, atom.Template: true, atom.Svg: true, atom.Math: true,
		atom.Iframe: true, atom.Object: true, atom.Select: true, atom.Textarea: true,
	}
	headings = map[atom.Atom]string{atom.H1: "# ", atom.H2: "## ", atom.H3: "### ", atom.H4: "#### ", atom.H5: "##### ", atom.H6: "###### "}
	lines    = map[atom.Atom]bool{atom.Tr: true, atom.Dt: true, atom.Dd: true, atom.Li: true, atom.Option: true}
	blocks   = map[atom.Atom]bool{
		atom.P: true, atom.Div: true, atom.Section: true, atom.Article: true, atom.Header: true, atom.Footer: true, atom.Main: true,
		atom.Nav: true, atom.Aside: true, atom.Ul: true, atom.Ol: true, atom.Dl: true, atom.Table: true, atom.Blockquote: true,
		atom.Figure: true, atom.Figcaption: true, atom.Form: true, atom.Hr: true, atom.Address: true, atom.Details: true, atom.Summary: true,
		atom.H1: true, atom.H2: true, atom.H3: true, atom.H4: true, atom.H5: true, atom.H6: true,
	}
)

func attribute(t html.Token, name string) string {
	for _, a := range t.Attr {
		if a.Key == name {
			return a.Val
		}
	}
	return ""
}

// target says where a link leads, if it leads to another page.
func target(link string, base *url.URL) string {
	if link == "" || link[0] == '#' {
		return ""
	}
	to, err := base.Parse(link)
	if err != nil || to.Scheme != "http" && to.Scheme != "https" {
		return ""
	}
	to.Fragment = ""
	if to.String() == base.String() {
		return ""
	}
	return " (" + to.String() + ")"
}

// writer writes words in lines, with at most one empty line between them.
type writer struct {
	strings.Builder
	ends  int  // line ends that the text ends with
	space bool // white space is due before the next word
}

func (w *writer) write(text string) {
	if text == "" {
		return
	}
	if w.space && w.ends == 0 && w.Len() > 0 {
		w.WriteByte(' ')
	}
	w.WriteString(text)
	w.space, w.ends = false, len(text)-len(strings.TrimRight(text, "\n"))
}

// words writes a text whose white space has no meaning.
func (w *writer) words(text string) {
	fields := strings.Fields(text)
	if len(fields) == 0 {
		w.space = w.space || text != ""
		return
	}
	if strings.TrimLeft(text, " \t\r\n") != text {
		w.space = true
	}
	w.write(strings.Join(fields, " "))
	w.space = strings.TrimRight(text, " \t\r\n") != text
}

func (w *writer) line() {
	if w.Len() > 0 && w.ends == 0 {
		w.WriteByte('\n')
		w.ends = 1
	}
	w.space = false
}

func (w *writer) block() {
	w.line()
	if w.Len() > 0 && w.ends == 1 {
		w.WriteByte('\n')
		w.ends = 2
	}
}
