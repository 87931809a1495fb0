package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/engine"
	"github.com/pawl-run/pawl/internal/display"
	"github.com/pawl-run/pawl/spec"
)

// slash matches a message that is a command. A path, which has a second slash, is none.
var slash = regexp.MustCompile(`^/[a-zA-Z?]+(\s|$)`)

// chatCommands are the commands of a conversation and what they do.
var chatCommands = [][2]string{
	{"/plan", "plan the next message first: only tools that read run until you approve the plan; again: do not"},
	{"/attach FILE", "attach a picture, a PDF, a sound or a text, or SERVER:URI of an MCP server, to the next message"},
	{"/prompt [SERVER:NAME [ARG=VALUE…]]", "list the prompts of MCP servers, or send one"},
	{"/undo", "go on from before the last message; nothing is deleted"},
	{"/cost", "show what the conversation and the last answer cost"},
	{"/model [NAME] [EFFORT]", "show the model, or use another one or another effort from now on"},
	{"/help", "show this list"},
	{"/quit", "leave; pawl chat -c continues the conversation"},
}

// command does what a line that begins with a slash says. leave: it is to leave.
func (t *talk) command(ctx context.Context, words []string) (leave bool, err error) {
	if len(words) > 1 && !slices.Contains([]string{"/model", "/attach", "/prompt"}, words[0]) {
		return false, misuse("%s takes nothing; write the message in a line of its own", words[0])
	}
	switch words[0] {
	case "/plan":
		t.plan = !t.plan
		if err := t.build(ctx); err != nil {
			t.plan = !t.plan
			return false, err
		}
		if t.plan {
			t.a.sayf("the next message is planned first: only tools that read run until you approve the plan")
		} else {
			t.a.sayf("the next message is not planned first")
		}
		return false, nil
	case "/attach":
		if len(words) == 1 {
			return false, misuse("/attach takes the name of a file")
		}
		files, err := t.a.attached(ctx, []string{strings.Join(words[1:], " ")})
		if err == nil {
			t.files = append(t.files, files...)
			t.a.sayf("the next message has %s", display.Count(len(t.files), "file"))
		}
		return false, err
	case "/prompt":
		return false, t.prompt(ctx, words[1:])
	case "/undo":
		return false, t.undo(ctx)
	case "/cost":
		return false, t.cost(ctx)
	case "/model":
		return false, t.change(ctx, words[1:])
	case "/help":
		for _, c := range chatCommands {
			t.a.err.Paint(fmt.Sprintf("  %-14s %s\n", c[0], c[1]))
		}
		t.a.err.Paint("  Ctrl-C stops the answer; Ctrl-D ends the chat; a backslash at the end of a line continues the message on the next\n")
		return false, nil
	case "/quit":
		return true, nil
	}
	return false, misuse("there is no command %s; /help lists the commands", words[0])
}

// prompt lists the prompts of the MCP servers, or sends one as a message. A text of a server that is not
// trusted is no person's.
func (t *talk) prompt(ctx context.Context, words []string) error {
	if len(words) == 0 {
		return t.listPrompts(ctx)
	}
	s, name, ok := t.a.serverOf(words[0])
	if !ok {
		return misuse("%s names no prompt of a connected MCP server; /prompt lists them", words[0])
	}
	args := map[string]string{}
	for _, word := range words[1:] {
		key, value, is := strings.Cut(word, "=")
		if !is {
			return misuse("%s is no argument; write NAME=VALUE, without spaces", word)
		}
		args[key] = value
	}
	text, err := s.Prompt(ctx, name, args)
	if err != nil {
		return err
	}
	t.a.shade("%s", text)
	t.foreign = !s.trusted
	defer func() { t.foreign = false }()
	return t.say(ctx, text)
}

func (t *talk) listPrompts(ctx context.Context) error {
	n := 0
	for _, s := range t.a.servers {
		prompts, err := s.Prompts(ctx)
		if err != nil {
			return err
		}
		for _, p := range prompts {
			n++
			words := []string{"/prompt", s.Name() + ":" + p.Name}
			for _, a := range p.Arguments {
				words = append(words, a+"=…")
			}
			t.a.sayf("%s  %s", strings.Join(words, " "), p.Description)
		}
	}
	if n == 0 {
		t.a.sayf("no connected MCP server has prompts")
	}
	return nil
}

