package mcp

import (
	"cmp"
	"encoding/hex"
	"errors"
	"fmt"
	"hash/fnv"
	"path"
	"slices"
	"strings"
	"unicode"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/internal/display"
	"github.com/pawl-run/pawl/internal/media"
	"github.com/pawl-run/pawl/internal/wire"
)

// The bounds of a result's pictures, which the log has with their data, and the types of those that
// stand in it.
const (
	mostImages     = 8
	mostImageBytes = 4 << 20 // of all of them
)

var imageTypes = []string{"image/png", "image/jpeg", "image/gif", "image/webp"}

// files collects the files of a result.
type files struct {
	all           []pawl.File
	images, bytes int
}

// add adds a file and reports whether there was room. Its bytes say whether it is a picture, whatever
// its server calls it.
func (f *files) add(name, said string, data []byte) bool {
	kind := media.Type(data)
	picture := slices.Contains(imageTypes, kind)
	switch {
	case len(data) == 0, display.Picture(kind) && !picture, display.Picture(media.Named(said)) && !picture:
		return false
	case picture && (f.images == mostImages || f.bytes+len(data) > mostImageBytes):
		return false
	case picture:
		f.images, f.bytes, said = f.images+1, f.bytes+len(data), kind
	}
	f.all = append(f.all, pawl.File{Name: name, Type: visible(said), Data: data})
	return true
}

// output converts a result: structured content to JSON, else the texts to one text. Content
// that cannot be shown is named in its place.
func output(r *sdk.CallToolResult) (pawl.Output, error) {
	var out pawl.Output
	var texts []string
	var files files
	for _, c := range r.Content {
		switch c := c.(type) {
		case *sdk.TextContent:
			texts = append(texts, c.Text)
		case *sdk.ImageContent:
			if !files.add("", c.MIMEType, c.Data) {
				texts = append(texts, leftOut("a picture", c.MIMEType, len(c.Data)))
			}
		case *sdk.AudioContent:
			if !files.add("sound", c.MIMEType, c.Data) {
				texts = append(texts, leftOut("audio", c.MIMEType, len(c.Data)))
			}
		case *sdk.ResourceLink:
			texts = append(texts, strings.TrimSpace(fmt.Sprintf("[resource %s %s %s]", c.URI, c.Name, c.Description)))
		case *sdk.EmbeddedResource:
			if r := c.Resource; r == nil || !files.add(path.Base(visible(r.URI)), r.MIMEType, r.Blob) {
				texts = append(texts, embedded(c))
			}
		default:
			texts = append(texts, fmt.Sprintf("[content of the kind %T left out]", c))
		}
	}
	text := strings.Join(texts, "\n\n")
	exact, structured := r.Meta[exactMeta].(string)
	if r.IsError {
		if strings.TrimSpace(text) == "" {
			text = cmp.Or(exact, "the tool failed and did not say why")
		}
		return pawl.Output{}, errors.New(text)
	}
	var err error
	out.Files = files.all
	if structured {
		out.JSON = wire.Compact([]byte(exact))
	} else {
		out.JSON, err = wire.Marshal(text)
	}
	return out, err
}

func embedded(c *sdk.EmbeddedResource) string {
	switch r := c.Resource; {
	case r == nil:
		return "[an empty resource]"
	case r.Text != "":
		return fmt.Sprintf("[resource %s]\n%s", r.URI, r.Text)
	default:
		return leftOut("resource "+r.URI, r.MIMEType, len(r.Blob))
	}
}

func leftOut(what, kind string, size int) string {
	return fmt.Sprintf("[%s left out: %s, %d bytes]", what, kind, size)
}

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
