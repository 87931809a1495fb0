package transcript

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/approval"
	"github.com/pawl-run/pawl/guard"
	"github.com/pawl-run/pawl/progress"
	"github.com/pawl-run/pawl/stop"
	"github.com/pawl-run/pawl/team"
	"github.com/pawl-run/pawl/tool"
	"github.com/pawl-run/pawl/window"
	"github.com/pawl-run/pawl/workflow"
)

// agent reads a declaration, one line a field:
//
//	name NAME · fallback NAME · prompt TEXT · loop react|single|review · strategy json
//	stop EXPR · limits K=V… · output SCHEMA · price IN/OUT[/READ/WRITE/SEARCH] · max_tokens N · effort E
//	writes N [EFFORT]: the most tokens of a reply of each model, and what it thinks with by itself
//	builtins · plan · board · serial · max_parallel N · core PATTERN… · observe · goal EXPR · approvals [ttl=D] [stop] [unobserved]
//	tool NAME [read|idempotent|write] [client|alone|exempt|external] [timeout=D cap=N calls=N parallel=N on_doubt=X version=V args=a,b? witness=a,b supervised=WORD]
//	wait [SIGNAL…]: the tool wait
//	hosted NAME [calls=N cap=N]: the provider runs it
//	delegate NAME [limits=K=V,…] [ask=TOOL] TOOL…: an agent as a tool; it has the tools named, declared before
//	mate NAME [carry=X] [back] [limits=K=V,…] [ask=TOOL] TOOL…: an agent that may get the conversation, and with back may hand it back
//	node ID TOOL [ARGS] [suspend=before|after]: a node of a graph, which calls a tool declared before
//	edge FROM TO [join=all|any|first|N] [if EXPR]: FROM - is the beginning
//	policy no_progress N THEN [HINT] · refuse TOOL · ask TOOL · clamp N · loosen · raise · flap A · flap B
//	policy context [keep=N] [tokens=N] [bytes=N] [ttl=D] [never]
//	policy reflexion, grounding, causal, steer: see judge
//	hook NAME cancel|retry WORD [REASON]: what it directs about every entry whose line has the word
func (w *world) agent(input string) (a pawl.Agent, err error) {
	a = pawl.Agent{Name: "transcript", Model: w}
	var nodes []workflow.Step
	var edges []workflow.Edge
	for line := range strings.Lines(input) {
		word, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
		switch word {
		case "name":
			a.Name = rest
		case "fallback":
			a.Fallback = append(a.Fallback, other{w, rest})
		case "prompt":
			a.Prompt = rest
		case "loop":
			a.Loop, err = loop(rest)
		case "strategy":
			err = a.Strategy.UnmarshalText([]byte(rest))
		case "stop":
			a.Stop, err = stop.Parse(rest, nil)
		case "limits":
			a.Limits, err = limits(strings.Fields(rest), pawl.Limits{})
		case "output":
			a.Output = json.RawMessage(rest)
		case "max_tokens":
			a.Sampling.MaxTokens, err = strconv.Atoi(rest)
		case "tool_choice":
			a.Sampling.ToolChoice = rest
		case "effort":
			a.Sampling.Effort = rest
		case "writes":
			most, effort, _ := strings.Cut(rest, " ")
			w.effort = effort
			w.reply, err = strconv.Atoi(most)
		case "price":
			w.price = &pawl.Price{}
			for i, figure := range strings.Split(rest, "/") {
				if to := []*float64{&w.price.Input, &w.price.Output, &w.price.CacheRead, &w.price.CacheWrite, &w.price.Search}; err == nil && i < len(to) {
					*to[i], err = strconv.ParseFloat(figure, 64)
				}
			}
		case "builtins":
			a.Builtins = true
		case "plan":
			a.Tools, a.Policies = append(a.Tools, approval.PresentPlan()), append(a.Policies, approval.Plan())
		case "board": // after the agents that share it
			a = team.Board(a)
		case "notices":
			a.Notices = true
		case "serial":
			a.Serial = true
		case "core":
			a.Core = strings.Fields(rest)
		case "max_parallel":
			a.MaxParallel, err = strconv.Atoi(rest)
		case "approvals":
			for w := range strings.FieldsSeq(rest) {
				if ttl, ok := strings.CutPrefix(w, "ttl="); ok {
					a.Approvals.TTL, err = time.ParseDuration(ttl)
				}
				a.Approvals.StopOnDeny = a.Approvals.StopOnDeny || w == "stop"
				a.Approvals.IgnoreObservation = a.Approvals.IgnoreObservation || w == "unobserved"
			}
		case "observe":
			a.Observer = w.Observe
		case "instruct": // for each turn, and the last for all further ones; -: none
			texts := strings.Split(rest, " | ")
			a.Instruct = func(_ context.Context, s *pawl.State) (string, error) {
				return strings.TrimPrefix(strings.TrimSpace(texts[min(s.Iterations(), len(texts)-1)]), "-"), nil
			}
		case "goal":
			a.Goal = &pawl.Goal{Metric: w.Measure}
			a.Goal.Success, err = stop.Parse(rest, nil)
		case "tool":
			t := scripted{world: w}
			words := slices.DeleteFunc(strings.Fields(rest), func(word string) bool {
				key, value, _ := strings.Cut(word, "=")
				switch key {
				case "witness":
					t.witnesses = strings.Split(value, ",")
				case "supervised":
					t.supervised = value
				}
				return key == "witness" || key == "supervised"
			})
			if t.info, err = toolInfo(words); err == nil {
				a.Tools = append(a.Tools, t)
			}
		case "wait":
			a.Tools = append(a.Tools, tool.Wait(&tool.WaitOptions{Signals: strings.Fields(rest)}))
		case "hosted":
			info, wrong := toolInfo(strings.Fields(rest))
			a.Tools, err = append(a.Tools, tool.Hosted(info.Name, &tool.HostedOptions{MaxCalls: info.MaxCalls, MaxOutput: info.MaxOutput})), wrong
		case "delegate":
			var t pawl.Tool
			if t, err = w.delegate(strings.Fields(rest), a.Tools); err == nil {
				a.Tools = append(a.Tools, t)
			}
		case "mate":
			var t pawl.Tool
			if t, err = w.mate(strings.Fields(rest), a.Tools); err == nil {
				a.Tools = append(a.Tools, t)
			}
		case "node":
			var n workflow.Step
			if n, err = graphNode(strings.Fields(rest)); err == nil {
				nodes = append(nodes, n)
			}
		case "edge":
			var e workflow.Edge
			if e, err = graphEdge(rest); err == nil {
				edges = append(edges, e)
			}
		case "policy":
			var p pawl.Policy
			if p, err = w.judge(strings.Fields(rest)); p == nil && err == nil {
				p, err = policy(strings.Fields(rest))
			}
			if err == nil {
				a.Policies = append(a.Policies, p)
			}
		case "hook":
			var h objection
			if h, err = hook(strings.Fields(rest)); err == nil {
				w.hooks = append(w.hooks, h)
			}
		default:
			err = fmt.Errorf("no field %q", word)
		}
		if err != nil {
			return a, fmt.Errorf("agent %s: %w", strings.TrimSpace(line), err)
		}
	}
	if nodes != nil {
		a = workflow.Graph(a, nodes, edges...)
	}
	return a, nil
}

