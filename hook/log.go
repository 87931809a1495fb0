package hook

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/engine"
	"github.com/pawl-run/pawl/internal/display"
	"github.com/pawl-run/pawl/internal/redact"
)

// Options set how much is logged. The zero value is right for most programs.
type Options struct {
	// Texts is how many characters of a text are logged: of messages, arguments and
	// results. Zero: 200; negative: none.
	Texts int
}

// Log logs the progress of runs for people, a line for each relevant entry, to l; nil is
// [slog.Default]. Failures, and runs that end without success, are warnings.
func Log(l *slog.Logger, o *Options) engine.Hook { return lines{newWriter(l, o)} }

type lines struct{ writer }

// Name returns "log".
func (lines) Name() string { return "log" }

// Entry logs the entry.
func (h lines) Entry(ctx context.Context, _ *pawl.State, e pawl.Entry) engine.Direction {
	if text := h.line(e.Event); text != "" {
		h.log.Log(ctx, level(e.Event), text, "run", e.Run, "iteration", e.Iteration)
	}
	return engine.Direction{}
}

// line returns the log line for an entry; empty: none.
func (w writer) line(event pawl.Event) string {
	switch e := event.(type) {
	case pawl.RunStarted:
		if c := e.Continues; c != nil && c.By != "" {
			return fmt.Sprintf("%s hands over to %s: %s", c.By, e.Declaration.Agent, w.text(c.Reason))
		}
		return fmt.Sprintf("%s begins: %s", e.Declaration.Agent, w.text(e.Input))
	case pawl.RunPaused:
		return fmt.Sprintf("%v: %s", e.Status, w.text(e.Reason))
	case pawl.RunResumed:
		return "goes on"
	case pawl.RunStopped:
		return fmt.Sprintf("%v: %s (%s)", e.Status, e.Condition, w.text(e.Detail))
	case pawl.CancelRequested:
		return fmt.Sprintf("%s asks %s to end: %s", e.By, cmp.Or(e.Call, "it"), w.text(e.Reason))
	case pawl.ModelReplied:
		return w.reply(e.Reply)
	case pawl.ModelFailed:
		text := fmt.Sprintf("the model call failed (%v): %s", e.Class, w.text(e.Message))
		if !e.RetryAt.IsZero() {
			text += "; next try at " + e.RetryAt.Format(time.RFC3339)
		}
		return text
	case pawl.PlanRejected:
		return "reply rejected: " + w.text(strings.Join(e.Reasons, "; "))
	case pawl.Observed:
		return "observed: " + w.text(e.Text)
	case pawl.Measured:
		return fmt.Sprintf("metric %g, open: %d", e.Value, len(e.Open))
	case pawl.ProgressLogged:
		return w.text(e.Message)
	}
	return w.call(event)
}

func (w writer) reply(r pawl.Reply) string {
	var calls []string
	for _, p := range r.Parts {
		if c, ok := p.(pawl.Call); ok {
			calls = append(calls, c.Tool)
		}
	}
	var parts []string
	if text := w.text(r.Text()); text != "" {
		parts = append(parts, "says "+text)
	}
	if calls != nil {
		parts = append(parts, "wants "+strings.Join(calls, ", "))
	}
	return strings.Join(parts, "; ")
}

// call returns the log line for the event of a call.
func (w writer) call(event pawl.Event) string {
	switch e := event.(type) {
	case pawl.ToolStarted:
		return fmt.Sprintf("%s %s %s", e.Call, e.Tool, w.json(e.Args))
	case pawl.ToolFinished:
		if e.Status == pawl.ToolOK {
			return fmt.Sprintf("%s %s: ok after %v: %s", e.Call, e.Tool, e.Duration.Round(time.Millisecond), w.json(e.Result))
		}
		return fmt.Sprintf("%s %s: %v after %v: %s", e.Call, e.Tool, e.Status, e.Duration.Round(time.Millisecond), w.text(e.Error))
	case pawl.ToolReused:
		return fmt.Sprintf("%s %s: the result of %s is used again", e.Call, e.Tool, e.Of)
	case pawl.ToolRefused:
		return fmt.Sprintf("%s %s: refused: %s", e.Call, e.Tool, w.text(e.Why))
	case pawl.ToolDoubted:
		return fmt.Sprintf("%s %s: in doubt: %s", e.Call, e.Tool, w.text(e.Why))
	case pawl.ApprovalRequested:
		return fmt.Sprintf("%s %s %s needs approval: %s", e.Call, e.Tool, w.json(e.Args), w.text(e.Reason))
	case pawl.ApprovalDecided:
		if e.Approved {
			return fmt.Sprintf("%s: approved by %s%s", e.Call, e.By, display.After(", permission ", e.Permission))
		}
		return fmt.Sprintf("%s: denied by %s: %s", e.Call, e.By, w.text(e.Reason))
	case pawl.InputRequested:
		return fmt.Sprintf("%s asks: %s", e.Call, w.text(e.Question))
	case pawl.InputGiven:
		if e.Call == "" {
			return fmt.Sprintf("a message by %s: %s", e.By, w.text(e.Text))
		}
		return fmt.Sprintf("%s is answered: %s", e.Call, w.text(e.Text))
	}
	return ""
}

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

// writer is a logger with the number of characters of a text that it logs.
type writer struct {
	log  *slog.Logger
	most int
}

const usual = 200

func newWriter(l *slog.Logger, o *Options) writer {
	w := writer{l, usual}
	if l == nil {
		w.log = slog.Default()
	}
	if o != nil && o.Texts != 0 {
		w.most = max(o.Texts, 0)
	}
	return w
}

// text returns the part of a text that is logged, on one line. The text is redacted before it is
// truncated, since half a key is not recognised.
func (w writer) text(s string) string {
	if w.most == 0 || s == "" {
		return ""
	}
	s = strings.Join(strings.Fields(redact.Text(s)), " ")
	if utf8.RuneCountInString(s) > w.most {
		s = string([]rune(s)[:w.most]) + "…"
	}
	return s
}

// json is text for a JSON value. A string is logged as its text.
func (w writer) json(raw json.RawMessage) string {
	if w.most == 0 || len(raw) == 0 {
		return ""
	}
	var text string
	if raw[0] == '"' && json.Unmarshal(raw, &text) == nil {
		return w.text(text)
	}
	return w.text(string(redact.JSON(raw)))
}

// level is how much an entry matters: an event that only prepares or remembers is for debugging, a
// failure that is handled a warning, a failed run an error.
func level(event pawl.Event) slog.Level {
	switch e := event.(type) {
	case pawl.RunStopped:
		switch e.Status {
		case pawl.StatusSuccess:
			return slog.LevelInfo
		case pawl.StatusFailed:
			return slog.LevelError
		}
		return slog.LevelWarn
	case pawl.ToolFinished:
		if e.Status == pawl.ToolOK {
			return slog.LevelInfo
		}
		return slog.LevelWarn
	case pawl.Observed:
		if e.Failed {
			return slog.LevelWarn
		}
		return slog.LevelInfo
	case pawl.ModelFailed, pawl.PlanRejected, pawl.ToolRefused, pawl.ToolDoubted, pawl.CancelRequested,
		pawl.ApprovalExpired, pawl.ApprovalInvalidated:
		return slog.LevelWarn
	case pawl.ModelCalled, pawl.ToolStarted, pawl.Noted, pawl.ContextCompacted, pawl.MemoryStored:
		return slog.LevelDebug
	}
	return slog.LevelInfo
}
