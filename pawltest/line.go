package pawltest

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/pawl-run/pawl"
)

// Line is an entry on one line: its seq, its type, and the fields that matter
// to a reader. Epochs, owners, digests and the like are left out.
func Line(e pawl.Entry) string {
	l := &line{}
	if e.Seq != 0 {
		l.add("%d", e.Seq)
	}
	l.add("%s", e.Type())
	switch ev := e.Event.(type) {
	case pawl.RunStarted, pawl.RunPaused, pawl.RunResumed, pawl.RunExtended, pawl.RunForked, pawl.RunStopped:
		l.run(ev)
	case pawl.ModelCalled, pawl.ModelReplied, pawl.ModelFailed, pawl.PlanRejected:
		l.model(ev, e.Iteration)
	case pawl.ToolStarted, pawl.ToolFinished, pawl.ToolReused, pawl.ToolRefused, pawl.ToolDoubted, pawl.ToolSettled:
		l.tool(ev)
	case pawl.ApprovalRequested, pawl.ApprovalDecided, pawl.InputRequested, pawl.InputGiven, pawl.ClientToolRequested, pawl.ClientToolReturned:
		l.ask(ev)
	default:
		l.memo(ev)
	}
	return strings.Join(l.words, " ")
}

type line struct{ words []string }

func (l *line) add(format string, args ...any) {
	l.words = append(l.words, fmt.Sprintf(format, args...))
}

// opt adds a word unless what it says is nothing.
func (l *line) opt(name string, v any) {
	switch v := v.(type) {
	case string:
		if v != "" {
			l.add("%s=%s", name, text(v))
		}
	case int:
		if v != 0 {
			l.add("%s=%d", name, v)
		}
	case bool:
		if v {
			l.add("%s", name)
		}
	case json.RawMessage:
		if v != nil {
			l.add("%s=%s", name, v)
		}
	}
}

// text quotes what would not read as one word.
func text(s string) string {
	if s == "" || strings.ContainsAny(s, " \n\t\"=") {
		return fmt.Sprintf("%q", s)
	}
	return s
}

func (l *line) run(event pawl.Event) {
	switch e := event.(type) {
	case pawl.RunStarted:
		d := e.Declaration
		l.add("%s", d.Loop)
		l.opt("strategy", strings.TrimPrefix(d.Strategy.String(), "native"))
		l.opt("stop", d.Stop)
		l.opt("goal", d.Goal)
		l.add("limits=%q", d.Limits)
		l.opt("input", e.Input)
		l.opt("thread", e.Thread)
		if c := e.Continues; c != nil {
			l.add("continues=%d of %s bytes=%d", c.Seq, c.Run, c.Bytes)
			l.opt("by", c.By)
			l.opt("reason", c.Reason)
			l.opt("carry", c.Carry)
			l.opt("summary", c.Summary)
			if c.Used != (pawl.Limits{}) {
				l.add("used=%d/%d/%d", c.Used.Iterations, c.Used.Tokens, c.Used.Handoffs)
			}
		}
		l.opt("key", e.Key)
	case pawl.RunPaused:
		l.add("%v", e.Status)
		l.opt("reason", e.Reason)
		if !e.WakeAt.IsZero() {
			l.add("wake_at=%s", e.WakeAt.Format(time.TimeOnly))
		}
	case pawl.RunResumed:
		if e.Changed != nil {
			l.add("changed")
		}
	case pawl.RunExtended:
		l.plain(e)
	case pawl.RunForked:
		l.add("from=%s seq=%d", e.From, e.Seq)
		l.opt("input", e.Input)
	case pawl.RunStopped:
		l.add("%v: %s", e.Status, e.Condition)
		if e.Leaf != e.Condition {
			l.opt("leaf", e.Leaf)
		}
		l.opt("detail", e.Detail)
	}
}

func (l *line) model(event pawl.Event, iteration int) {
	switch e := event.(type) {
	case pawl.ModelCalled:
		l.add("%s", e.Purpose)
		if e.Purpose == pawl.PurposeTurn {
			l.add("%d", iteration)
		}
		if e.Attempt != 1 {
			l.opt("attempt", e.Attempt)
		}
		if e.Fallback != 0 {
			l.opt("fallback", e.Fallback)
		}
		l.opt("model", e.Model)
		if e.MaxTokens != 16_384 {
			l.opt("max_tokens", e.MaxTokens)
		}
		l.opt("effort", e.Effort)
		l.opt("tool_choice", e.View.ToolChoice)
		if e.Cost != 0 {
			l.add("reserved=$%.6f", e.Cost)
		}
	case pawl.ModelReplied:
		if e.Purpose != pawl.PurposeTurn {
			l.add("%s", e.Purpose)
		}
		for _, p := range e.Reply.Parts {
			switch p := p.(type) {
			case pawl.Text:
				l.add("%q", p.Text)
			case pawl.Thinking:
				l.add("~%q", p.Text)
			case pawl.Citation:
				l.add("cite=%q", p.Title+"|"+p.URL+"|"+p.Quote)
			case pawl.Call:
				l.add("%s:%s%s", p.ID, p.Tool, p.Args)
			}
		}
		for _, h := range e.Reply.Hosted {
			l.add("%s:%s%s=%s%s", h.Call.ID, h.Call.Tool, h.Call.Args, h.Result, h.Error)
		}
		if e.Reply.Stop != pawl.StopEnd && e.Reply.Stop != pawl.StopCalls {
			l.add("stop=%v", e.Reply.Stop)
		}
		if !e.Estimated {
			l.add("usage=%d/%d", e.Reply.Usage.Input, e.Reply.Usage.Output)
		}
		if e.Priced {
			l.add("cost=$%.6f", e.Cost)
		}
		l.opt("malformed", e.Malformed)
		l.opt("filter", e.Reply.Filter)
		l.opt("repaired", e.Reply.Repaired)
	case pawl.ModelFailed:
		if e.Purpose != pawl.PurposeTurn {
			l.add("%s", e.Purpose)
		}
		l.add("%v %q", e.Class, e.Message)
		if e.Usage != (pawl.Usage{}) {
			l.add("booked")
		}
		if !e.RetryAt.IsZero() {
			l.add("retry_at=%s", e.RetryAt.Format(time.TimeOnly))
		}
	case pawl.PlanRejected:
		l.add("rejection=%d %q", e.Rejection, e.Reasons)
	}
}

