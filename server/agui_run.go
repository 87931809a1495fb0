package server

import (
	"cmp"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/engine"
	"github.com/pawl-run/pawl/team"
)

// aguiRun turns a run's entries and the pieces between them into AG-UI events, which
// depend only on the entries. A run that was paused and resumed is still one run, from
// RUN_STARTED to what end returns.
type aguiRun struct {
	state  pawl.State
	events []aguiEvent
	at     int64 // the entry's time in milliseconds

	step    string // the current step
	call    uint64 // the model call whose pieces are shown; zero: none
	text    aguiMessage
	thought aguiMessage
	open    []string // calls shown without a result
	shown   map[string]bool
	next    string // the run that this one handed over to; empty: it did not

	asked   bool       // the client has the input
	earlier []aguiSaid // the messages of the thread for a client that has none; nil: it has them
}

// aguiMessage is a message in progress.
type aguiMessage struct {
	id   string // set: the message was begun
	said string
}

// add handles an entry, or a piece of a reply, and returns its events. line is the
// entry as in the log.
func (a *aguiRun) add(e pawl.Entry, line []byte) []aguiEvent {
	a.events = nil
	a.at = e.Time.UnixMilli()
	switch d := e.Event.(type) {
	case pawl.ToolProgressed:
		a.progressed(d)
		return a.events
	case pawl.ModelDelta:
		if e.At == a.call && a.call != 0 {
			a.think(d.Thinking)
			a.say(d.Text)
		}
		return a.events
	}
	a.state.Fold(e)
	switch ev := e.Event.(type) {
	case pawl.RunStarted:
		a.begin(ev)
	case pawl.ModelCalled:
		a.called(e, ev)
	case pawl.ModelReplied:
		a.replied(ev)
	case pawl.ModelFailed:
		a.failed(ev, line)
	case pawl.ToolStarted:
		a.offer(pawl.Call{ID: ev.Call, Tool: ev.Tool, Args: ev.Args}, "")
		a.custom(e, line)
	case pawl.ToolFinished, pawl.ToolReused, pawl.RunStopped: // results and end report these
	default:
		a.custom(e, line)
	}
	a.results(e.Seq)
	switch e.Event.(type) {
	case pawl.RunStarted, pawl.ModelReplied, pawl.ModelFailed, pawl.RunPaused, pawl.RunResumed, pawl.RunExtended, pawl.RunForked, pawl.Reflected:
		a.put(aguiEvent{Type: "STATE_SNAPSHOT", Snapshot: snapshot(&a.state)})
	}
	return a.events
}

func (a *aguiRun) put(e aguiEvent) {
	e.Timestamp = a.at
	a.events = append(a.events, e)
}

// begin opens the run, with its input.
func (a *aguiRun) begin(ev pawl.RunStarted) {
	a.shown = map[string]bool{}
	a.opened(ev)
	if ev.Input != "" && !a.asked {
		id := aguiID(a.state.Run(), "input")
		a.put(aguiEvent{Type: "TEXT_MESSAGE_START", MessageID: id, Role: "user"})
		a.put(aguiEvent{Type: "TEXT_MESSAGE_CONTENT", MessageID: id, Delta: ev.Input})
		a.put(aguiEvent{Type: "TEXT_MESSAGE_END", MessageID: id})
	}
}

// opened opens the run for a client.
func (a *aguiRun) opened(ev pawl.RunStarted) {
	a.put(aguiEvent{Type: "RUN_STARTED", ThreadID: cmp.Or(ev.Thread, a.state.Run()), RunID: a.state.Run(), ParentRunID: ev.Parent})
}

// called begins a turn. Only turns of the loop are shown, not judgements or compaction.
func (a *aguiRun) called(e pawl.Entry, ev pawl.ModelCalled) {
	a.call = 0
	if ev.Purpose != pawl.PurposeTurn && ev.Purpose != pawl.PurposeFinal {
		return
	}
	a.call = e.Seq
	step := fmt.Sprintf("iteration %d", e.Iteration)
	if ev.View.Step != "" {
		step = ev.View.Step
	}
	if step != a.step {
		a.endStep()
		a.step = step
		a.put(aguiEvent{Type: "STEP_STARTED", StepName: step})
	}
}