// delegate makes an agent a tool. What it thinks comes from the same script.
func (w *world) delegate(words []string, all []pawl.Tool) (pawl.Tool, error) {
	a := pawl.Agent{Name: words[0], Description: words[0], Model: junior{other{w, words[0]}}}
	err := w.equip(&a, words[1:], all)
	return tool.Agent(a, nil), err
}

// mate makes a tool that hands over to an agent. What that thinks comes from the same script.
func (w *world) mate(words []string, all []pawl.Tool) (pawl.Tool, error) {
	a := &pawl.Agent{Name: words[0], Description: words[0], Model: other{w, words[0]}}
	o, rest := &team.Options{}, []string{}
	for _, word := range words[1:] {
		switch name, value, _ := strings.Cut(word, "="); {
		case word == "back":
			a.Tools = append(a.Tools, team.Handoff(&w.first, nil))
		case name == "carry":
			o.Carry = map[string]team.Carry{"all": team.CarryAll, "summary": team.CarrySummary, "last": team.CarryLast}[value]
		default:
			rest = append(rest, word)
		}
	}
	err := w.equip(a, rest, all)
	return team.Handoff(a, o), err
}

// equip gives an agent what a line says of it.
func (w *world) equip(a *pawl.Agent, words []string, all []pawl.Tool) (err error) {
	for _, word := range words {
		switch name, value, _ := strings.Cut(word, "="); name {
		case "limits":
			a.Limits, err = limits(strings.Split(value, ","), pawl.Limits{})
		case "ask":
			a.Policies = append(a.Policies, moves{value, pawl.CallAsk, false})
		default:
			i := slices.IndexFunc(all, func(t pawl.Tool) bool { return t.Info().Name == name })
			if i < 0 {
				return fmt.Errorf("no tool %q", name)
			}
			a.Tools = append(a.Tools, all[i])
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// other is the world's model under another name.
type other struct {
	*world
	name string
}

func (o other) Describe() pawl.ModelInfo {
	info := o.world.Describe()
	info.Name = o.name
	return info
}

// junior is what a child run asks. Children that ask at once take their lines in
// the order of the first letter of what they were asked themselves.
type junior struct{ other }

// Stream says the next line of the model's script.
func (j junior) Stream(ctx context.Context, r pawl.Request) iter.Seq2[pawl.Chunk, error] {
	return func(yield func(pawl.Chunk, error) bool) {
		if len(r.Messages) > 0 {
			if text := r.Messages[0].Text(); text != "" {
				time.Sleep(time.Duration(text[0]) * skew)
			}
		}
		j.other.Stream(ctx, r)(yield)
	}
}

func loop(name string) (pawl.Loop, error) {
	switch name {
	case "react":
		return pawl.ReAct{}, nil
	case "single":
		return pawl.SingleCall{}, nil
	case "review":
		return reviewed{}, nil
	case "scribble":
		return scribble{}, nil
	}
	return nil, fmt.Errorf("no loop %q", name)
}

func toolInfo(words []string) (i pawl.ToolInfo, err error) {
	i.Name = words[0]
	i.Input = json.RawMessage(`{"type":"object","additionalProperties":true}`)
	for _, w := range words[1:] {
		name, value, _ := strings.Cut(w, "=")
		switch name {
		case "client":
			i.Client = true
		case "alone":
			i.Alone = true
		case "exempt":
			i.Exempt = true
		case "timeout":
			i.Timeout, err = time.ParseDuration(value)
		case "cap":
			i.MaxOutput, err = strconv.Atoi(value)
		case "calls":
			i.MaxCalls, err = strconv.Atoi(value)
		case "parallel":
			i.MaxParallel, err = strconv.Atoi(value)
		case "external":
			i.External = true
		case "on_doubt":
			err = i.OnDoubt.UnmarshalText([]byte(value))
		case "version":
			i.Version = value
		case "untrusted":
			i.Trust = pawl.Untrusted
		case "args":
			i.Input = schema(strings.Split(value, ","))
		default:
			err = i.Effect.UnmarshalText([]byte(name))
		}
		if err != nil {
			return i, err
		}
	}
	return i, nil
}

// schema makes an object schema of integers; a ? makes one optional.
func schema(names []string) json.RawMessage {
	properties, required := map[string]any{}, []string{}
	for _, name := range names {
		short, optional := strings.CutSuffix(name, "?")
		properties[short] = map[string]string{"type": "integer"}
		if !optional {
			required = append(required, short)
		}
	}
	raw, err := json.Marshal(map[string]any{"type": "object", "properties": properties, "required": required})
	if err != nil {
		return nil // maps of strings always marshal
	}
	return raw
}

func policy(words []string) (pawl.Policy, error) {
	words = append(words, "", "", "")
	switch words[0] {
	case "no_progress":
		n, err := strconv.Atoi(words[1])
		then := map[string]progress.Then{"": 0, "fail": progress.Fail, "escalate": progress.Escalate, "hint": progress.Hint}[words[2]]
		return progress.NoProgress(n, then, strings.TrimSpace(strings.Join(words[3:], " "))), err
	case "refuse":
		return moves{words[1], pawl.CallRefuse, false}, nil
	case "ask":
		return moves{words[1], pawl.CallAsk, false}, nil
	case "inplace":
		return moves{words[1], pawl.CallAsk, true}, nil
	case "loosen":
		return moves{words[1], pawl.CallRun, false}, nil
	case "clamp":
		n, err := strconv.Atoi(words[1])
		return clamps(n), err
	case "context":
		return planned(words[1:])
	case "topics":
		return guard.New(guard.Topics(guard.Retry, strings.Fields(strings.Join(words[1:], " "))...)), nil
	case "flap":
		return flaps(words[1]), nil
	}
	return nil, fmt.Errorf("no policy %q", words[0])
}

// planned is the policy that shortens the conversation.
func planned(words []string) (pawl.Policy, error) {
	o := &window.Options{}
	for _, w := range words {
		name, value, _ := strings.Cut(w, "=")
		var err error
		switch name {
		case "":
		case "never":
			o.Never = true
		case "keep":
			o.Keep, err = strconv.Atoi(value)
		case "tokens":
			o.MaxTokens, err = strconv.Atoi(value)
		case "bytes":
			o.MaxBytes, err = strconv.Atoi(value)
		case "ttl":
			o.TTL, err = time.ParseDuration(value)
		default:
			err = fmt.Errorf("no setting %q", w)
		}
		if err != nil {
			return nil, err
		}
	}
	return window.Compact(o), nil
}
