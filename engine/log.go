package engine

import (
	"context"
	"log/slog"

	"github.com/pawl-run/pawl/internal/redact"
)

// log writes to the operator's log. What is returned as an error, or is in a run's log, is
// not written here too.
func (e *Engine) log(level slog.Level, message, run string, attrs ...slog.Attr) {
	if e.opt.Log == nil {
		return
	}
	defer func() { _ = recover() }() // of a log handler; there is no other log
	if run != "" {
		attrs = append([]slog.Attr{slog.String("run", run)}, attrs...)
	}
	e.opt.Log.LogAttrs(context.Background(), level, message, attrs...)
}

// because returns an error as an attribute, without secrets.
func (e *Engine) because(err error) slog.Attr {
	return slog.String("error", redact.Text(e.secrets.Scrub(err.Error())))
}
