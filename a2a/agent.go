package a2a

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"strconv"
	"strings"
	"time"

	"github.com/pawl-run/pawl"
)

// Options configure a remote agent. The zero value is valid.
type Options struct {
	// Token is the bearer token for the agent. Give it to the engine as a secret, too.
	Token string
	// Trusted says that the agent's words may instruct the one that reads them.
	Trusted bool
	// Timeout is how long a task may take between two messages; zero is 10 minutes. Then it
	// is cancelled there, and the run fails.
	Timeout time.Duration
}

// The time that a task may take.
const usualTime = 10 * time.Minute

// Agent makes an agent of a remote one. Each of its runs is a task there, and asks no model. Its
// log has the id of the task before anybody waits for it, so that another process finds the task
// again after a crash. What the task asks is asked of a person here. When the run is cancelled
// while the task is at work, so is the task. The run's answer is that of the task; a task that
// does not complete makes the run fail.
//
// Use it as a tool of another agent, by tool.Agent, or in a team. at is the URL of the card, or
// the one below which the card is at [CardPath]. No request is made before a run.
//
// Files of the run's input, and of a conversation that it goes on with, are parts of the first
// message. If the card does not have the type of one, nothing is sent, and the run fails.
func Agent(name, description, at string, o *Options) pawl.Agent {
	o = cmp.Or(o, &Options{})
	r := &remote{options: *o, at: at}
	r.client, r.err = NewClient(at, o.Token)
	wait := cmp.Or(o.Timeout, usualTime)
	a := pawl.Agent{
		Name: name, Description: description, Model: nobody{}, Loop: loop{r},
		Tools: []pawl.Tool{sendTool{remote: r}, waitTool{r, wait}, askTool{}},
	}
	if wait+time.Minute > 30*time.Minute {
		a.Limits.Time = wait + time.Minute
	}
	return a
}

// remote is what the parts of the agent share.
type remote struct {
	at      string
	options Options
	client  *Client
	err     error // of the URL
}

// trust is the trust in what the remote agent says.
func (r *remote) trust() pawl.Trust {
	if r.options.Trusted {
		return pawl.Trusted
	}
	return pawl.Untrusted
}

// The tools of the agent.
const (
	toolSend = "send_message"
	toolWait = "wait_for_task"
	toolAsk  = "ask_person"
)

// outcome is where a task stands, as the tools say it.
type outcome struct {
	Task    string `json:"task,omitempty"` // empty: the agent answered without a task
	Context string `json:"context,omitempty"`
	State   State  `json:"state"`
	Text    string `json:"text"`
}

// loop sends the input, waits, asks and answers until the task has ended. Its steps are
// numbered: send@1, wait@1, ask@1, send@2 and so on.
type loop struct{ *remote }

// Name returns "a2a".
func (loop) Name() string { return "a2a" }

// Steps returns where the agent is, so that a run does not go on with another one.
func (l loop) Steps() json.RawMessage {
	raw, _ := json.Marshal(map[string]string{"agent": l.at}) // a text always marshals
	return raw
}

// Check reports a wrong URL.
func (l loop) Check(pawl.Agent) error {
	if l.err != nil {
		return errors.New("the URL of a remote agent, " + strconv.Quote(l.at) + ": " + l.err.Error())
	}
	return nil
}

// Next looks at the latest step and says which one follows.
func (l loop) Next(s *pawl.State) pawl.Step {
	name, number, _ := strings.Cut(s.LastStep(), "@")
	round, _ := strconv.Atoi(number) // zero: there is none
	step, begun := s.Step(name)
	switch {
	case round == 0:
		return act(toolSend, "send", 1, map[string]string{"text": s.Input()})
	case !begun || step.Label != s.LastStep() || !step.Done: // it failed, and the run was resumed
		return l.again(s, name, round)
	case !step.OK:
		return failure(step.Error)
	case name == "ask":
		return l.answered(s, round)
	}
	var at outcome
	if err := json.Unmarshal(step.Value, &at); err != nil {
		return failure("the outcome of " + name + " is damaged: " + err.Error())
	}
	switch {
	case at.State == Completed:
		return pawl.Finish{Answer: at.Text, Verdict: pawl.Verdict{Holds: true, Status: pawl.StatusSuccess, Condition: "done", Leaf: "done", Detail: "the remote task is completed"}}
	case at.State.Terminal():
		return failure("the remote task is " + stateWord(at.State) + colon(at.Text))
	case at.State.Interrupted() && name == "send" && round > 1: // which may be from before the message
		return act(toolWait, "wait", round, map[string]string{"task": at.Task, "left": string(at.State)})
	case at.State.Interrupted():
		return act(toolAsk, "ask", round, map[string]string{"question": l.question(at)})
	}
	return act(toolWait, "wait", round, map[string]string{"task": at.Task})
}

