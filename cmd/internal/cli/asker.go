package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/approval"
	"github.com/pawl-run/pawl/cmd/internal/screen"
	"github.com/pawl-run/pawl/engine"
	"github.com/pawl-run/pawl/internal/display"
	"github.com/pawl-run/pawl/internal/jsonschema"
	"github.com/pawl-run/pawl/internal/redact"
	"github.com/pawl-run/pawl/internal/wire"
)

// asker asks the person at the terminal to decide calls.
type asker struct {
	a     *app
	lines typedLines
	tools map[string]pawl.ToolInfo // by name
	by    string
}

func (a *app) asker(tools []pawl.ToolInfo) *asker {
	s := &asker{a: a, lines: a.lineReader(), tools: map[string]pawl.ToolInfo{}, by: engine.Self().User}
	for _, t := range tools {
		s.tools[t.Name] = t
	}
	return s
}

// infos are the tools of an agent.
func infos(agent pawl.Agent) (tools []pawl.ToolInfo) {
	for _, t := range agent.Tools {
		tools = append(tools, t.Info())
	}
	return tools
}

const answers = "  y approves it; always: r for this run, t for this thread, a for this agent, each with N ARG… only N more, with any ARG;\n" +
	"  e edits the arguments, n REASON denies it, l leaves it for later"

// scopes are the scopes of the answers that approve later calls, too.
var scopes = map[string]string{
	"r": approval.ForRun, "run": approval.ForRun, "t": approval.ForThread, "thread": approval.ForThread, "a": approval.ForAgent, "agent": approval.ForAgent,
}

// Approve implements engine.Approver. Without an answer others decide the call.
func (s *asker) Approve(ctx context.Context, r engine.Request) (engine.Decision, error) {
	var edited json.RawMessage
	release := s.a.err.Hold()
	defer release()
	s.drain()
	s.show(r, r.Args)
	for {
		s.a.err.Tell(answers + "\n")
		line, err := s.next(ctx)
		if err != nil {
			return engine.Decision{}, err
		}
		word, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
		rest = strings.TrimSpace(rest)
		switch strings.ToLower(word) {
		case "y", "yes", "once":
			return engine.Decision{Approve: true, Args: edited, By: s.by}, nil
		case "r", "run", "t", "thread", "a", "agent":
			d, err := always(strings.ToLower(word), rest, &r, s.tools[r.Tool])
			switch d.By = s.by; {
			case edited != nil:
				s.sayf("  edited arguments apply to this call only; y approves it")
				continue
			case err != nil:
				s.sayf("  not taken: %v", err)
				continue
			}
			s.sayf("  always: %s", display.Escape(covered(&r, d.Reach)))
			if d.Scope != approval.ForRun {
				s.sayf("  y gives this permission, which pawl approvals lists; anything else does not")
				if line, err = s.next(ctx); err != nil || strings.TrimSpace(line) != "y" {
					continue
				}
			}
			return d, nil
		case "e", "edit":
			args, err := s.edit(ctx, r, edited, rest)
			if ctx.Err() != nil {
				return engine.Decision{}, engine.ErrLater
			}
			if err != nil {
				s.sayf("  not taken: %v", err)
				continue
			}
			edited = args
			if args == nil {
				args = r.Args
			}
			s.show(r, args)
		case "n", "no", "deny":
			if rest == "" {
				s.sayf("  reason for the model (an empty line gives none):")
				if rest, err = s.next(ctx); err != nil {
					return engine.Decision{}, err
				}
			}
			return engine.Decision{Reason: strings.TrimSpace(rest), By: s.by}, nil
		case "l", "later":
			return engine.Decision{}, engine.ErrLater
		}
	}
}

// always reads an approval for later calls: the scope, then nothing, or a number and the
// arguments that may differ.
func always(word, rest string, r *engine.Request, t pawl.ToolInfo) (engine.Decision, error) {
	d := engine.Decision{Approve: true, Reach: approval.Reach{Scope: scopes[word]}}
	d.Until = d.End(time.Now()).UTC().Truncate(time.Second)
	if d.Scope == approval.ForThread && r.Thread == "" {
		return d, errors.New("the run is in no thread")
	}
	words := strings.Fields(rest)
	if len(words) == 0 {
		return d, nil
	}
	times, err := strconv.Atoi(words[0])
	if err != nil || times < 1 {
		return d, fmt.Errorf("%q is not a number of calls", words[0])
	}
	d.Times, d.Free = times, words[1:]
	err = d.Check(t)
	return d, err
}

// covered says which later calls an approval covers.
func covered(r *engine.Request, reach approval.Reach) string {
	p := approval.Permission{Reach: reach, Run: r.Run, Thread: r.Thread, Agent: r.Agent, Labels: r.Labels, Tool: r.Tool, Args: wire.Without(redact.JSON(r.Args), reach.Free)}
	return p.String()
}