func (l *line) tool(event pawl.Event) {
	switch e := event.(type) {
	case pawl.ToolStarted:
		l.add("%s %s%s %v", e.Call, e.Tool, e.Args, e.Effect)
		if e.Attempt != 1 {
			l.opt("attempt", e.Attempt)
		}
		l.opt("supervised", e.Supervised)
	case pawl.ToolFinished:
		l.add("%s %s %v", e.Call, e.Tool, e.Status)
		if e.Error == "" {
			l.add("%s", e.Result)
		}
		l.opt("error", e.Error)
		l.opt("truncated", e.Truncated)
		l.opt("blob", e.Blob != "")
		l.opt("abandoned", e.Abandoned)
		l.files(e.Files)
	case pawl.ToolReused:
		l.add("%s %s of=%s", e.Call, e.Tool, e.Of)
	case pawl.ToolRefused:
		l.add("%s %s %q", e.Call, e.Tool, e.Why)
	case pawl.ToolDoubted:
		l.add("%s %s %q", e.Call, e.Tool, e.Why)
	case pawl.ToolSettled:
		l.add("%s happened=%v", e.Call, e.Happened)
		if e.Status != 0 {
			l.add("%v", e.Status)
		}
		l.opt("result", e.Result)
		l.opt("error", e.Error)
		l.opt("by", e.By)
		l.files(e.Files)
	}
}

func (l *line) files(files []pawl.File) {
	for _, f := range files {
		l.add("file=%q", f.Name)
	}
}

func (l *line) ask(event pawl.Event) {
	switch e := event.(type) {
	case pawl.ApprovalRequested:
		l.add("%s %s%s %q", e.Call, e.Tool, e.Args, e.Reason)
	case pawl.ApprovalDecided:
		word := "denied"
		if e.Approved {
			word = "approved"
		}
		l.add("%s %s", e.Call, word)
		if e.Permission != "" {
			l.add("for the %s under %s", e.Scope, e.Permission)
		}
		if e.Times > 0 {
			l.add("%d times", e.Times)
		}
		if e.Free != nil {
			l.add("with any %s", strings.Join(e.Free, ", "))
		}
		l.opt("args", e.Args)
		l.opt("reason", e.Reason)
		l.opt("by", e.By)
	case pawl.InputRequested:
		l.add("%s %q", e.Call, e.Question)
		if !e.WakeAt.IsZero() {
			l.add("wake_at=%s", e.WakeAt.Format(time.TimeOnly))
			l.opt("awaits", e.Awaits)
		}
	case pawl.InputGiven:
		l.add("%s %q", e.Call, e.Text)
		if e.After {
			l.add("after")
		}
		l.opt("by", e.By)
	case pawl.ClientToolRequested:
		l.add("%s %s%s", e.Call, e.Tool, e.Args)
	case pawl.ClientToolReturned:
		l.add("%s %s", e.Call, e.Result)
		l.opt("by", e.By)
	}
}

func (l *line) memo(event pawl.Event) {
	switch e := event.(type) {
	case pawl.Observed:
		l.add("%q", e.Text)
	case pawl.Measured:
		l.add("%g", e.Value)
		if len(e.Open) > 0 {
			l.add("open=%s", strings.Join(e.Open, ","))
		}
	case pawl.ProgressJudged:
		l.add("%v %q", e.Judgement, e.Detail)
		l.opt("hint", e.Hint)
	case pawl.CancelRequested:
		l.opt("call", e.Call)
		l.opt("by", e.By)
		l.opt("reason", e.Reason)
	case pawl.MemoryStored:
		l.add("%s %s=%s", e.Call, e.Key, e.Value)
	case pawl.ProgressLogged:
		l.add("%s %q", e.Call, e.Message)
	case pawl.Noted:
		l.add("%s/%s=%s", e.By, e.Name, e.Value)
	default: // the rest speaks for itself
		l.plain(e)
	}
}

// plain adds an event's own fields as the log has them, sorted by name.
func (l *line) plain(event pawl.Event) {
	raw, err := pawl.Entry{Event: event}.AppendJSON(nil)
	var doc struct{ Data map[string]json.RawMessage }
	if err == nil {
		err = json.Unmarshal(raw, &doc)
	}
	if err != nil {
		l.add("%v", err)
		return
	}
	for _, name := range slices.Sorted(maps.Keys(doc.Data)) {
		l.add("%s=%s", name, doc.Data[name])
	}
}