// undo goes on from before the last exchange, in a thread that branches off there.
func (t *talk) undo(ctx context.Context) error {
	if t.last == "" {
		return misuse("there is no message to undo")
	}
	s, err := engine.Load(ctx, t.j, t.last)
	if err != nil {
		return err
	}
	if err := t.markUndone(ctx); err != nil {
		return err
	}
	start, _ := s.Start()
	dollars, _ := s.Cost()
	undone := t.last
	t.back(s)
	t.before += dollars
	t.a.sayf("undone: %s", gist(start.Input))
	var did []string
	for c := range s.Calls() {
		if c.Ran && c.Effect != pawl.Read && !slices.Contains(did, c.Tool) {
			did = append(did, c.Tool)
		}
	}
	if len(did) > 0 {
		t.a.sayf("what %s did stays done", strings.Join(did, ", "))
	}
	if !s.Status().Ended() {
		t.a.sayf("its run still waits; pawl cancel %s ends it", undone)
	}
	return nil
}

// cost shows what the conversation cost.
func (t *talk) cost(ctx context.Context) error {
	dollars, known, n := t.before, true, 0
	for run := t.last; run != ""; n++ {
		s, err := engine.Load(ctx, t.j, run)
		if err != nil {
			return err
		}
		spent, priced := s.Cost()
		dollars, known = dollars+spent, known && priced
		start, _ := s.Start()
		if run = ""; start.Continues != nil {
			run = start.Continues.Run
		}
	}
	text := "no price"
	if known {
		text = display.Dollars(dollars)
	}
	t.a.sayf("this conversation: %s, %s", display.Count(n, "message"), text)
	if t.result.Run != "" {
		t.a.sayf("the last answer: %s", figures(t.result))
	}
	return nil
}

// change shows the model and how much it thinks, or changes them.
func (t *talk) change(ctx context.Context, to []string) error {
	model, effort := t.model, t.effort
	names, efforts := 0, 0
	for _, word := range to {
		if slices.Contains(pawl.Efforts, word) {
			effort, efforts = word, efforts+1
		} else {
			model, names = unfiled(word), names+1
		}
	}
	switch {
	case len(to) == 0:
		t.a.sayf("%s; /model PROVIDER/NAME changes it, and /model EFFORT how much it thinks: %s", t.served(), strings.Join(pawl.Efforts, ", "))
		return nil
	case names > 1 || efforts > 1:
		return misuse("/model takes a name, an effort, or one of each")
	}
	t.model, model = model, t.model
	t.effort, effort = effort, t.effort
	if err := t.build(ctx); err != nil {
		t.model, t.effort = model, effort
		problems, _ := errors.AsType[spec.Problems](err)
		for i := range problems {
			if problems[i].File == modelSetting {
				problems[i].File = "/model"
			}
		}
		return err
	}
	t.a.sayf("from now on: %s", t.served())
	return nil
}

// served names the model and its effort, if one is asked for.
func (t *talk) served() string {
	text := place(t.agent.Model)
	if e := t.agent.Sampling.Effort; e != "" {
		text += ", effort " + e
	}
	return text
}

// The signal that says that a conversation goes on from before a run: a note, which wakes
// nobody, in the run's inbox, which also takes it when the run is over.
const undoneRequest = "chat.undone"

var undoneBody = json.RawMessage(`{"name":"undone","value":true}`)

// markUndone makes durable that the last exchange is undone.
func (t *talk) markUndone(ctx context.Context) error {
	_, err := t.j.Send(ctx, pawl.Signal{Run: t.last, Kind: pawl.SignalNote, Request: undoneRequest, By: engine.Self().User, Body: undoneBody})
	return err
}

// isUndone reports whether the last exchange was undone, by this process or an earlier one.
func (t *talk) isUndone(ctx context.Context) (bool, error) {
	for s, err := range t.j.Signals(ctx, t.last, 0) {
		if err != nil || s.Request == undoneRequest {
			return err == nil, err
		}
	}
	return false, nil
}

// back goes on from before the last exchange, in a thread that branches off there.
func (t *talk) back(last *pawl.State) {
	t.thread, t.last, t.branch = newThread(), "", ""
	if start, _ := last.Start(); start.Continues != nil {
		t.last, t.branch = start.Continues.Run, start.Continues.Run
	}
}
