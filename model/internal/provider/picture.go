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
	"github.com/pawl-run/pawl/internal/media"
)

// Limits are a provider's limits on pictures and other files. It refuses a
// request with a file outside them, and so every later request of the
// conversation. Zero is no limit.
type Limits struct {
	Types []string // media types of pictures
	Files []string // media types of other files; nil: it takes none
	Each  int      // bytes of one, in base64, which is what providers measure
	Side  int      // pixels of its longer side

	Count int // pictures in a request
	Total int // bytes of all files in base64; the rest of the request needs space, too

	// A request with more than Many pictures accepts only those with sides of
	// at most ManySide.
	Many, ManySide int
}

// Sent is what is sent for a file: the file with its actual type, or the reason
// why not.
type Sent struct {
	Type string
	Why  string // it is not sent; empty: it is
}

// Takes returns an error if a file of an input is not sent to the model; name is
// the model's.
func (l Limits) Takes(name string, files []pawl.File) error {
	for i, s := range l.Fit(files) {
		if s.Why != "" {
			return fmt.Errorf("%s cannot be sent to %s: %s", files[i].Name, name, s.Why)
		}
	}
	return nil
}

// Fit decides which files of a request, in order, are sent. If there are too
// many, the oldest are left out, those that a run was started with last, and
// more than necessary at once, so that the next few pictures change nothing
// before them: a provider's cache of a conversation ends at the first difference.
func (l Limits) Fit(pictures []pawl.File) []Sent {
	sent := make([]Sent, len(pictures))
	sides := make([]int, len(pictures))
	count, total := 0, 0
	for i, p := range pictures {
		sent[i], sides[i] = l.alone(p)
		if sent[i].Why == "" {
			if picture(p) {
				count++
			}
			total += encoded(p)
		}
	}
	tooMany := steps(count-l.Count, l.Count)
	tooMuch := steps(total-l.Total, l.Total)
	dropped, bytes := 0, 0
	drop := func(i int) {
		p := pictures[i]
		switch {
		case sent[i].Why != "":
			return
		case l.Count > 0 && dropped < tooMany && picture(p):
			sent[i].Why = fmt.Sprintf("an older one, and a request takes %d", l.Count)
		case l.Total > 0 && bytes < tooMuch:
			sent[i].Why = fmt.Sprintf("an older one, and a request takes %s of them", size(l.Total))
		default:
			return
		}
		if bytes += encoded(p); picture(p) {
			dropped++
			count--
		}
	}
	for _, attached := range []bool{false, true} {
		for i, p := range pictures {
			if (p.Blob != "") == attached {
				drop(i)
			}
		}
	}
	for i, p := range pictures {
		if picture(p) && sent[i].Why == "" && l.Many > 0 && count > l.Many && sides[i] > l.ManySide {
			sent[i].Why = fmt.Sprintf("%d pixels wide or high; with more than %d images the provider takes %d", sides[i], l.Many, l.ManySide)
		}
	}
	return sent
}

// alone checks a single file.
func (l Limits) alone(p pawl.File) (s Sent, side int) {
	s.Type = p.Type
	switch n := encoded(p); {
	case l.Total > 0 && n > l.Total:
		s.Why = fmt.Sprintf("it has %s in base64, and a request takes %s of files", size(n), size(l.Total))
		return s, 0
	case !picture(p):
		if !slices.Contains(l.Files, p.Type) {
			s.Why = fmt.Sprintf("the model does not take %s", Clip(p.Type))
		}
		return s, 0
	}
	config, kind, err := measure(p.Data)
	if err == nil {
		s.Type = kind
		side = max(config.Width, config.Height)
	}
	switch n := encoded(p); {
	case len(p.Data) == 0:
		s.Why = "it is empty"
	case err != nil && slices.Contains(readable, detect(p.Data)):
		s.Why = "its header cannot be read"
	case l.Types != nil && !slices.Contains(l.Types, s.Type):
		s.Why = fmt.Sprintf("the provider does not take %s", Clip(s.Type))
	case err != nil && slices.Contains(readable, s.Type):
		s.Why = fmt.Sprintf("it is no %s", s.Type)
	case l.Each > 0 && n > l.Each:
		s.Why = fmt.Sprintf("%s in base64, and the provider takes %s", size(n), size(l.Each))
	case l.Side > 0 && side > l.Side:
		s.Why = fmt.Sprintf("%d pixels wide or high, and the provider takes %d", side, l.Side)
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

// picture reports whether a file is one, as all that tools return are.
func picture(f pawl.File) bool { return f.Type != media.PDF && !strings.HasPrefix(f.Type, "audio/") }

// note stands in place of a file that is not sent.
func note(f pawl.File, why string) string {
	what := "image"
	if f.Name != "" {
		what = "file " + f.Name
	}
	return "[" + what + " left out: " + why + "]"
}

func encoded(p pawl.File) int { return base64.StdEncoding.EncodedLen(len(p.Data)) }

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
