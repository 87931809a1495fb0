package cli

import (
	"errors"
	"strings"
)

// words splits a command into words as a shell would, with quotes and backslashes only.
func words(text string) ([]string, error) {
	var out []string
	var word strings.Builder
	open, begun := rune(0), false
	escaped := false
	for _, r := range text {
		switch {
		case escaped:
			word.WriteRune(r)
			escaped = false
		case r == '\\' && open != '\'':
			escaped, begun = true, true
		case open != 0 && r == open:
			open = 0
		case open != 0:
			word.WriteRune(r)
		case r == '\'' || r == '"':
			open, begun = r, true
		case r == ' ' || r == '\t' || r == '\n':
			if begun {
				out = append(out, word.String())
				word.Reset()
				begun = false
			}
		default:
			word.WriteRune(r)
			begun = true
		}
	}
	if open != 0 || escaped {
		return nil, errors.New("a quote is not closed")
	}
	if begun {
		out = append(out, word.String())
	}
	if len(out) == 0 {
		return nil, errors.New("the command is empty")
	}
	return out, nil
}