// Leave cancels the remote task of a run of [Agent] that was cancelled while nobody drove it, as when
// it waits for a person. It does nothing for another agent, and for a task that has ended. See
// engine.Options.Abandoned.
func Leave(ctx context.Context, agent pawl.Agent, s *pawl.State) error {
	l, ok := agent.Loop.(loop)
	if !ok {
		return nil
	}
	at, known := l.latest(s)
	if !known || at.Task == "" || at.State.Terminal() {
		return nil
	}
	ctx, stop := context.WithTimeout(ctx, cancelTime)
	defer stop()
	if _, err := l.client.Cancel(ctx, at.Task); err != nil {
		return fmt.Errorf("task %s may go on at %s, since it could not be cancelled: %w", at.Task, l.at, err)
	}
	return nil
}

// again begins a step that failed once more, with what the steps before it said.
func (l loop) again(s *pawl.State, name string, round int) pawl.Step {
	at, _ := l.latest(s)
	switch name {
	case "send":
		if round > 1 {
			return l.answered(s, round-1)
		}
		return act(toolSend, "send", 1, map[string]string{"text": s.Input()})
	case "ask":
		return act(toolAsk, "ask", round, map[string]string{"question": l.question(at)})
	}
	return act(toolWait, "wait", round, map[string]string{"task": at.Task})
}

// answered goes on after a person's answer: it is sent to the task, unless the task waits for
// something that a message does not give.
func (l loop) answered(s *pawl.State, round int) pawl.Step {
	at, ok := l.latest(s)
	ask, asked := s.Step("ask")
	var text string
	if !ok || !asked || json.Unmarshal(ask.Value, &text) != nil {
		return failure("the answer is damaged")
	}
	args := map[string]string{"task": at.Task, "context": at.Context, "text": text}
	if at.State == AuthRequired {
		word := strings.ToLower(strings.Trim(strings.TrimSpace(text), ".!"))
		if word != "approve" && word != "deny" {
			return act(toolWait, "wait", round+1, map[string]string{"task": at.Task, "left": string(AuthRequired)})
		}
		delete(args, "text")
		args["decision"] = word
	}
	return act(toolSend, "send", round+1, args)
}

// latest is where the task stood when it was heard of last.
func (l loop) latest(s *pawl.State) (at outcome, ok bool) {
	var seq uint64
	for _, name := range []string{"send", "wait"} {
		step, begun := s.Step(name)
		if begun && !step.Done && step.Before != nil {
			step = *step.Before
		}
		var o outcome
		if begun && step.OK && step.Seq >= seq && json.Unmarshal(step.Value, &o) == nil {
			at, ok, seq = o, true, step.Seq
		}
	}
	return at, ok
}

// question is what a person is asked.
func (l loop) question(at outcome) string {
	who := "The remote agent at " + l.client.card.Host
	if at.State == AuthRequired {
		return who + " waits for an approval or a credential that it gets elsewhere" + colon(at.Text) +
			" Answer approve or deny to decide by a message, where the agent takes one, or anything else once it is done elsewhere."
	}
	return who + " asks" + colon(cmp.Or(at.Text, "it says nothing more"))
}

func colon(text string) string {
	if text == "" {
		return "."
	}
	return ": " + text
}

// stateWord is a state in words, such as rejected.
func stateWord(s State) string {
	return strings.ToLower(strings.ReplaceAll(strings.TrimPrefix(string(s), "TASK_STATE_"), "_", " "))
}

func act(tool, step string, round int, args map[string]string) pawl.Step {
	raw, err := json.Marshal(args)
	if err != nil {
		return failure(err.Error())
	}
	return pawl.Act{Calls: []pawl.Classified{{Call: pawl.Call{Tool: tool, Args: raw}, Step: step + "@" + strconv.Itoa(round)}}}
}

func failure(why string) pawl.Step {
	return pawl.Finish{Verdict: pawl.Verdict{Holds: true, Status: pawl.StatusFailed, Condition: "a2a", Leaf: "a2a", Detail: why}}
}

// nobody is the model of an agent that asks none.
type nobody struct{}

// Stream fails.
func (nobody) Stream(context.Context, pawl.Request) iter.Seq2[pawl.Chunk, error] {
	return func(yield func(pawl.Chunk, error) bool) {
		yield(pawl.Chunk{}, &pawl.ModelError{Class: pawl.ClassInvalid, Message: "a remote agent has no model here"})
	}
}

// Describe returns a price of zero, since nothing is spent here: what the task costs is not known.
func (nobody) Describe() pawl.ModelInfo {
	return pawl.ModelInfo{Name: "remote", Price: &pawl.Price{}, PriceFrom: "unknown"}
}
