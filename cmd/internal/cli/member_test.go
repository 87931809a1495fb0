package cli_test

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/pawl-run/pawl/internal/testkit/check"
	"github.com/pawl-run/pawl/spec"
)

// member is what a key does in the spec of another's agent: either a run of the
// agent shows it, or checking the caller's spec reports it.
type member struct {
	value   string            // of the key
	other   string            // its value in the run to compare with; empty: the helper's, or none
	beside  map[string]string // other keys that it takes, in both runs
	replies string            // of the agent's model
	script  string            // the rest of what it says
	shows   string            // what matches in the run with the value, and not in the other
	problem string            // what check says of the caller
}

// helper is the spec of the agent, without the key that is looked at.
var helper = map[string]string{
	"name": "helper", "description": "Helps.", "model": "script:helper.script.yaml", "prompt": "Help.",
	"tools": `[{name: look, description: Looks., command: [stub, say, it is blue], effect: read}]`,
}

const looks = "{calls: [{tool: look}]}, {text: It is blue.}"

var members = map[string]member{
	"name":            {value: "aide", shows: `"agent":"aide"`},
	"description":     {value: "Knows colours.", shows: "Knows colours"},
	"version":         {value: `"2"`, shows: `"version":"2"`},
	"upgrade":         {value: "fork", problem: `^helper\.yaml:7:10: upgrade has no effect in an agent of desk\.yaml`},
	"labels":          {value: "{team: ops}", shows: `"labels":{"team":"ops"}`},
	"model":           {value: "script:other.script.yaml", shows: "It is green"},
	"prompt":          {value: "Be brief.", shows: `"prompt":"Be brief\.`},
	"instructions":    {value: "agents.md", shows: "Name one colour at most"},
	"input":           {value: "Which colour is it?", problem: `^helper\.yaml:7:8: input has no effect in an agent of desk\.yaml, which says itself what to do \(leave it out\)$`},
	"thread":          {value: "colours", problem: `^helper\.yaml:7:9: thread has no effect in an agent of desk\.yaml, whose run its runs are part of \(name the thread in desk\.yaml, or leave it out\)$`},
	"loop":            {value: "single", beside: map[string]string{"tools": ""}, replies: "{text: Blue.}", shows: `"loop":"single"`},
	"board":           {value: "true", problem: `^helper\.yaml:7:8: nobody shares the board`}, // its effect: example stocktake
	"memory":          {value: "true", replies: "{calls: [{tool: remember, args: {text: The sky is blue.}}]}, {text: It is blue.}", shows: `"tool":"remember","status":"ok"`},
	"nodes":           {value: "{see: {tool: look}}", other: "{watch: {tool: look}}", beside: map[string]string{"loop": "graph"}, shows: `"step":"see@1"`},
	"edges":           {value: "[{from: see, to: watch, if: 1 == 1}]", beside: map[string]string{"loop": "graph", "nodes": "{see: {tool: look}, watch: {tool: look}}"}, shows: `see -> watch`},
	"steps":           {value: "[{id: see, tool: look}]", other: "[{id: watch, tool: look}]", beside: map[string]string{"loop": "workflow"}, shows: `"step":"see"`},
	"strategy":        {value: "json", replies: `{text: '{"thought": "I see.", "action": "look", "action_input": {}}'}, {text: '{"thought": "", "action": "__complete__", "action_input": {"answer": "It is plain."}}'}`, beside: map[string]string{"builtins": "true"}, shows: `"type":"tool\.finished","data":{"call":"c_1","tool":"look","status":"ok"`},
	"output":          {value: "{type: object, properties: {colour: {type: string}}, required: [colour]}", replies: `{text: '{"shade": 1}'}, {text: '{"colour": "blue"}'}`, shows: `"result":{"colour":"blue"}`},
	"env":             {value: "[MEMBER_COLOUR]", beside: map[string]string{"tools": "[{name: look, description: Looks., command: [sh, -c, echo $MEMBER_COLOUR], effect: read}]"}, shows: `{{secret:MEMBER_COLOUR}}`},
	"dir":             {value: "below", beside: map[string]string{"tools": "[{name: look, description: Looks., command: [pwd], effect: read}]"}, shows: `/below"`},
	"tools":           {value: "[{name: look, description: Looks., command: [stub, say, it is pink], effect: read}]", shows: "it is pink"},
	"tool_search":     {value: "{}", replies: "{calls: [{tool: tool_search, args: {query: looks}}]}, {text: It is blue.}", shows: `"by":"__tools__"`},
	"builtins":        {value: "true", replies: "{calls: [{tool: __store_memory__, args: {key: colour, value: blue}}]}, {text: Stored.}", shows: `"type":"memory\.stored"`},
	"parallel":        {value: "false", replies: "{calls: [{tool: look}, {tool: look, args: {}}]}, {text: It is blue.}", shows: `"type":"tool\.finished"[^\n]*\n[^\n]*"type":"tool\.started"`},
	"max_parallel":    {value: "1", replies: "{calls: [{tool: look}, {tool: look, args: {}}]}, {text: It is blue.}", shows: `"type":"tool\.finished"[^\n]*\n[^\n]*"type":"tool\.started"`},
	"notices":         {value: "true", beside: map[string]string{"limits": "{tokens: 10000}"}, replies: "{calls: [{tool: look}], usage: {input: 2, output: 8000}}, {text: It is blue.}", shows: `"type":"notice\.given".*"told":true`},
	"trace":           {value: "true", shows: `"trace":\[`},
	"skills":          {value: "[./skills]", shows: "Names shades of colours"},
	"stop":            {value: `tool_called("look")`, shows: `"type":"run\.stopped"[^\n]*tool_called\(`},
	"limits":          {value: "{iterations: 1}", shows: `helper ended as exhausted`},
	"plan":            {value: "true", replies: "{calls: [{tool: present_plan, args: {plan: Look at it.}}]}, {text: It is blue.}", shows: "waits: approval c_1 of child run"},
	"approvals":       {value: "{gates: [look]}", shows: "waits: approval c_1 of child run"},
	"policies":        {value: "[house]", problem: `^helper\.yaml:7:12: there is no policy "house": this program registers none`},
	"no_progress":     {value: "{window: 1}", replies: "{calls: [{tool: look}]}, {calls: [{tool: look}]}, {text: It is blue.}", shows: `helper ended as no_progress`},
	"credentials":     {value: `{crm: {command: [stub, say, "a-token-of-somebody"]}}`, beside: map[string]string{"tools": "[{name: look, description: Looks., command: [sh, -c, echo $CRM], effect: read, credentials: {CRM: crm}}]"}, other: `{crm: {command: [stub, say, ""]}}`, shows: `{{secret:crm}}`},
	"instruct":        {value: "{command: [stub, say, be brief]}", shows: `"type":"instructions\.given"[^\n]*be brief`},
	"observe":         {value: "{command: [stub, say, the sky]}", shows: `"type":"observed"[^\n]*the sky`},
	"goal":            {value: "{metric: {command: [stub, say, '1']}, success: metric >= 1}", shows: `"type":"run\.stopped"[^\n]*metric >= 1`},
	"judge":           {value: "{causal: true}", shows: `"type":"causes\.found"`},
	"context":         {value: "{pins: [Blue is a colour.]}", shows: "Blue is a colour"},
	"handoffs":        {value: "[./helper.yaml]", problem: `^helper\.yaml:7:\d+: handoffs are for an agent that has a conversation, and desk\.yaml uses this one as a tool`},
	"guard":           {value: "{pii: redact}", replies: "{text: Ask ada@example.org.}", shows: `Ask \[redacted email\]`},
	"topics":          {value: "{deny: [blue]}", shows: `"status":"failed"[^\n]*topics`},
	"hooks":           {value: "[log]", shows: `level=INFO msg="helper begins: What colour\?"`},
	"hooks: log":      {value: "[{log: {format: json}}]", shows: `"msg":"run\.started"[^\n]*"agent":"helper"`},
	"hooks: retry":    {value: "[{retry: {attempts: 1}}]", replies: "{calls: [{tool: look}]}, {text: …}, {text: It is blue.}", shows: `"type":"hook\.directed","data":{"hook":"retry","direction":"retry"`},
	"hooks: steer":    {value: "[{steer: {policy: Look at nothing., model: script:judge.script.yaml}}]", shows: `nobody asked for it`},
	"webhooks":        {value: "[{url: https://hooks.example.org/x, secret: MEMBER_SECRET}]", problem: `^helper\.yaml:7:12: the webhook is not called for an agent of desk\.yaml \(name it in desk\.yaml as well, or leave it out here\)$`},
	"cage":            {value: "{processes: 50}", problem: `^helper\.yaml:7:7: cage needs the program to be started once more`}, // its effect: script cage
	"fetch":           {value: "{allow: ['127.0.0.1:1']}", beside: map[string]string{"tools": "[{builtin: [fetch]}]"}, replies: "{calls: [{tool: fetch, args: {url: 'http://127.0.0.1:1/'}}]}, {text: It is blue.}", shows: "connection refused"},
	"providers":       {value: "{nobody: {rate: {requests: 1}}}", problem: `^helper\.yaml:7:13: there is no provider nobody`}, // its effect: TestRatesOfMembers of package spec
	"budgets":         {value: "[{per: total, tokens: 118}]", shows: `helper ended as exhausted`},
	"triggers":        {value: "[{cron: '@daily'}]", problem: `^desk\.yaml:\d+:\d+: \./helper\.yaml has triggers, which start nothing for an agent of another one`},
	"prices":          {value: "{'script:helper.script.yaml': {input: 1000000.0, output: 0.0}}", shows: `"type":"child\.stopped"[^\n]*"cost_usd":109`},
	"price_staleness": {value: "sometimes", problem: `^helper\.yaml:7:18: price_staleness is "sometimes"`}, // its effect: TestPricesOfMembers of package spec
}

