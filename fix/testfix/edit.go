package testfix

import (
	"fmt"
	"go/parser"
	"go/token"
	"strings"

	"github.com/pawl-run/pawl/internal/beneath"
)

// edit replaces the only occurrence of a text in a file.
func (f *files) edit(name, from, to string) (string, error) {
	name, err := beneath.Local(name)
	if err != nil {
		return "", err
	}
	if err := f.writable(name); err != nil {
		return "", err
	}
	data, perm, err := f.read(name)
	if err != nil {
		return "", err
	}
	before := string(data)
	at, err := beneath.Place(name, before, from, to)
	if err != nil {
		return "", err
	}
	after := before[:at] + to + before[at+len(from):]
	if len(after) > beneath.Largest {
		return "", fmt.Errorf("%s would become larger than %d bytes", name, beneath.Largest)
	}
	if err := f.write(name, []byte(after), perm); err != nil {
		return "", err
	}
	line := 1 + strings.Count(before[:at], "\n")
	text := fmt.Sprintf("%s: replaced at line %d", name, line)
	if strings.HasSuffix(name, ".go") {
		if why := parses(name, after); why != nil && parses(name, before) == nil {
			text += fmt.Sprintf("; it does not parse any more: %v", why)
		}
	}
	return text, nil
}

func parses(name, src string) error {
	_, err := parser.ParseFile(token.NewFileSet(), name, src, parser.SkipObjectResolution)
	return err
}
