package mcp

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/internal/media"
	"github.com/pawl-run/pawl/internal/wire"
)

// The bounds of a result's pictures.
const (
	mostImages     = 8
	mostImageBytes = 4 << 20 // of all of them
)

var imageTypes = []string{"image/png", "image/jpeg", "image/gif", "image/webp"}

// picture adds data as a picture if it is one by its bytes, whatever its server calls it.
func picture(out *pawl.Output, data []byte, left *int) bool {
	kind := media.Type(data)
	if len(out.Images) >= mostImages || len(data) > *left || !slices.Contains(imageTypes, kind) {
		return false
	}
	*left -= len(data)
	out.Images = append(out.Images, pawl.File{Type: kind, Data: data})
	return true
}

// output converts a result: structured content to JSON, else the texts to one text. Content
// that cannot be shown is named in its place.
func output(r *sdk.CallToolResult) (pawl.Output, error) {
	var out pawl.Output
	var texts []string
	left := mostImageBytes
	for _, c := range r.Content {
		switch c := c.(type) {
		case *sdk.TextContent:
			texts = append(texts, c.Text)
		case *sdk.ImageContent:
			if !picture(&out, c.Data, &left) {
				texts = append(texts, leftOut("a picture", c.MIMEType, len(c.Data)))
			}
		case *sdk.AudioContent:
			texts = append(texts, leftOut("audio", c.MIMEType, len(c.Data)))
		case *sdk.ResourceLink:
			texts = append(texts, strings.TrimSpace(fmt.Sprintf("[resource %s %s %s]", c.URI, c.Name, c.Description)))
		case *sdk.EmbeddedResource:
			if c.Resource == nil || !picture(&out, c.Resource.Blob, &left) {
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
