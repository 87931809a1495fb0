package project

import (
	"fmt"
	"go/parser"
	"go/token"
	"strings"

	"github.com/pawl-run/pawl/internal/beneath"
)

// Edit replaces the only occurrence of a text in a file.
func (f *Files) Edit(name, from, to string) (string, error) {
	name, err := beneath.Local(name)
	if err != nil {
		return "", err
	}
	if err := f.Writable(name); err != nil {
		return "", err
	}
	data, perm, err := f.Read(name)
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
	if err := f.Write(name, []byte(after), perm); err != nil {
		return "", err
	}
	line := 1 + strings.Count(before[:at], "\n")
	text := fmt.Sprintf("%s: replaced at line %d", name, line)
	if strings.HasSuffix(name, ".go") {
		if why := Parses(name, after); why != nil && Parses(name, before) == nil {
			text += fmt.Sprintf("; it does not parse any more: %v", why)
		}
	}
	return text, nil
}

// Parses returns why a Go file does not parse.
func Parses(name, src string) error {
	_, err := parser.ParseFile(token.NewFileSet(), name, src, parser.SkipObjectResolution)
	return err
}