// Every key of a spec that is another's agent has an effect in the agent's runs, or
// is reported where the other's spec is checked.
func TestEveryKeyOfASubAgent(t *testing.T) {
	check.SkipShort(t, "one command after another: -short")
	var schema struct {
		Defs map[string]struct {
			Properties map[string]any `json:"properties"`
		} `json:"$defs"`
	}
	must(t, json.Unmarshal(spec.Schema(), &schema))
	keys := slices.Sorted(maps.Keys(schema.Defs["spec"].Properties))
	if len(keys) < 30 {
		t.Fatalf("the keys are %q", keys)
	}
	for _, key := range keys {
		if _, ok := members[key]; !ok {
			t.Errorf("what %s does in the spec of another's agent is not in the table", key)
		}
	}
	t.Setenv("MEMBER_COLOUR", "ultramarine")
	t.Setenv("MEMBER_SECRET", "long enough a secret")
	undisturbed := map[string]string{} // what a run without the key showed, by its agent
	for _, name := range slices.Sorted(maps.Keys(members)) {
		m := members[name]
		key, _, _ := strings.Cut(name, ":")
		t.Run(name, func(t *testing.T) {
			if m.problem != "" {
				m.files(t, key, m.value)
				code, _, stderr := invoke(t, t.Context(), nil, "check", "desk.yaml")
				if code != 2 || !regexp.MustCompile("(?m)"+m.problem).MatchString(stderr) {
					t.Errorf("check exits with %d and says\n%s", code, stderr)
				}
				return
			}
			text := m.files(t, key, cmp.Or(m.other, helper[key]))
			without, ok := undisturbed[text]
			if !ok {
				without = ran(t)
				undisturbed[text] = without
			}
			m.files(t, key, m.value)
			with := ran(t)
			shows := regexp.MustCompile(m.shows)
			if !shows.MatchString(with) {
				t.Errorf("%s: %s does not show in\n%s", key, m.value, with)
			}
			if shows.MatchString(without) {
				t.Errorf("without %s it shows as well in\n%s", key, without)
			}
		})
	}
}

