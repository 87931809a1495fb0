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
	"github.com/pawl-run/pawl/internal/display"
	"github.com/pawl-run/pawl/internal/wire"
)

// slack allows for the marker and prefix that a tool adds when it truncates a result itself.
const slack = 256

// maxNesting is how deep a result may nest: the log's limit, less the nesting of its entry.
const maxNesting = wire.MaxDepth - 100

// takeOutput writes a tool's output to e: valid, filtered, and within the tool's cap. Output beyond
// the cap goes to the journal's blobs, if it has any.
func takeOutput(r *recorder, e *pawl.ToolFinished, info *pawl.ToolInfo, out pawl.Output) {
	e.Truncated, e.Untrusted = out.Truncated, out.Untrusted
	e.Files = r.keepFiles(out.Files, info.MaxOutput)
	raw := bytes.Clone(out.JSON)
	switch {
	case raw == nil:
		raw = json.RawMessage("null")
	case !wire.Valid(raw, maxNesting):
		raw = wire.Quote(strings.ToValidUTF8(string(raw), "\uFFFD"))
	}
	raw = r.clean.json(raw)
	if len(raw) > info.MaxOutput+slack && !out.Truncated {
		text := string(raw)
		var inner string
		if json.Unmarshal(raw, &inner) == nil {
			text = inner
		}
		short, cut := display.Cut(text, info.MaxOutput)
		if cut {
			e.Truncated = true
			e.Blob = keepBlob(r, []byte(text))
		}
		raw = wire.Quote(short)
	}
	e.Result = raw
}

// keepBlob stores bytes apart from the log and returns their digest; "" if they could not be
// stored.
func keepBlob(r *recorder, data []byte) string {
	if r.host.blobs == nil {
		return ""
	}
	digest := digestOf(data)
	if err := r.host.blobs.PutBlob(context.Background(), digest, data); err != nil {
		r.log(slog.LevelWarn, "the whole of a result could not be kept; its excerpt stands", r.host.because(err))
		return ""
	}
	return digest
}

// digestOf returns the SHA-256 of data in lower-case hexadecimal.
func digestOf(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

// errorText returns an error's text for the model, within the tool's cap.
func errorText(r *recorder, text string, info *pawl.ToolInfo) string {
	text = strings.ToValidUTF8(r.clean.text(text), "\uFFFD")
	if len(text) > info.MaxOutput+slack {
		text, _ = display.Cut(text, info.MaxOutput)
	}
	return text
}

// handed is a result that somebody hands in for a call of a tool: filtered, and
// within the cap that the tool would be held to. The whole stays in the signal.
func handed(r *recorder, tool string, raw json.RawMessage) json.RawMessage {
	if len(raw) == 0 {
		return raw
	}
	info := declaredTool(r.state, tool)
	var e pawl.ToolFinished
	takeOutput(r, &e, &info, pawl.Output{JSON: raw})
	return e.Result
}

// declaredTool returns a tool as the run has declared it.
func declaredTool(s *pawl.State, name string) pawl.ToolInfo {
	for _, t := range s.Declaration().Tools {
		if t.Name == name {
			return t
		}
	}
	return pawl.ToolInfo{Name: name, MaxOutput: 16 << 10}
}
