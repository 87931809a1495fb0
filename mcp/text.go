package mcp

import (
	"encoding/hex"
	"hash/fnv"
	"strings"
	"unicode"

	"github.com/pawl-run/pawl/internal/display"
)

// visible removes characters that a reader would not see: control characters, such as the
// first bytes of escape sequences, and the format characters of Unicode, which can hide or
// reverse text.
func visible(s string) string {
	return display.Without(strings.ToValidUTF8(s, "\uFFFD"), hidden)
}

func hidden(r rune) bool {
	switch {
	case r == '\n' || r == '\t':
		return false
	case r >= 0xE0100 && r <= 0xE01EF, r >= 0xFE00 && r <= 0xFE0F: // variation selectors
		return true
	}
	return unicode.IsControl(r) || unicode.In(r, unicode.Cf, unicode.Co, unicode.Zl, unicode.Zp)
}

// described returns a description in the form for the model.
func described(s string) string {
	const most = 4 << 10
	s = strings.TrimSpace(visible(s))
	if len(s) <= most {
		return s
	}
	return strings.ToValidUTF8(s[:most], "") + "… (cut)"
}

// mostName is the machine's bound for names of tools.
const mostName = 64

// named returns the name of a server's tool here. An invalid character becomes _, and a
// name that is too long ends in a digest of the whole.
func named(server, tool string) string {
	clean := strings.Map(func(r rune) rune {
		if r == '_' || r == '-' || r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' {
			return r
		}
		return '_'
	}, tool)
	name := server + "__" + clean
	if len(name) <= mostName {
		return name
	}
	sum := fnv.New32a()
	_, _ = sum.Write([]byte(tool)) // which never fails
	end := "_" + hex.EncodeToString(sum.Sum(nil))
	return name[:mostName-len(end)] + end
}
