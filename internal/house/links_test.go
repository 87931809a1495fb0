package house

import (
	"fmt"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"unicode"
)

var (
	inlineCode = regexp.MustCompile("`[^`]*`")
	inlineLink = regexp.MustCompile(`\]\(\s*<?([^)\s>]+)>?(?:\s+"[^"]*")?\s*\)`)
	namedLink  = regexp.MustCompile(`^\s{0,3}\[[^\]]+\]:\s*<?([^\s>]+)>?`)
	htmlLink   = regexp.MustCompile(`\b(?:href|src)="([^"]+)"`)
	scheme     = regexp.MustCompile(`^[a-zA-Z][a-zA-Z0-9+.-]*:`)
	heading    = regexp.MustCompile(`^#{1,6}\s+(.*?)\s*#*$`)
	headName   = regexp.MustCompile(`!?\[([^\]]*)\](?:\([^)]*\)|\[[^\]]*\])?`)
)

// A link is where a line of a document points.
type link struct {
	line   int
	target string
}

// prose hands over the lines of a document that are outside fenced code, numbered from one.
func prose(text string, each func(n int, line string)) {
	fence := ""
	for i, line := range strings.Split(text, "\n") {
		trimmed := strings.TrimLeft(line, " \t>")
		switch {
		case fence != "":
			if strings.HasPrefix(trimmed, fence) {
				fence = ""
			}
		case strings.HasPrefix(trimmed, "```"), strings.HasPrefix(trimmed, "~~~"):
			fence = trimmed[:3]
		default:
			each(i+1, line)
		}
	}
}

// links lists what a document points to inside the repository.
func links(text string) []link {
	var found []link
	prose(text, func(n int, line string) {
		line = inlineCode.ReplaceAllString(line, "")
		for _, re := range []*regexp.Regexp{inlineLink, namedLink, htmlLink} {
			for _, m := range re.FindAllStringSubmatch(line, -1) {
				if !scheme.MatchString(m[1]) && !strings.HasPrefix(m[1], "//") {
					found = append(found, link{n, m[1]})
				}
			}
		}
	})
	return found
}

// anchors lists the fragments by which a document's headings can be reached,
// made the way code hosts make them: lower case, spaces as hyphens, other
// punctuation dropped, and a number for each repetition.
func anchors(text string) map[string]bool {
	found, seen := map[string]bool{}, map[string]int{}
	prose(text, func(_ int, line string) {
		m := heading.FindStringSubmatch(line)
		if m == nil {
			return
		}
		slug := strings.Map(func(r rune) rune {
			switch {
			case r == ' ':
				return '-'
			case r == '-', r == '_', unicode.IsLetter(r), unicode.IsDigit(r):
				return unicode.ToLower(r)
			}
			return -1
		}, headName.ReplaceAllString(m[1], "$1"))
		name := slug
		if n := seen[slug]; n > 0 {
			name = fmt.Sprintf("%s-%d", slug, n)
		}
		seen[slug]++
		found[name] = true
	})
	return found
}

// broken says what is wrong with a link of a document, or nothing.
func broken(root, from, target string) string {
	file, fragment, _ := strings.Cut(target, "#")
	to := from
	if file != "" {
		to = path.Join(path.Dir(from), file)
		if strings.HasPrefix(file, "/") {
			to = strings.TrimPrefix(path.Clean(file), "/")
		}
	}
	if to == ".." || strings.HasPrefix(to, "../") {
		return "leads out of the repository"
	}
	name := filepath.Join(root, filepath.FromSlash(to))
	if _, err := os.Stat(name); err != nil {
		return "leads to nothing"
	}
	if fragment == "" || !strings.HasSuffix(to, ".md") {
		return ""
	}
	text, err := os.ReadFile(name)
	if err != nil {
		return err.Error()
	}
	if !anchors(string(text))[fragment] {
		return "names a heading that is not there"
	}
	return ""
}

func TestLinks(t *testing.T) {
	tr := repository(t)
	documents := 0
	for _, name := range tr.files {
		if !strings.HasSuffix(name, ".md") {
			continue
		}
		documents++
		for _, l := range links(tr.read(t, name)) {
			if why := broken(tr.root, name, l.target); why != "" {
				t.Errorf("%s:%d: %s %s", name, l.line, l.target, why)
			}
		}
	}
	if documents == 0 {
		t.Error("no document was looked at")
	}
}
