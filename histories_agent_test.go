package pawl_test

import (
	"context"
	"encoding/json"
	"errors"
	"iter"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/guard"
	"github.com/pawl-run/pawl/judge"
	"github.com/pawl-run/pawl/progress"
	"github.com/pawl-run/pawl/stop"
	"github.com/pawl-run/pawl/window"
)

// again makes an agent of what a log says of the one it was written by. It can
// decide, which is pure, but not act.
func again(t *testing.T, d pawl.Declaration) pawl.Agent {
	t.Helper()
	a := pawl.Agent{
		Name: d.Agent, Description: d.Description, Prompt: d.Prompt, Strategy: d.Strategy, Limits: d.Limits,
		Output: d.Output, Sampling: d.Sampling, Serial: d.Serial, Approvals: d.Approvals, Model: &recalled{d.Model},
	}
	for _, info := range d.Fallback {
		a.Fallback = append(a.Fallback, &recalled{info})
	}
	auxiliaries := map[string]pawl.Model{}
	for _, info := range d.Auxiliary {
		auxiliaries[info.Name] = &recalled{info}
	}
	if d.Loop == "single" {
		a.Loop = pawl.SingleCall{}
	}
	if d.Observes && d.Goal == "" {
		a.Observer = func(context.Context) (pawl.Observation, error) { return pawl.Observation{}, errors.New("long gone") }
	}
	if d.Stop != "" {
		a.Stop = must(stop.Parse(d.Stop, nil))
	}
	if d.Goal != "" {
		a.Observer = (&realm{}).Observe
		a.Goal = &pawl.Goal{Metric: (&realm{}).Measure, Success: must(stop.Parse(d.Goal, nil))}
	}
	for _, info := range d.Tools {
		if strings.HasPrefix(info.Name, "__") {
			a.Builtins = a.Builtins || d.Strategy != pawl.StrategyJSON || info.Name != "__complete__"
			continue
		}
		if info.Agent != "" {
			a.Tools = append(a.Tools, delegated{deed{nil, info}})
			continue
		}
		a.Tools = append(a.Tools, deed{nil, info})
	}
	for _, source := range d.Policies {
		p, err := rule(source, auxiliaries)
		if err != nil {
			t.Fatalf("policy %q: %v", source, err)
		}
		a.Policies = append(a.Policies, p)
	}
	return a
}

var (
	ruleForm  = regexp.MustCompile(`^(\w+)\((.*)\)$`)
	ruleParts = regexp.MustCompile(`"(?:[^"\\]|\\.)*"|[^," ][^,"]*"[^"]*"|[^," ][^,"]*`)
)

// rule reads a policy from the source that stands in a log.
func rule(source string, auxiliaries map[string]pawl.Model) (pawl.Policy, error) {
	m := ruleForm.FindStringSubmatch(source)
	if m == nil {
		return nil, errors.New("it has another form")
	}
	parts := ruleParts.FindAllString(m[2], -1)
	var model pawl.Model
	if n := len(parts) - 1; n >= 0 {
		if name, ok := strings.CutPrefix(parts[n], "by "); ok {
			parts, model = parts[:n], auxiliaries[must(strconv.Unquote(name))]
		}
	}
	number := func(text string) int { return must(strconv.Atoi(text)) }
	text := func(n int) string {
		if n >= len(parts) {
			return ""
		}
		return must(strconv.Unquote(parts[n]))
	}
	switch m[1] {
	case "no_progress":
		then := map[string]progress.Then{"fail": progress.Fail, "escalate": progress.Escalate, "hint": progress.Hint}[parts[1]]
		return progress.NoProgress(number(parts[0]), then, text(2)), nil
	case "reflexion":
		o := &judge.ReflexionOptions{Every: -1, Model: model, IgnoreErrors: !slices.Contains(parts, "on error"), IgnoreLoops: !slices.Contains(parts, "on loop")}
		if every, ok := strings.CutPrefix(parts[0], "every "); ok {
			o.Every = number(every)
		}
		return judge.Reflexion(o), nil
	case "grounding":
		n := number(strings.TrimSuffix(parts[0], " replans"))
		if n == 0 {
			n = -1
		}
		return judge.Grounding(&judge.GroundingOptions{Replans: n, Strict: slices.Contains(parts, "strict"), Model: model}), nil
	case "guard":
		topics, _ := strings.CutPrefix(strings.Join(parts, ", "), "topics(")
		var words []string
		for word := range strings.SplitSeq(strings.TrimSuffix(topics, "): retry"), ", ") {
			words = append(words, must(strconv.Unquote(word)))
		}
		return guard.New(guard.Topics(guard.Retry, words...)), nil
	case "causal":
		return judge.Causal(), nil
	case "steer":
		return judge.Steer(text(0), &judge.SteerOptions{Model: model, WritesOnly: slices.Contains(parts, "writes only"), Ask: slices.Contains(parts, "may ask")}), nil
	case "context":
		o := &window.Options{}
		for _, part := range parts {
			switch name, value, _ := strings.Cut(part, " "); name {
			case "keep":
				if o.Keep = number(value); o.Keep == 0 {
					o.Keep = -1
				}
			case "ttl":
				o.TTL = must(time.ParseDuration(value))
			case "never":
				o.Never = true
			default:
				switch value {
				case "tokens":
					o.MaxTokens = number(name)
				case "bytes":
					o.MaxBytes = number(name)
				}
			}
		}
		o.Model = model
		return window.Compact(o), nil
	case "clamp":
		return lowers(number(parts[0])), nil
	case "refuse":
		return moves{m[2], pawl.CallRefuse, source}, nil
	case "ask":
		return moves{m[2], pawl.CallAsk, source}, nil
	}
	return nil, errors.New("no such policy is known")
}

// delegated is a tool whose calls were runs of another agent.
type delegated struct{ deed }

func (d delegated) Agent() pawl.Agent {
	return pawl.Agent{Name: d.info.Agent, Model: &recalled{pawl.ModelInfo{Name: "gone"}}}
}
func (delegated) Ask(args json.RawMessage) (string, error) { return string(args), nil }

type recalled struct{ info pawl.ModelInfo }

func (r *recalled) Describe() pawl.ModelInfo { return r.info }
func (r *recalled) Stream(context.Context, pawl.Request) iter.Seq2[pawl.Chunk, error] {
	return func(func(pawl.Chunk, error) bool) {}
}

// moves and lowers are policies of those names that the transcripts use.
type (
	moves struct {
		tool   string
		to     pawl.Classification
		source string
	}
	lowers int
)

func (m moves) String() string  { return m.source }
func (l lowers) String() string { return "clamp(" + strconv.Itoa(int(l)) + ")" }

func (m moves) Review(_ *pawl.State, step pawl.Step) pawl.Step {
	if act, ok := step.(pawl.Act); ok {
		act.Calls = slices.Clone(act.Calls)
		for i := range act.Calls {
			if d := &act.Calls[i]; d.Call.Tool == m.tool && d.Do < m.to {
				d.Do, d.Why = m.to, "the policy "+m.source+" says so"
			}
		}
		return act
	}
	return step
}

func (l lowers) Review(_ *pawl.State, step pawl.Step) pawl.Step {
	if think, ok := step.(pawl.Think); ok {
		think.MaxTokens = min(think.MaxTokens, int(l))
		return think
	}
	return step
}
