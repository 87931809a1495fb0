package guard

import (
	"encoding/base64"
	hexadecimal "encoding/hex"
	"html"
	"iter"
	"strings"
	"unicode"
	"unicode/utf8"
)

// hiddenIn yields the decoded forms of a text, such as base64, with the name of
// the encoding. A value without a trusted source is held whether or not it is
// found here. What is found shows a person where the value comes from, and
// shows that untrusted text also names a value that a trusted tool knows.
func hiddenIn(text string) iter.Seq2[string, string] {
	return func(yield func(string, string) bool) {
		bare := strings.Map(func(r rune) rune {
			switch {
			case unicode.Is(unicode.Cf, r):
				return -1
			case r >= 0xFF01 && r <= 0xFF5E: // the ASCII characters in full width
				return r - 0xFF01 + '!'
			}
			return r
		}, text)
		if bare != text && !yield("with characters that no screen shows", bare) {
			return
		}
		if entities := html.UnescapeString(bare); entities != bare && !yield("in HTML", entities) {
			return
		}
		if strings.Contains(bare, "%") {
			if plain := percents(bare); plain != bare && !yield("percent-encoded", plain) {
				return
			}
		}
		for _, token := range strings.FieldsFunc(bare, func(r rune) bool {
			return r >= utf8.RuneSelf || !alnum(byte(r)) && !strings.ContainsRune("+/=_-", r)
		}) {
			const short = 8
			if len(token) < short {
				continue
			}
			if inner, err := hexadecimal.DecodeString(token); err == nil && legible(inner) {
				if !yield("in hexadecimal", string(inner)) {
					return
				}
				continue
			}
			letters := strings.TrimRight(token, "=")
			for _, base := range []*base64.Encoding{base64.RawStdEncoding, base64.RawURLEncoding} {
				if inner, err := base.DecodeString(letters); err == nil && legible(inner) {
					if !yield("in base64", string(inner)) {
						return
					}
					break
				}
			}
		}
	}
}

// percents decodes percent-encoding (RFC 3986, section 2.1).
func percents(text string) string {
	var b strings.Builder
	for i := 0; i < len(text); i++ {
		if text[i] == '%' && i+2 < len(text) {
			if c, err := hexadecimal.DecodeString(text[i+1 : i+3]); err == nil {
				b.WriteByte(c[0])
				i += 2
				continue
			}
		}
		b.WriteByte(text[i])
	}
	return b.String()
}

// legible reports whether bytes are text.
func legible(b []byte) bool {
	if !utf8.Valid(b) {
		return false
	}
	for _, r := range string(b) {
		if !unicode.IsPrint(r) && !unicode.IsSpace(r) {
			return false
		}
	}
	return true
}
