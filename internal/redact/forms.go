package redact

import (
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/url"
	"strings"
	"unicode/utf16"
)

// forms lists how a value may stand in a text: as it is and escaped, and, apart
// from these, in encodings whose lines are broken at will.
func forms(value string) (plain, coded []string) {
	plain = append(plain, value)
	for _, escaped := range escapes(value) {
		plain = append(plain, escaped)
		plain = append(plain, escapes(escaped)...) // a document in a string of another
	}
	for _, escaped := range []string{url.QueryEscape(value), url.PathEscape(value), strings.ReplaceAll(url.QueryEscape(value), "+", "%20")} {
		plain = append(plain, escaped, lowerPercent(escaped))
	}
	plain = append(plain, named.Replace(value))
	sum := hex.EncodeToString([]byte(value))
	coded = append(coded, sum, strings.ToUpper(sum))
	return plain, append(coded, encoded64(value)...)
}

// named are the characters that HTML escapes by name.
var named = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", `"`, "&quot;", "'", "&apos;")

// escapes are the ways in which programs write a string of JSON: they may
// escape <, > and &, what is not ASCII, and slashes.
func escapes(value string) (all []string) {
	whole, err := json.Marshal(value)
	if err != nil {
		return nil // a Go string always marshals
	}
	careful := string(whole[1 : len(whole)-1])
	bare := strings.NewReplacer(`\u003c`, "<", `\u003e`, ">", `\u0026`, "&").Replace(careful)
	for _, e := range []string{careful, bare, ascii(bare, "%04x"), ascii(bare, "%04X")} {
		all = append(all, e, strings.ReplaceAll(e, "/", `\/`))
	}
	return all
}

// ascii writes what is not ASCII as JSON escapes.
func ascii(s, digits string) string {
	var b strings.Builder
	for _, r := range s {
		if r < 0x80 {
			b.WriteRune(r)
			continue
		}
		for _, unit := range utf16.Encode([]rune{r}) {
			fmt.Fprintf(&b, `\u`+digits, unit)
		}
	}
	return b.String()
}

// lowerPercent writes the digits of percent-encoding in lower case.
func lowerPercent(s string) string {
	b := []byte(s)
	for i := 0; i+2 < len(b); i++ {
		if b[i] == '%' {
			copy(b[i+1:i+3], strings.ToLower(string(b[i+1:i+3])))
			i += 2
		}
	}
	return string(b)
}

// encoded64 lists what of a value's base64 does not depend on what stands
// before and after it. A character holds six bits, a group of four three bytes,
// so there are three ways in which a value can lie in them (RFC 4648, section
// 4). Where the value ends the data, its last character and the padding go too.
func encoded64(value string) (all []string) {
	for before, skip := range []int{0, 2, 3} {
		data := append(make([]byte, before), value...)
		whole := len(data) * 8 / 6
		for _, coding := range []*base64.Encoding{base64.RawStdEncoding, base64.RawURLEncoding} {
			text := coding.EncodeToString(data)
			all = append(all, text[skip:whole])
			if len(text) > whole {
				all = append(all, text[skip:], text[skip:]+strings.Repeat("=", (4-len(text)%4)%4))
			}
		}
	}
	return all
}
