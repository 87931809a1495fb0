package a2a

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/internal/retry"
)

// The times between two looks at a task, and how long an agent may be unreachable.
const (
	firstLook   = 100 * time.Millisecond
	longestLook = 5 * time.Second
	leftFor     = 5 * time.Second // how long a state may last that a person says is over
	gone        = 2 * time.Minute
	sendTime    = time.Minute
	cancelTime  = 5 * time.Second
	mostTries   = 6 // to send a message, within three seconds
)

// mostText is the most bytes of a task's answer that are kept.
const mostText = 256 << 10

// sendTool sends a message. The messageId is the call's idempotency key, so that an agent that
// knows messages by their ids takes it once, and so that its task is found by it.
type sendTool struct {
	*remote
	read func(context.Context) ([]pawl.File, error) // of the run; nil: it has no files
}

// WithFiles returns the tool for a run whose input has files. The engine calls it.
func (t sendTool) WithFiles(read func(context.Context) ([]pawl.File, error)) pawl.Tool {
	t.read = read
	return t
}

// Info declares the tool.
func (t sendTool) Info() pawl.ToolInfo {
	return pawl.ToolInfo{
		Name: toolSend, Description: "Send a message to the remote agent.", Effect: pawl.Write, Timeout: sendTime, MaxOutput: 4 * mostText, External: true, Trust: t.trust(),
		Input: schema("text", "decision", "task", "context"),
	}
}

// schema is that of an object of texts.
func schema(names ...string) json.RawMessage {
	properties := map[string]any{}
	for _, name := range names {
		properties[name] = map[string]string{"type": "string"}
	}
	raw, _ := json.Marshal(map[string]any{"type": "object", "properties": properties}) // texts always marshal
	return raw
}

type sendArgs struct{ Text, Decision, Task, Context string }

// Run sends the message, and returns as soon as there is a task. A request without an answer
// is repeated when it did not reach the agent, or when the agent shows no task of it.
func (t sendTool) Run(ctx context.Context, inv pawl.Invocation) (pawl.Output, error) {
	var args sendArgs
	if err := json.Unmarshal(inv.Args, &args); err != nil {
		return pawl.Output{}, err
	}
	message := messageOf(inv, args)
	if t.read != nil && args.Task == "" {
		files, err := t.files(ctx)
		if err != nil {
			return pawl.Output{}, err
		}
		message.Message.Parts = append(message.Message.Parts, files...)
	}
	sent := false // it may have been received
	for pause, try := firstLook, 1; ; pause, try = min(2*pause, longestLook), try+1 {
		u, err := t.client.Send(ctx, message)
		if err == nil {
			return output(u)
		}
		if !passing(err) {
			return pawl.Output{}, told(err)
		}
		sent = sent || !unsent(err)
		if try == mostTries || !retry.Wait(ctx, pause) {
			if !sent {
				return pawl.Output{}, &retry.NotRunError{Err: err}
			}
			return pawl.Output{}, &retry.UnknownError{Err: err}
		}
		if !sent {
			continue
		}
		if found, happened, err := t.find(ctx, inv, args); err == nil && happened {
			return found, nil
		}
	}
}

// files are the files of the run as parts of a message. A file of a type that is not among the
// modes of the agent's card is an error: an agent that was called because of a file must not
// answer without it.
func (t sendTool) files(ctx context.Context) ([]Part, error) {
	files, err := t.read(ctx)
	if err != nil || len(files) == 0 {
		return nil, err
	}
	card, err := t.client.Card(ctx)
	if err != nil {
		return nil, err
	}
	modes := slices.Clone(card.DefaultInputModes)
	for i := range card.Skills {
		modes = append(modes, card.Skills[i].InputModes...)
	}
	parts := make([]Part, len(files))
	for i, f := range files {
		if !accepts(modes, f.Type) {
			return nil, fmt.Errorf("the file %s was not sent, and neither was the message: the agent at %s does not take %s; its card has %s", f.Name, t.client.card.Host, f.Type, cmp.Or(strings.Join(modes, ", "), "no input modes"))
		}
		parts[i] = Part{Raw: f.Data, Filename: f.Name, MediaType: f.Type}
	}
	return parts, nil
}

