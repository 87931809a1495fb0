package provider

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"image"
	_ "image/gif"  // decodes sizes of pictures
	_ "image/jpeg" // likewise
	_ "image/png"  // likewise
	"net/http"
	"slices"
	"strings"

	"github.com/pawl-run/pawl"
)

// Limits are a provider's limits on pictures. It refuses a request with a
// picture outside them, and so every later request of the conversation. Zero is
// no limit.
type Limits struct {
	Types []string // media types
	Each  int      // bytes of one, in base64, which is what providers measure
	Side  int      // pixels of its longer side

	Count int // pictures in a request
	Total int // bytes of all of them in base64; the rest of the request needs space, too

	// A request with more than Many pictures accepts only those with sides of
	// at most ManySide.
	Many, ManySide int
}

// Sent is what is sent for a picture: the picture with its actual type, or a
// note with the reason why not.
type Sent struct {
	Type string
	Note string // empty: the picture is sent
}

// Fit decides which pictures of a request, in order, are sent. If there are too
// many, the oldest are left out, and more than necessary at once, so that the
// next few pictures change nothing before them: a provider's cache of a
// conversation ends at the first difference.
func (l Limits) Fit(pictures []pawl.Image) []Sent {
	sent := make([]Sent, len(pictures))
	sides := make([]int, len(pictures))
	count, total := 0, 0
	for i, p := range pictures {
		sent[i], sides[i] = l.alone(p)
		if sent[i].Note == "" {
			count++
			total += encoded(p)
		}
	}
	tooMany := steps(count-l.Count, l.Count)
	tooMuch := steps(total-l.Total, l.Total)
	dropped, bytes := 0, 0
	for i, p := range pictures {
		switch {
		case sent[i].Note != "":
			continue
		case l.Count > 0 && dropped < tooMany:
			sent[i].Note = note("an older one, and a request takes %d", l.Count)
		case l.Total > 0 && bytes < tooMuch:
			sent[i].Note = note("an older one, and a request takes %s of them", size(l.Total))
		default:
			continue
		}
		dropped++
		count--
		bytes += encoded(p)
	}
	for i := range pictures {
		if sent[i].Note == "" && l.Many > 0 && count > l.Many && sides[i] > l.ManySide {
			sent[i].Note = note("%d pixels wide or high; with more than %d images the provider takes %d", sides[i], l.Many, l.ManySide)
		}
	}
	return sent
}

// alone checks a single picture.
func (l Limits) alone(p pawl.Image) (s Sent, side int) {
	s.Type = p.Type
	config, kind, err := measure(p.Data)
	if err == nil {
		s.Type = kind
		side = max(config.Width, config.Height)
	}
	switch n := encoded(p); {
	case len(p.Data) == 0:
		s.Note = note("it is empty")
	case err != nil && slices.Contains(readable, detect(p.Data)):
		s.Note = note("its header cannot be read")
	case l.Types != nil && !slices.Contains(l.Types, s.Type):
		s.Note = note("the provider does not take %s", Clip(s.Type))
	case err != nil && slices.Contains(readable, s.Type):
		s.Note = note("it is no %s", s.Type)
	case l.Each > 0 && n > l.Each:
		s.Note = note("%s in base64, and the provider takes %s", size(n), size(l.Each))
	case l.Side > 0 && side > l.Side:
		s.Note = note("%d pixels wide or high, and the provider takes %d", side, l.Side)
	}
	return s, side
}

// steps rounds an excess up to whole quarters of the limit.
func steps(excess, limit int) int {
	if excess <= 0 || limit <= 0 {
		return 0
	}
	step := max(1, limit/4)
	return (excess + step - 1) / step * step
}

func note(format string, args ...any) string {
	return "[image left out: " + fmt.Sprintf(format, args...) + "]"
}

func encoded(p pawl.Image) int { return base64.StdEncoding.EncodedLen(len(p.Data)) }

func size(n int) string { return fmt.Sprintf("%.1f MB", float64(n)/(1<<20)) }

// readable are the types whose size can be determined.
var readable = []string{"image/png", "image/jpeg", "image/gif", "image/webp"}

func detect(data []byte) string { return http.DetectContentType(data) }

// measure reads a picture's size and actual type from its header.
func measure(data []byte) (image.Config, string, error) {
	if c, ok := webp(data); ok {
		return c, "image/webp", nil
	}
	c, kind, err := image.DecodeConfig(bytes.NewReader(data))
	return c, "image/" + strings.ToLower(kind), err
}

// webp reads the size from the first chunk of a WebP file (RFC 9649, 2.5 to
// 2.7), which the standard library does not support.
func webp(d []byte) (image.Config, bool) {
	if len(d) < 30 || string(d[:4]) != "RIFF" || string(d[8:12]) != "WEBP" {
		return image.Config{}, false
	}
	at := func(i int) int { return int(binary.LittleEndian.Uint16(d[i:])) }
	switch string(d[12:16]) {
	case "VP8 ": // lossy: after the frame tag and the start code
		if d[23] == 0x9d && d[24] == 0x01 && d[25] == 0x2a {
			return image.Config{Width: at(26) & 0x3fff, Height: at(28) & 0x3fff}, true
		}
	case "VP8L": // lossless: after the signature, 14 bits each, less one
		if d[20] == 0x2f {
			bits := binary.LittleEndian.Uint32(d[21:])
			return image.Config{Width: int(bits&0x3fff) + 1, Height: int(bits>>14&0x3fff) + 1}, true
		}
	case "VP8X": // extended: 24 bits each, less one
		return image.Config{Width: (at(24) | int(d[26])<<16) + 1, Height: (at(27) | int(d[29])<<16) + 1}, true
	}
	return image.Config{}, false
}
