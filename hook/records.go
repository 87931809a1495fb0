package hook

import (
	"context"
	"log/slog"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/engine"
)

// Records logs a record for every entry to l; nil is [slog.Default]. The message is the entry's
// type. Its attributes are run, seq, at and iteration, and by type call, tool, status, duration,
// tokens, dollars and the like, with texts as configured by Options.
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
	h.log.LogAttrs(ctx, lvl, e.Type(), append(attrs, h.attrs(e.Event)...)...)
	return engine.Direction{}
}

// attrs returns the attributes of an event that are worth searching for.
func (w writer) attrs(event pawl.Event) (list []slog.Attr) {
	str := func(key, value string) {
		if value != "" {
			list = append(list, slog.String(key, value))
		}
	}
	switch e := event.(type) {
	case pawl.RunStarted:
		str("agent", e.Declaration.Agent)
		str("model", e.Declaration.Model.Name)
		str("input", w.text(e.Input))
	case pawl.RunPaused:
		str("status", e.Status.String())
		str("reason", w.text(e.Reason))
	case pawl.RunStopped:
		str("status", e.Status.String())
		str("leaf", e.Leaf)
		str("detail", w.text(e.Detail))
	case pawl.CancelRequested:
		str("by", e.By)
		str("reason", w.text(e.Reason))
	case pawl.ModelCalled:
		str("purpose", string(e.Purpose))
		list = append(list, slog.Int("attempt", e.Attempt), slog.Int("reserved_tokens", e.Reserved))
	case pawl.ModelReplied:
		u := e.Reply.Usage
		str("purpose", string(e.Purpose))
		str("text", w.text(e.Reply.Text()))
		list = append(list, slog.Int("input_tokens", u.Input), slog.Int("output_tokens", u.Output))
		if e.Priced {
			list = append(list, slog.Any("cost_usd", pawl.Decimal(e.Cost)))
		}
	case pawl.ModelFailed:
		str("class", e.Class.String())
		str("message", w.text(e.Message))
		list = append(list, slog.Int("attempt", e.Attempt))
	case pawl.PlanRejected:
		str("feedback", w.text(e.Feedback))
		list = append(list, slog.Int("strike", e.Rejection))
	case pawl.Observed:
		str("text", w.text(e.Text))
		list = append(list, slog.Bool("failed", e.Failed))
	case pawl.Measured:
		list = append(list, slog.Float64("metric", e.Value), slog.Int("open", len(e.Open)))
	case pawl.Noted:
		str("by", e.By)
		str("name", e.Name)
		str("value", w.json(e.Value))
	default:
		list = w.callAttrs(event)
	}
	return list
}

// callAttrs returns the attributes of a call's event.
func (w writer) callAttrs(event pawl.Event) []slog.Attr {
	about := func(call, tool string, more ...slog.Attr) []slog.Attr {
		list := []slog.Attr{slog.String("call", call)}
		if tool != "" {
			list = append(list, slog.String("tool", tool))
		}
		for _, a := range more {
			if a.Value.Kind() != slog.KindString || a.Value.String() != "" {
				list = append(list, a)
			}
		}
		return list
	}
	switch e := event.(type) {
	case pawl.ToolStarted:
		return about(e.Call, e.Tool, slog.String("effect", e.Effect.String()), slog.Int("attempt", e.Attempt), slog.String("args", w.json(e.Args)))
	case pawl.ToolFinished:
		return about(e.Call, e.Tool, slog.String("status", e.Status.String()), slog.Duration("duration", e.Duration),
			slog.String("result", w.json(e.Result)), slog.String("error", w.text(e.Error)))
	case pawl.ToolReused:
		return about(e.Call, e.Tool, slog.String("of", e.Of))
	case pawl.ToolRefused:
		return about(e.Call, e.Tool, slog.String("why", w.text(e.Why)))
	case pawl.ToolDoubted:
		return about(e.Call, e.Tool, slog.String("why", w.text(e.Why)))
	case pawl.ToolSettled:
		return about(e.Call, "", slog.Bool("happened", e.Happened), slog.String("by", e.By), slog.String("error", w.text(e.Error)))
	case pawl.ApprovalRequested:
		return about(e.Call, e.Tool, slog.String("reason", w.text(e.Reason)), slog.String("args", w.json(e.Args)))
	case pawl.ApprovalDecided:
		return about(e.Call, "", slog.Bool("approved", e.Approved), slog.String("by", e.By), slog.String("reason", w.text(e.Reason)))
	case pawl.ApprovalExpired:
		return about(e.Call, "")
	case pawl.ApprovalInvalidated:
		return about(e.Call, "", slog.Any("changed", e.Changed))
	case pawl.InputRequested:
		return about(e.Call, "", slog.String("question", w.text(e.Question)))
	case pawl.InputGiven:
		return about(e.Call, "", slog.String("by", e.By), slog.String("text", w.text(e.Text)))
	case pawl.ClientToolRequested:
		return about(e.Call, e.Tool, slog.String("args", w.json(e.Args)))
	case pawl.ClientToolReturned:
		return about(e.Call, "", slog.String("by", e.By), slog.String("result", w.json(e.Result)))
	}
	return nil
}