// accepts reports whether a media type is among modes, such as image/png, image/* and */*.
func accepts(modes []string, kind string) bool {
	family, _, _ := strings.Cut(kind, "/")
	return slices.ContainsFunc(modes, func(m string) bool {
		m, _, _ = strings.Cut(strings.ToLower(m), ";")
		m = strings.TrimSpace(m)
		return m == kind || m == family+"/*" || m == "*/*"
	})
}

// messageOf is the message of a call.
func messageOf(inv pawl.Invocation, args sendArgs) *Send {
	part := Text(args.Text)
	if args.Decision != "" {
		raw, _ := json.Marshal(map[string]string{"decision": args.Decision}) // a text always marshals
		part = Data(raw)
	}
	return &Send{
		Message:       Message{MessageID: inv.Key, ContextID: args.Context, TaskID: args.Task, Role: User, Parts: []Part{part}},
		Configuration: &SendOptions{ReturnImmediately: true},
	}
}

// Reconcile looks for the task of a message that was cut short.
func (t sendTool) Reconcile(ctx context.Context, inv pawl.Invocation) (pawl.Output, bool, error) {
	var args sendArgs
	if err := json.Unmarshal(inv.Args, &args); err != nil {
		return pawl.Output{}, false, err
	}
	for pause := firstLook; ; pause = min(2*pause, longestLook) {
		out, happened, err := t.find(ctx, inv, args)
		if err == nil || !passing(err) || !retry.Wait(ctx, pause) {
			return out, happened, err
		}
	}
}

// mostPages is how many pages of tasks are searched, of the latest.
const mostPages = 10

// find looks for the message among those of the agent's tasks.
func (t sendTool) find(ctx context.Context, inv pawl.Invocation, args sendArgs) (pawl.Output, bool, error) {
	if args.Task != "" {
		task, err := t.client.Task(ctx, args.Task, -1)
		if err != nil || !has(&task, inv.Key) {
			return pawl.Output{}, false, err
		}
		out, err := output(Update{Task: &task})
		return out, err == nil, err
	}
	size := 100
	q := Query{ContextID: args.Context, PageSize: &size, IncludeArtifacts: true}
	for range mostPages {
		page, err := t.client.Tasks(ctx, q)
		if err != nil {
			return pawl.Output{}, false, err
		}
		for i := range page.Tasks {
			if has(&page.Tasks[i], inv.Key) {
				out, err := output(Update{Task: &page.Tasks[i]})
				return out, err == nil, err
			}
		}
		if q.PageToken = page.Next; page.Next == "" {
			break
		}
	}
	return pawl.Output{}, false, nil
}

// has reports whether a message is in the history of a task.
func has(t *Task, message string) bool {
	for i := range t.History {
		if t.History[i].MessageID == message {
			return true
		}
	}
	return false
}

// waitTool looks at a task until it has ended or is interrupted.
type waitTool struct {
	*remote
	timeout time.Duration
}

// Info declares the tool. It is a Read: a process that takes the run over waits again.
func (t waitTool) Info() pawl.ToolInfo {
	return pawl.ToolInfo{
		Name: toolWait, Description: "Wait until the remote task has ended or asks for something.", Effect: pawl.Read, Timeout: t.timeout, MaxOutput: 4 * mostText,
		Exempt: true, External: true, Trust: t.trust(), Input: schema("task", "left"),
	}
}

// Grace is how long Run may take after its context ended.
func (waitTool) Grace() time.Duration { return cancelTime + time.Second }

// Run waits.
func (t waitTool) Run(ctx context.Context, inv pawl.Invocation) (pawl.Output, error) {
	var args struct{ Task, Left string }
	if err := json.Unmarshal(inv.Args, &args); err != nil {
		return pawl.Output{}, err
	}
	began, heard := time.Now(), time.Now()
	for pause := firstLook; ; pause = min(pause*3/2, longestLook) {
		task, err := t.client.Task(ctx, args.Task, 0)
		switch state := task.Status.State; {
		case ctx.Err() != nil:
		case err != nil && (!passing(err) || time.Since(heard) > gone):
			return pawl.Output{}, fmt.Errorf("task %s: %w", args.Task, told(err))
		case err != nil:
		case state.Terminal(), state.Interrupted() && (string(state) != args.Left || time.Since(began) > leftFor):
			return output(Update{Task: &task})
		case !state.Known():
			return pawl.Output{}, fmt.Errorf("task %s is in the state %q, which the protocol does not have", args.Task, state)
		default:
			heard = time.Now()
		}
		if !retry.Wait(ctx, pause) {
			return pawl.Output{}, t.leave(ctx, args.Task)
		}
	}
}

