package hook

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"time"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/engine"
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
		return fmt.Sprintf("%s asks it to end: %s", e.By, w.text(e.Reason))
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
			return fmt.Sprintf("%s: approved by %s", e.Call, e.By)
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
