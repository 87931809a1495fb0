package hook

import (
	"encoding/json"
	"log/slog"
	"strings"
	"unicode/utf8"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/internal/redact"
)

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