// edit lets the person edit a call's arguments: as JSON typed after the answer, or on the next
// line. nil: the arguments are unchanged.
func (s *asker) edit(ctx context.Context, r engine.Request, edited json.RawMessage, given string) (json.RawMessage, error) {
	args, err := json.RawMessage(given), error(nil)
	if given == "" {
		s.sayf("  type the arguments as one line of JSON; an empty line keeps them")
		var line string
		line, err = s.next(ctx)
		if args = json.RawMessage(strings.TrimSpace(line)); len(args) == 0 && err == nil {
			return edited, nil
		}
	}
	if err != nil {
		return nil, err
	}
	if err := s.fits(r.Tool, args); err != nil {
		return nil, err
	}
	if equalJSON(args, r.Args) {
		return nil, nil
	}
	return args, nil
}

// next returns the next line typed. At the end of the input, or when the question
// is withdrawn, others decide.
func (s *asker) next(ctx context.Context) (string, error) {
	line, err := s.lines.next(ctx)
	switch {
	case err == nil:
		return line, nil
	case ctx.Err() == nil && errors.Is(err, io.EOF):
		s.sayf("  no answer (end of input); left for later")
	}
	return "", engine.ErrLater
}

// sayf prints one line to the person who is asked.
func (s *asker) sayf(format string, args ...any) {
	s.a.err.Tell(screen.OneLine(fmt.Sprintf(format, args...)) + "\n")
}

// drain drops what was typed before the question was shown.
func (s *asker) drain() {
	if s.a.attended() {
		s.lines.drain(s.a.in)
	}
}

// show prints everything the decision depends on.
func (s *asker) show(r engine.Request, args json.RawMessage) {
	var b strings.Builder
	fmt.Fprintf(&b, "approve %s? %s\n", screen.OneLine(r.Call), screen.OneLine(r.Tool))
	shown := redact.JSON(args)
	text := legible(shown, "  ")
	if plan, ok := planOf(r.Tool, shown); ok {
		text = display.Escape(plan) // as text, since only the model and its reader take it
	}
	for line := range strings.Lines(text) {
		b.WriteString("    " + strings.TrimSuffix(line, "\n") + "\n")
	}
	row := func(what, text string) {
		if text = screen.OneLine(text); text != "" {
			fmt.Fprintf(&b, "  %s: %s\n", what, text)
		}
	}
	if edited := !equalJSON(args, r.Args); edited {
		row("edited", "the model wanted "+legible(redact.JSON(r.Args), ""))
	}
	if !bytes.Equal(shown, args) {
		row("hidden", "what looks like a secret")
	}
	row("why", r.Reason)
	row("the model says", gist(r.Thought))
	row("lapses if one of these changes", strings.Join(slices.Sorted(maps.Keys(r.Witnesses)), ", "))
	if !r.Expires.IsZero() {
		row("expires", fmt.Sprintf("%s (in %s)", r.Expires.Local().Format(time.DateTime), display.Duration(time.Until(r.Expires).Round(time.Second))))
	}
	s.a.err.Tell(b.String())
}

// planOf returns the plan that a call presents.
func planOf(tool string, args json.RawMessage) (string, bool) {
	var a struct {
		Plan string `json:"plan"`
	}
	return a.Plan, tool == approval.PlanTool && json.Unmarshal(args, &a) == nil && a.Plan != ""
}

// legible is JSON for people, in one line or indented. Characters that a terminal would interpret
// or hide are escaped: the approver must see exactly what will run.
func legible(raw json.RawMessage, indent string) string {
	var b bytes.Buffer
	err := json.Compact(&b, raw)
	if indent != "" {
		b.Reset()
		err = json.Indent(&b, raw, "", indent)
	}
	if err != nil {
		return display.Escape(string(raw))
	}
	return display.Escape(b.String())
}

func equalJSON(a, b json.RawMessage) bool {
	x, errX := wire.Canonical(a)
	y, errY := wire.Canonical(b)
	return errX == nil && errY == nil && bytes.Equal(x, y)
}

// fits returns what is wrong with edited arguments.
func (s *asker) fits(tool string, args json.RawMessage) error {
	if !json.Valid(args) {
		return errors.New("this is not JSON")
	}
	schema, err := jsonschema.Compile(s.tools[tool].Input, &jsonschema.Options{Closed: true})
	if err != nil {
		return err
	}
	problems := schema.Validate(args)
	if len(problems) == 0 {
		return nil
	}
	lines := make([]string, len(problems))
	for i, p := range problems {
		lines[i] = strings.TrimPrefix(p.Path+": "+p.Message, ": ")
	}
	return errors.New(strings.Join(lines, "; "))
}
