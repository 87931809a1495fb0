package hook

import (
	"context"
	"encoding/json"
	"log/slog"
	"maps"
	"slices"
	"strings"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/engine"
)

// Records logs a record for every entry to l; nil is [slog.Default]. The message is the entry's
// type. Its attributes are run, seq, at, entry_time and iteration, and the members of the entry's
// data that have a value, such as call, tool, status and cost_usd, with texts and documents as
// configured by Options.
func Records(l *slog.Logger, o *Options) engine.Hook { return records{newWriter(l, o)} }

type records struct{ writer }

// Name returns "records".
func (records) Name() string { return "records" }

// Entry logs the entry.
func (h records) Entry(ctx context.Context, _ *pawl.State, e pawl.Entry) engine.Direction {
	lvl := level(e.Event)
	if !h.log.Enabled(ctx, lvl) {
		return engine.Direction{}
	}
	attrs := []slog.Attr{
		slog.String("run", e.Run), slog.Uint64("seq", e.Seq), slog.Uint64("at", e.At),
		slog.Time("entry_time", e.Time), slog.Int("iteration", e.Iteration),
	}
	h.log.LogAttrs(ctx, lvl, e.Type(), append(attrs, h.members(e)...)...)
	return engine.Direction{}
}

// words are the members that are logged whole however short texts are.
var words = map[string]bool{
	"agent": true, "model": true, "purpose": true, "class": true, "leaf": true, "call": true, "tool": true, "effect": true, "status": true,
	"of": true, "by": true, "decision": true, "name": true, "child": true,
}

// members returns the members of an entry's data that have a value, by their names.
func (w writer) members(e pawl.Entry) (list []slog.Attr) {
	line, err := e.AppendJSON(nil)
	if err != nil {
		return nil
	}
	var in struct{ Data map[string]json.RawMessage }
	if err := json.Unmarshal(line, &in); err != nil {
		return nil
	}
	for _, name := range slices.Sorted(maps.Keys(in.Data)) {
		raw := in.Data[name]
		switch {
		case words[name]:
			var word string
			if json.Unmarshal(raw, &word) == nil && word != "" {
				list = append(list, slog.String(name, word))
			}
		case strings.ContainsRune(`"{[`, rune(raw[0])):
			if text := w.json(raw); text != "" && text != "{}" && text != "[]" {
				list = append(list, slog.String(name, text))
			}
		case raw[0] == 't' || raw[0] == 'f':
			list = append(list, slog.Bool(name, raw[0] == 't'))
		case string(raw) != "null":
			list = append(list, slog.Any(name, json.Number(raw)))
		}
	}
	return list
}
