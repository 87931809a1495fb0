package engine

import (
	"context"
	"log/slog"

	"github.com/pawl-run/pawl/internal/redact"
)

// log tells an operator what nobody else is told: what is returned as an error,
// or stands in the log of a run as its fate, is not said here as well.
func (e *Engine) log(level slog.Level, message, run string, attrs ...slog.Attr) {
	if e.opt.Log == nil {
		return
	}
	defer func() { _ = recover() }() // of a handler that panics nobody can be told
	if run != "" {
		attrs = append([]slog.Attr{slog.String("run", run)}, attrs...)
	}
	e.opt.Log.LogAttrs(context.Background(), level, message, attrs...)
}

// because is an error as it may be told.
func (e *Engine) because(err error) slog.Attr {
	return slog.String("error", redact.Text(e.secrets.Scrub(err.Error())))
}
