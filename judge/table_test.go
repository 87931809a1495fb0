package judge_test

import (
	"context"
	"encoding/json"
	"errors"
	"github.com/pawl-run/pawl/model/anthropic"
	"github.com/pawl-run/pawl/model/openai"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/engine"
	"github.com/pawl-run/pawl/journal/memory"
	"github.com/pawl-run/pawl/judge"
	"github.com/pawl-run/pawl/model/script"
)

// A tableCase is a case of testdata/grounding.txt, which says what the fields are.
type tableCase struct {
	name, input, answer string
	calls               []tableCall
	wrong               map[int]string
	values              []string
}

type tableCall struct {
	kind, tool, args, result string
	turn                     int
}

func table(t *testing.T) (cases []*tableCase) {
	raw, err := os.ReadFile("testdata/grounding.txt")
	if err != nil {
		t.Fatal(err)
	}
	unescape := strings.NewReplacer(`\n`, "\n")
	for line := range strings.Lines(string(raw)) {
		kind, rest, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		if kind == "==" {
			cases = append(cases, &tableCase{name: rest, input: "Report.", wrong: map[int]string{}})
			continue
		}
		if kind == "" || kind[0] == '#' {
			continue
		}
		c := cases[len(cases)-1]
		switch kind {
		case "input":
			c.input = rest
		case "call", "write", "error":
			call, result, ok := strings.Cut(rest, " -> ")
			name, args, _ := strings.Cut(call, " ")
			if !ok || !json.Valid([]byte(args)) {
				t.Fatalf("%s: %s", c.name, line)
			}
			c.calls = append(c.calls, tableCall{kind, name, args, unescape.Replace(result), len(c.calls) + 1})
		case "answer":
			c.answer = unescape.Replace(rest)
		case "false":
			n, text, _ := strings.Cut(rest, " ")
			if c.wrong[must(strconv.Atoi(n))] = text; text == "" {
				t.Fatalf("%s: %s", c.name, line)
			}
		case "values":
			c.values = strings.Split(rest, " | ")
		default:
			t.Fatalf("%s: %s", c.name, line)
		}
	}
	return cases
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// A tableTool returns what the table says, call by call.
type tableTool struct {
	info    pawl.ToolInfo
	results map[string][]tableCall
}

func (t tableTool) Info() pawl.ToolInfo { return t.info }

func (t tableTool) Run(context.Context, pawl.Invocation) (pawl.Output, error) {
	now := t.results[t.info.Name][0]
	t.results[t.info.Name] = t.results[t.info.Name][1:]
	switch {
	case now.kind == "error":
		return pawl.Output{}, errors.New(now.result)
	case json.Valid([]byte(now.result)):
		return pawl.Output{JSON: []byte(now.result)}, nil
	}
	return pawl.Output{JSON: must(json.Marshal(now.result))}, nil
}

// run runs the case under a policy, with a model that answers the same however often it is asked.
func (c *tableCase) run(t *testing.T, o *judge.GroundingOptions) (pawl.Result, []pawl.Grounded) {
	a := pawl.Agent{Name: "table", Policies: []pawl.Policy{judge.Grounding(o)}}
	var replies []pawl.Reply
	results := map[string][]tableCall{} // by tool
	for _, call := range c.calls {
		replies = append(replies, pawl.Do(pawl.Call{Tool: call.tool, Args: []byte(call.args)}))
		if results[call.tool] = append(results[call.tool], call); len(results[call.tool]) > 1 {
			continue
		}
		info := pawl.ToolInfo{Name: call.tool, Input: []byte(`{"additionalProperties":true}`), Effect: pawl.Read}
		if call.kind == "write" {
			info.Effect = pawl.Write
		}
		a.Tools = append(a.Tools, tableTool{info, results})
	}
	a.Model = script.Replies(append(replies, pawl.Say(c.answer), pawl.Say(c.answer), pawl.Say(c.answer))...)
	journal := memory.New()
	run, err := engine.New(journal, nil).Start(t.Context(), a, c.input, nil)
	if err != nil {
		t.Fatal(err)
	}
	result := must(run.Wait(t.Context()))
	var found []pawl.Grounded
	for e, err := range engine.Entries(t.Context(), journal, run.ID(), 1) {
		if g, ok := e.Event.(pawl.Grounded); ok && err == nil {
			found = append(found, g)
		}
	}
	if len(found) == 0 {
		t.Fatalf("%v: the answer was not checked", result.Verdict)
	}
	return result, found
}

// TestGroundingTable holds each kind of check against the table. Values: the
// policy finds those that the table lists, hints once, accepts the answer, and
// under Strict fails exactly these runs. A judge: one that answers by the table is
// shown what it needs to know better, and its verdict is the outcome.
func TestGroundingTable(t *testing.T) { // Promises: L7.
	cases := table(t)
	sees := map[string]int{}
	for _, c := range cases {
		t.Run(strings.ReplaceAll(c.name, " ", "_"), func(t *testing.T) {
			r, found := c.run(t, nil)
			if r.Status != pawl.StatusSuccess || !slices.Equal(found[0].Claims, c.values) || len(found) != min(len(c.values), 1)+1 || r.Answer != c.answer {
				t.Errorf("without a judge it is %v with %q, %d times checked", r.Verdict, found[0].Claims, len(found))
			}
			if r, _ = c.run(t, &judge.GroundingOptions{Strict: true}); (r.Status == pawl.StatusFailed) != (c.values != nil) {
				t.Errorf("strictly it is %v", r.Verdict)
			}
			r, found = c.run(t, &judge.GroundingOptions{Replans: 1, Model: pawl.ModelFunc(c.judge(t))})
			if (r.Status == pawl.StatusSuccess) != (len(c.wrong) == 0) || len(found) != min(len(c.wrong), 1)+1 {
				t.Errorf("by a judge it is %v, %d times checked", r.Verdict, len(found))
			}
			for _, word := range c.wrong {
				if r.Reason.Leaf != "grounding" || !strings.Contains(r.Reason.Detail, word) || !strings.Contains(found[0].Hint, word+" is wrong") {
					t.Errorf("%q is not told: %+v %+v", word, r.Reason, found)
				}
			}
		})
		switch {
		case len(c.wrong) == 0 && c.values == nil:
			sees["true, passed"]++
		case len(c.wrong) == 0:
			sees["true, hinted at"]++
		case c.values == nil:
			sees["false, unseen"]++
		default:
			sees["false, seen"]++
		}
	}
	if t.Logf("%d cases; without a judge: %v", len(cases), sees); len(cases) < 60 {
		t.Errorf("there are %d cases", len(cases))
	}
}

// judge answers by the table, if it is shown the claims and the latest readings.
func (c *tableCase) judge(t *testing.T) func(context.Context, pawl.Request) (pawl.Reply, error) {
	return func(_ context.Context, r pawl.Request) (pawl.Reply, error) {
		type reading struct {
			Turn       int
			Tool, Args string
			Status     string
			Result     string
		}
		var shown struct {
			Claims []struct {
				N     int
				Claim string
			}
			Results, Replaced []reading
		}
		if err := json.Unmarshal([]byte(r.Messages[0].Parts[0].(pawl.Text).Text), &shown); err != nil || r.System == "" || len(r.Messages) != 1 {
			t.Fatalf("it is shown %+v", r)
		}
		last := map[string]tableCall{}
		for _, call := range c.calls {
			last[call.tool+call.args] = call
		}
		for _, call := range c.calls {
			in := shown.Results
			if last[call.tool+call.args] != call {
				in = shown.Replaced
			}
			status := map[bool]string{true: "error", false: "ok"}[call.kind == "error"]
			if !slices.Contains(in, reading{call.turn, call.tool, call.args, status, call.result}) {
				t.Errorf("the judge does not see %+v in %+v", call, in)
			}
		}
		type verdict struct {
			N         int    `json:"n"`
			Supported bool   `json:"supported"`
			Why       string `json:"why"`
		}
		var verdicts []verdict
		for i, claim := range shown.Claims {
			word, wrong := c.wrong[i+1]
			if verdicts = append(verdicts, verdict{claim.N, !wrong, word + " is wrong"}); wrong && !strings.Contains(claim.Claim, word) {
				t.Errorf("claim %d is %q, without %q", claim.N, claim.Claim, word)
			}
		}
		return pawl.Say(string(must(json.Marshal(map[string]any{"claims": verdicts})))), nil
	}
}

// TestGroundingByModel measures a real judge on the table:
//
//	PAWL_GROUNDING_MODEL=anthropic/NAME go test ./judge -run ByModel -v
//	PAWL_GROUNDING_MODEL=openai/NAME PAWL_GROUNDING_URL=http://127.0.0.1:8000/v1 go test ./judge -run ByModel -v
func TestGroundingByModel(t *testing.T) {
	provider, name, _ := strings.Cut(os.Getenv("PAWL_GROUNDING_MODEL"), "/")
	var m pawl.Model
	switch url := os.Getenv("PAWL_GROUNDING_URL"); provider {
	case "":
		t.Skip("PAWL_GROUNDING_MODEL names no model")
	case "anthropic":
		m = anthropic.New(name, &anthropic.Options{BaseURL: url})
	case "openai":
		m = openai.New(name, &openai.Options{BaseURL: url})
	default:
		t.Fatalf("PAWL_GROUNDING_MODEL: there is no provider %q (there is anthropic, openai)", provider)
	}
	right, all := map[bool]int{}, map[bool]int{}
	for _, c := range table(t) {
		begun := time.Now()
		r, found := c.run(t, &judge.GroundingOptions{Replans: -1, Model: m})
		isTrue := len(c.wrong) == 0
		if all[isTrue]++; (r.Status == pawl.StatusSuccess) == isTrue && !strings.HasPrefix(found[0].By, "values") {
			right[isTrue]++
		} else {
			t.Logf("%s: %q is %v: %+v (%v)", c.name, c.answer, r.Status, found[0], time.Since(begun).Round(time.Millisecond))
		}
	}
	t.Logf("%s/%s: %d of %d true answers passed, %d of %d false ones were found", provider, name, right[true], all[true], right[false], all[false])
}
