// Package media looks at files: of what media type they are, and about how many
// tokens a provider counts for them.
package media

import (
	"bytes"
	"encoding/binary"
	"net/http"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Text is the type of every text.
const Text = "text/plain"

// PDF is the type of a document in the Portable Document Format.
const PDF = "application/pdf"

// Bounds of the files of an input, and of those of a result.
const (
	MostFiles = 50       // how many
	MostBytes = 32 << 20 // of all together
)

// Type returns the media type of data, by its first bytes; empty: it is none that a
// model gets.
func Type(data []byte) string {
	switch {
	case len(data) == 0:
		return ""
	case bytes.HasPrefix(data, []byte("fLaC")):
		return "audio/flac"
	case len(data) > 12 && string(data[4:8]) == "ftyp":
		return brand(string(data[8:12]))
	case len(data) > 2 && data[0] == 0xff && data[1]&0xf6 == 0xf0:
		return "audio/aac"
	case len(data) > 2 && data[0] == 0xff && data[1]&0xe6 == 0xe2: // a frame without a tag before it
		return "audio/mpeg"
	}
	kind, _, _ := strings.Cut(http.DetectContentType(data), ";")
	kind = Named(kind)
	family, _, _ := strings.Cut(kind, "/")
	switch {
	case kind == PDF, family == "image" && kind != "image/x-icon", family == "audio" && kind != "audio/basic" && kind != "audio/midi":
		return kind
	case utf8.Valid(data) && bytes.IndexByte(data, 0) < 0:
		return Text
	}
	return ""
}

// Contradicts reports whether a file that is said to be of a type is certainly of another.
func Contradicts(kind, said string) bool {
	said = Named(said)
	family, _, _ := strings.Cut(said, "/")
	return said != kind && (said == Text || said == PDF || family == "image" || family == "audio")
}

// brand is the type of a file of the ISO base media format, by its main brand.
func brand(name string) string {
	switch name {
	case "heic", "heix":
		return "image/heic"
	case "mif1", "heif":
		return "image/heif"
	case "M4A ", "M4B ":
		return "audio/mp4"
	}
	return ""
}

// Named returns a media type under the name that is used here, without parameters.
// A text of any kind is [Text].
func Named(kind string) string {
	kind, _, _ = strings.Cut(strings.ToLower(kind), ";")
	switch kind = strings.TrimSpace(kind); kind {
	case "image/jpg":
		return "image/jpeg"
	case "audio/wave", "audio/x-wav", "audio/vnd.wave":
		return "audio/wav"
	case "audio/mp3", "audio/x-mp3":
		return "audio/mpeg"
	case "application/ogg", "audio/opus":
		return "audio/ogg"
	case "audio/x-flac":
		return "audio/flac"
	case "audio/x-aiff":
		return "audio/aiff"
	case "audio/m4a", "audio/x-m4a":
		return "audio/mp4"
	case "image/svg+xml", "application/json", "application/xml", "application/yaml", "application/javascript":
		return Text
	}
	if strings.HasPrefix(kind, "text/") {
		return Text
	}
	return kind
}

// Name returns the last element of a name, without what is no character of the name of a file on
// every system: it leads nowhere else and cannot be taken for another.
func Name(name string) string {
	name = name[strings.LastIndexAny(name, `/\`)+1:]
	name = strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) || strings.ContainsRune(`:*?"<>|`, r) {
			return '_'
		}
		return r
	}, name)
	const most = 100
	name = strings.Trim(strings.ToValidUTF8(name[max(0, len(name)-most):], ""), ". ") // its end has the kind
	if name == "" {
		return "file"
	}
	return name
}

// What providers count: for a picture about the most of a common size, for a page of a
// document the upper end that Anthropic names for its text, for a second of sound what
// Google counts.
const (
	pictureTokens = 1600
	pageTokens    = 3000
	secondTokens  = 32
)

// Tokens returns about the most tokens that a provider counts for a file that is no text.
func Tokens(kind string, data []byte) int {
	switch {
	case kind == PDF:
		return pageTokens * pages(data)
	case strings.HasPrefix(kind, "audio/"):
		return secondTokens * seconds(kind, data)
	}
	return pictureTokens
}

// seconds returns about the most seconds that a sound has: by its header, or by what the
// lowest common rate of its format would make of its size.
func seconds(kind string, data []byte) int {
	rate := 2000 // bytes a second: speech in Opus or AAC
	switch kind {
	case "audio/wav":
		rate = 8000
		if len(data) >= 32 { // the usual place of the rate
			if said := int(binary.LittleEndian.Uint32(data[28:])); said > 0 {
				rate = said
			}
		}
	case "audio/aiff":
		rate = 8000
	case "audio/flac", "audio/mpeg":
		rate = 4000
	}
	return len(data)/rate + 1
}