// files writes the specs of an agent and of its caller. The key is the last of
// the agent's; empty: it has none. It returns all that makes the agent.
func (m member) files(t *testing.T, key, value string) string {
	t.Helper()
	all := maps.Clone(helper)
	maps.Copy(all, m.beside)
	delete(all, key)
	var text strings.Builder
	for _, k := range slices.Sorted(maps.Keys(all)) {
		if all[k] != "" {
			fmt.Fprintf(&text, "%s: %s\n", k, all[k])
		}
	}
	if text.WriteString("\n"); value != "" {
		fmt.Fprintf(&text, "%s: %s\n", key, value)
	}
	replies := m.replies
	if replies == "" {
		replies = looks
	}
	files(t, map[string]string{
		"desk.yaml":          "name: desk\nmodel: script:desk.script.yaml\ntools: [{agent: ./helper.yaml, name: help}]\n",
		"desk.script.yaml":   "replies: [{calls: [{tool: help, args: {input: What colour?}}]}, {text: Done.}]\n",
		"helper.yaml":        text.String(),
		"helper.script.yaml": "replies: [" + replies + "]\n" + m.script,
		"AGENTS.md":          "Name one colour at most.\n",
		"other.script.yaml":  "replies: [{text: It is green.}]\n",
		"judge.script.yaml":  `purposes: {judge.steer: [{text: '{"calls": [{"call": "c_1", "verdict": "refuse", "reason": "nobody asked for it"}]}'}]}`,
	})
	for name, text := range map[string]string{"skills/shades/SKILL.md": "---\nname: shades\ndescription: Names shades of colours.\n---\n\nName them.\n", "below/note": ""} {
		must(t, os.MkdirAll(name[:strings.LastIndex(name, "/")], 0o700))
		must(t, os.WriteFile(name, []byte(text), 0o600))
	}
	return text.String() + replies
}

// ran runs the caller and returns all that there is to see of it and of its agent.
func ran(t *testing.T) string {
	t.Helper()
	var all strings.Builder
	for _, args := range [][]string{{"check", "desk.yaml"}, {"run", "desk.yaml", "Go."}, {"events", "last"}} {
		_, stdout, stderr := invoke(t, t.Context(), nil, args...)
		all.WriteString(stdout + stderr)
	}
	child := regexp.MustCompile(`"child":"([^"]*)"`).FindStringSubmatch(all.String())
	if child == nil {
		t.Fatalf("there was no child run:\n%s", all.String())
	}
	for _, args := range [][]string{{"events", child[1]}, {"show", child[1], "--json"}} {
		_, stdout, stderr := invoke(t, t.Context(), nil, args...)
		all.WriteString(stdout + stderr)
	}
	return all.String()
}
