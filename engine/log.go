package engine

import (
	"context"
	"log/slog"

	"github.com/pawl-run/pawl"
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

// log is the engine's, about the run.
func (s *session) log(level slog.Level, message string, attrs ...slog.Attr) {
	s.engine.log(level, message, s.lease.Run, attrs...)
}

// unread says that the mailbox cannot be read, the first time it cannot.
func (e *Engine) unread(err error) {
	if e.mute.CompareAndSwap(false, true) {
		e.log(slog.LevelWarn, "the mailbox cannot be read; it is tried again and again", "", e.because(err))
	}
}

// again says that a model call is going to be tried again.
func (s *session) again(f *pawl.ModelFailed) {
	if f.RetryAt.IsZero() || s.engine.opt.Log == nil {
		return
	}
	s.log(slog.LevelInfo, "a model call failed and is tried again", slog.String("class", f.Class.String()),
		slog.Int("attempt", f.Attempt), slog.Time("retry_at", f.RetryAt))
}