func (a *aguiRun) endStep() {
	if a.step != "" {
		a.put(aguiEvent{Type: "STEP_FINISHED", StepName: a.step})
		a.step = ""
	}
}

func (a *aguiRun) messageID(kind string) string {
	return aguiID(a.state.Run(), fmt.Sprintf("%d%s", a.call, kind))
}

func (a *aguiRun) think(text string) {
	if text == "" {
		return
	}
	if a.thought.id == "" {
		a.thought.id = a.messageID("-thinking")
		a.put(aguiEvent{Type: "REASONING_START", MessageID: a.thought.id})
		a.put(aguiEvent{Type: "REASONING_MESSAGE_START", MessageID: a.thought.id, Role: "reasoning"})
	}
	a.thought.said += text
	a.put(aguiEvent{Type: "REASONING_MESSAGE_CONTENT", MessageID: a.thought.id, Delta: text})
}

func (a *aguiRun) endThinking() {
	if a.thought.id != "" {
		a.put(aguiEvent{Type: "REASONING_MESSAGE_END", MessageID: a.thought.id})
		a.put(aguiEvent{Type: "REASONING_END", MessageID: a.thought.id})
	}
	a.thought = aguiMessage{}
}

func (a *aguiRun) say(text string) {
	if text == "" {
		return
	}
	if a.text.id == "" {
		a.text.id = a.messageID("")
		a.put(aguiEvent{Type: "TEXT_MESSAGE_START", MessageID: a.text.id, Role: "assistant"})
	}
	a.text.said += text
	a.put(aguiEvent{Type: "TEXT_MESSAGE_CONTENT", MessageID: a.text.id, Delta: text})
}

func (a *aguiRun) endText() {
	if a.text.id != "" {
		a.put(aguiEvent{Type: "TEXT_MESSAGE_END", MessageID: a.text.id})
	}
	a.text = aguiMessage{}
}

// replied sends the rest of a reply that was not streamed.
func (a *aguiRun) replied(ev pawl.ModelReplied) {
	if a.call == 0 {
		return
	}
	var thought strings.Builder
	for _, p := range ev.Reply.Parts {
		if t, ok := p.(pawl.Thinking); ok {
			thought.WriteString(t.Text)
		}
	}
	text := ev.Reply.Text()
	if left, goesOn := strings.CutPrefix(thought.String(), a.thought.said); goesOn {
		a.think(left)
	}
	a.endThinking()
	if left, goesOn := strings.CutPrefix(text, a.text.said); goesOn {
		a.say(left)
	} else { // the whole was redacted differently from its pieces
		a.withdraw("")
		a.text.id = a.messageID("-whole")
		a.put(aguiEvent{Type: "TEXT_MESSAGE_START", MessageID: a.text.id, Role: "assistant"})
		a.say(text)
	}
	said := a.text.id
	a.endText()
	for _, h := range ev.Reply.Hosted {
		a.offer(h.Call, said)
	}
	for _, p := range ev.Reply.Parts {
		if c, ok := p.(pawl.Call); ok {
			a.offer(c, said)
		}
	}
	a.call = 0
}

// failed ends the message of a broken reply and withdraws it.
func (a *aguiRun) failed(ev pawl.ModelFailed, line []byte) {
	if a.call == 0 {
		return
	}
	a.endThinking()
	a.withdraw(ev.Class.String())
	a.put(aguiEvent{Type: "CUSTOM", Name: "model.failed", Value: dataOf(line)})
	a.call = 0
}

// withdraw says that the current message is void.
func (a *aguiRun) withdraw(why string) {
	id := a.text.id
	a.endText()
	if id != "" {
		value := map[string]string{"messageId": id}
		if why != "" {
			value["why"] = why
		}
		a.put(aguiEvent{Type: "CUSTOM", Name: "message.withdrawn", Value: value})
	}
}