// leave ends the waiting. The task is cancelled with the run, and when its time is over; a run
// that is only suspended finds it again.
func (t waitTool) leave(ctx context.Context, task string) error {
	cause := context.Cause(ctx)
	cancelled, _ := errors.AsType[interface {
		error
		Cancelled() bool
	}](cause)
	late := errors.Is(cause, context.DeadlineExceeded)
	if cancelled == nil && !late {
		return cause
	}
	within, stop := context.WithTimeout(context.WithoutCancel(ctx), cancelTime)
	defer stop()
	_, err := t.client.Cancel(within, task)
	what := "it was cancelled there"
	if err != nil {
		what = "it may go on there, since it could not be cancelled: " + err.Error()
	}
	return fmt.Errorf("task %s did not end in time; %s: %w", task, what, cause)
}

// askTool asks a person.
type askTool struct{}

// Info declares the tool.
func (askTool) Info() pawl.ToolInfo {
	return pawl.ToolInfo{Name: toolAsk, Description: "Ask a person what the remote agent asks.", Effect: pawl.Read, Exempt: true, Input: schema("question")}
}

// Run asks. With a journal that is lost with the process, nobody can be waited for, and the
// question is an error. So that agents that ask nothing run with such a journal, the tool does
// not say beforehand that it waits.
func (askTool) Run(_ context.Context, inv pawl.Invocation) (pawl.Output, error) {
	var args struct{ Question string }
	if err := json.Unmarshal(inv.Args, &args); err != nil {
		return pawl.Output{}, err
	}
	return pawl.Output{}, pawl.AskPerson{Question: args.Question}
}

// output is where a task stands, as a tool's result.
func output(u Update) (pawl.Output, error) {
	var o outcome
	switch {
	case u.Message != nil:
		o = outcome{Context: u.Message.ContextID, State: Completed, Text: content(u.Message.Parts)}
	case u.Task != nil && u.Task.ID != "":
		o = outcome{Task: u.Task.ID, Context: u.Task.ContextID, State: u.Task.Status.State}
		var texts []string
		for _, a := range u.Task.Artifacts {
			texts = append(texts, content(a.Parts))
		}
		if m := u.Task.Status.Message; m != nil && (len(texts) == 0 || o.State != Completed) {
			texts = append(texts, content(m.Parts))
		}
		o.Text = strings.Join(texts, "\n\n")
	default:
		return pawl.Output{}, &Error{Kind: InvalidAgentResponse, Message: "the answer is neither a task nor a message"}
	}
	if len(o.Text) > mostText {
		o.Text = strings.ToValidUTF8(o.Text[:mostText], "") + "\n[the rest was left out]"
	}
	raw, err := json.Marshal(o)
	return pawl.Output{JSON: raw}, err
}

// content is the content of parts as text.
func content(parts []Part) string {
	var texts []string
	for i := range parts {
		switch p := &parts[i]; {
		case p.Text != nil:
			texts = append(texts, *p.Text)
		case p.Data != nil:
			texts = append(texts, string(p.Data))
		case p.URL != nil:
			texts = append(texts, fmt.Sprintf("[file %s %s: %s]", p.Filename, p.MediaType, *p.URL))
		default:
			texts = append(texts, fmt.Sprintf("[file %s %s, %d bytes]", p.Filename, p.MediaType, len(p.Raw)))
		}
	}
	return strings.Join(texts, "\n\n")
}

// told says an error of the remote agent as such.
func told(err error) error {
	if e, ok := errors.AsType[*Error](err); ok {
		return fmt.Errorf("the remote agent says: %w", e)
	}
	return err
}
