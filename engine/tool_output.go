package engine

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"log/slog"
	"strings"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/internal/excerpt"
	"github.com/pawl-run/pawl/internal/jsonin"
	"github.com/pawl-run/pawl/internal/wire"
)

// slack spares what a tool cut to size itself: the marker and a prefix come on top.
const slack = 256

// maxNesting is how deep a result may nest: the log's limit, less what stands around it.
const maxNesting = wire.MaxDepth - 100

// takeOutput writes a tool's output to e: valid, filtered, and within the tool's
// cap. What is beyond the cap goes to the journal's blobs, where it has any.
func takeOutput(r *recorder, e *pawl.ToolFinished, info *pawl.ToolInfo, out pawl.Output) {
	e.Truncated = out.Truncated
	for _, i := range out.Images { // the tool may go on writing into its own
		e.Images = append(e.Images, pawl.Image{Type: i.Type, Data: bytes.Clone(i.Data)})
	}
	raw := bytes.Clone(out.JSON)
	switch {
	case raw == nil:
		raw = json.RawMessage("null")
	case !wire.Valid(raw, maxNesting):
		raw = jsonin.Quote(strings.ToValidUTF8(string(raw), "\uFFFD"))
	}
	raw = r.clean.json(raw)
	if len(raw) > info.MaxOutput+slack && !out.Truncated {
		text := string(raw)
		var inner string
		if json.Unmarshal(raw, &inner) == nil {
			text = inner
		}
		short, cut := excerpt.Cut(text, info.MaxOutput)
		if cut {
			e.Truncated = true
			e.Blob = keepBlob(r, []byte(text))
		}
		raw = jsonin.Quote(short)
	}
	e.Result = raw
}

// keepBlob stores bytes apart from the log and returns their digest; empty when
// they could not be stored.
func keepBlob(r *recorder, data []byte) string {
	if r.engine.blobs == nil {
		return ""
	}
	digest := digestOf(data)
	if err := r.engine.blobs.PutBlob(context.Background(), digest, data); err != nil {
		r.log(slog.LevelWarn, "the whole of a result could not be kept; its excerpt stands", r.engine.because(err))
		return ""
	}
	return digest
}

// digestOf is the lower-case hex SHA-256 of data.
func digestOf(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

// errorText is an error's text for the model, within the tool's cap.
func errorText(r *recorder, text string, info *pawl.ToolInfo) string {
	text = strings.ToValidUTF8(r.clean.text(text), "\uFFFD")
	if len(text) > info.MaxOutput+slack {
		text, _ = excerpt.Cut(text, info.MaxOutput)
	}
	return text
}