// offer shows a call, once.
func (a *aguiRun) offer(c pawl.Call, message string) {
	if a.shown[c.ID] {
		return
	}
	a.shown[c.ID] = true
	a.open = append(a.open, c.ID)
	id := aguiID(a.state.Run(), c.ID)
	a.put(aguiEvent{Type: "TOOL_CALL_START", ToolCallID: id, ToolName: c.Tool, ParentID: message})
	a.put(aguiEvent{Type: "TOOL_CALL_ARGS", ToolCallID: id, Delta: cmp.Or(string(c.Args), "{}")})
	a.put(aguiEvent{Type: "TOOL_CALL_END", ToolCallID: id})
}

// progressed shows how far a call is, as one activity for each call.
func (a *aguiRun) progressed(d pawl.ToolProgressed) {
	id := aguiID(a.state.Run(), d.Call)
	a.put(aguiEvent{
		Type: "ACTIVITY_SNAPSHOT", MessageID: id + "-progress", Activity: "tool_progress",
		Content: map[string]any{"toolCallId": id, "toolCallName": d.Tool, "fraction": d.Fraction, "text": d.Text},
	})
}

// results shows the results of calls.
func (a *aguiRun) results(seq uint64) {
	left := a.open[:0]
	for _, id := range a.open {
		c, ok := a.state.Call(id)
		if !ok || c.Phase != pawl.PhaseAnswered {
			left = append(left, id)
			continue
		}
		content := pawl.ToolResult{Content: c.Result}.Text()
		if c.Status != pawl.ToolOK {
			content = strings.TrimSuffix(c.Status.String()+": "+c.Error, ": ")
		}
		a.put(aguiEvent{
			Type: "TOOL_CALL_RESULT", MessageID: aguiID(a.state.Run(), fmt.Sprintf("%d-%s", seq, id)),
			ToolCallID: aguiID(a.state.Run(), id), Content: content, Role: "tool",
		})
	}
	a.open = left
}

// custom passes an event on unchanged.
func (a *aguiRun) custom(e pawl.Entry, line []byte) {
	a.put(aguiEvent{Type: "CUSTOM", Name: e.Type(), Value: dataOf(line)})
}

func dataOf(line []byte) json.RawMessage {
	var e struct{ Data json.RawMessage }
	if json.Unmarshal(line, &e) != nil || e.Data == nil {
		return json.RawMessage("{}")
	}
	return e.Data
}

// end says how the run stands after its last entry: it has ended, or waits for what is
// pending.
func (a *aguiRun) end(pending []pawl.Pending) []aguiEvent {
	a.events = nil
	a.endThinking()
	a.endText()
	a.endStep()
	a.put(aguiEvent{Type: "STATE_SNAPSHOT", Snapshot: snapshot(&a.state)})
	r := a.state.Result()
	result := map[string]any{
		"status": r.Status, "answer": r.Answer, "output": r.Output, "reason": r.Reason, "resumable": r.Resumable,
	}
	if _, handed := team.HandedIn(r); handed {
		a.next = engine.NextLeg(a.state.Head().Thread, r.Run)
		result["next_leg"] = a.next
	}
	last := aguiEvent{Type: "RUN_FINISHED", ThreadID: cmp.Or(a.state.Head().Thread, a.state.Run()), RunID: a.state.Run(), Result: result}
	switch {
	case suspended(&a.state):
		last.Outcome = &aguiOutcome{Type: "interrupt"}
		for _, p := range pending {
			last.Outcome.Interrupts = append(last.Outcome.Interrupts, interruptOf(p))
		}
		if len(pending) == 0 { // a child waits whose log is missing
			last.Outcome.Interrupts = []aguiInterrupt{{ID: a.state.Run(), Reason: "pawl:" + r.Status.String(), Metadata: map[string]any{"run": a.state.Run()}}}
		}
	case r.Status == pawl.StatusSuccess:
		last.Outcome = &aguiOutcome{Type: "success"}
	case r.Status == pawl.StatusCancelled:
		last.Outcome = &aguiOutcome{Type: "cancelled"}
	case r.Status == pawl.StatusFailed, r.Status == pawl.StatusPlanFailed:
		last = aguiEvent{Type: "RUN_ERROR", Message: cmp.Or(r.Reason.Detail, r.Reason.Leaf), Code: r.Status.String()}
	}
	a.put(last)
	return a.events
}
