package eval

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-run/pawl"
)

// read reads an evaluation with these cases in a file of their own.
func read(t *testing.T, cases, file string) (*File, error) {
	t.Helper()
	dir := t.TempDir()
	t.Chdir(dir)
	for name, text := range map[string]string{"e.yaml": file, "c.jsonl": cases} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return Read("e.yaml")
}

// TestScorers: each scorer on answers that pass and that do not.
func TestScorers(t *testing.T) {
	for _, c := range []struct {
		scorer, expected, answer string
		want                     bool
	}{
		{`exact`, `forty`, " forty\n", true},
		{`exact`, `forty`, "Forty", false},
		{`exact`, `{a: 1, b: [2.0]}`, `{"b":[2],"a":1.0}`, true},
		{`exact`, `{a: 1}`, `{"a":1,"b":2}`, false},
		{`exact`, `40`, `40`, true},
		{`exact`, `40`, `"40"`, false},
		{`contains`, `forty`, "It is forty.", true},
		{`contains`, `forty`, "It is Forty.", false},
		{`{contains: [a, b]}`, ``, "cab", true},
		{`{contains: [a, b]}`, ``, "cad", false},
		{`{contains: 7}`, ``, "It is 7.", true},
		{`number`, `40`, "First 7, then 40 dollars.", true},
		{`number`, `40`, "First 40, then 7 dollars.", false},
		{`number`, `1234.5`, "It is 1,234.50.", true},
		{`number`, `-2`, "It is -2", true},
		{`number`, `40`, "40.0000001", false},
		{`number`, `40`, "forty", false},
		{`{number: 0.1}`, `40`, "39.9", true},
		{`{number: 0.1}`, `40`, "39.89", false},
		{`{schema: {type: object, required: [a]}}`, ``, `{"a":1}`, true},
		{`{schema: {type: object, required: [a]}}`, ``, `{"b":1}`, false},
		{`{schema: {type: object}}`, ``, `none`, false},
		{`status`, ``, "", true},
		{`{status: exhausted}`, ``, "", false},
	} {
		f, err := read(t, "", "agents: [spec: a]\nscore: ["+c.scorer+"]\ncases: [{input: x,expected: "+c.expected+"}]")
		if err != nil {
			t.Errorf("%s %s: %v", c.scorer, c.expected, err)
			continue
		}
		got := f.Cases[0].Scorers[0].Of(f.Cases[0], pawl.Result{Status: pawl.StatusSuccess, Answer: c.answer})
		if got.Pass != c.want || got.Pass != (got.Score == 1) || got.Pass != (got.Detail == "") {
			t.Errorf("%s of %q, expected %s: %+v, want %v", c.scorer, c.answer, c.expected, got, c.want)
		}
	}
}

func TestJudged(t *testing.T) {
	s := Scorer{Kind: Judge, Judge: Rubric{Pass: 0.7}}
	for output, want := range map[string]Score{
		`{"score":0.7,"reason":"good"}`: {"judge", 0.7, true, ""},
		`{"score":0.6,"reason":"bad"}`:  {"judge", 0.6, false, "bad"},
		`{"score":7,"reason":"great"}`:  {"judge", 0, false, "the judge did not answer: run R, success"},
		`{"reason":"forgot"}`:           {"judge", 0, false, "the judge did not answer: run R, success"},
	} {
		got := s.Judged(pawl.Result{Run: "R", Status: pawl.StatusSuccess, Output: json.RawMessage(output)})
		if got != want {
			t.Errorf("%s: %+v, want %+v", output, got, want)
		}
	}
}

// TestProblems: each problem has its place, and all are told at once.
func TestProblems(t *testing.T) {
	const good = `{"id":"a","input":"x","expected":1}` + "\n"
	for _, c := range []struct{ name, cases, file, want string }{
		{"none", good, "agents: [{spec: a.yaml}]\ncases: c.jsonl\nscore: [exact]\n", ""},
		{"no YAML", "", "agents: [\n", "e.yaml:1:9: "},
		{"empty", "", "", "e.yaml:1:1: want one document"},
		{"an unknown key", "", "agents: []\ncasses: []\n", `e.yaml:2:1: unknown field "casses"`},
		{"no agents, no cases", "", "name: x\n", "e.yaml:1:5: there are no agents (write agents: [{spec: agent.yaml}])\ne.yaml:1:1: there are no cases"},
		{"no spec", good, "agents: [{model: m}]\ncases: c.jsonl\n", "e.yaml:1:"},
		{"two agents", good, "agents: [{spec: a.yaml}, {spec: b/a.yaml}]\ncases: c.jsonl\n", "there is another agent a"},
		{"no scorer", good, "agents: [{spec: a.yaml}]\ncases: c.jsonl\nscore: [extract]\n", "e.yaml:3:9: this is no scorer"},
		{"a bad tolerance", good, "agents: [{spec: a.yaml}]\ncases: c.jsonl\nscore: [{number: much}]\n", "e.yaml:3:18: this is not a number"},
		{"a bad status", good, "agents: [{spec: a.yaml}]\ncases: c.jsonl\nscore: [{status: fine}]\n", "e.yaml:3:18: status: "},
		{"a judge without a rubric", good, "agents: [{spec: a.yaml}]\ncases: c.jsonl\nscore: [{judge: {model: m}}]\n", "a judge has a model and a rubric"},
		{"a bad threshold", good, "agents: [{spec: a.yaml}]\ncases: c.jsonl\nthreshold: 90\n", "e.yaml:3:12: threshold is 90"},
		{"half", good, "agents: [{spec: a}]\ncases: c.jsonl\nrepeat: 1.5\n", "e.yaml:3:9: 1.5 is not a whole number"},
		{"a missing file", "", "agents: [{spec: a.yaml}]\ncases: d.jsonl\n", "e.yaml:2:8: cases d.jsonl: no such file or directory"},
		{"a malformed line", good + "\n{\"id\": \n", "agents: [{spec: a.yaml}]\ncases: c.jsonl\n", "c.jsonl:3:7: unexpected end of JSON input"},
		{"an unknown key of a case", good + `{"input":"x","exp":1}`, "agents: [{spec: a.yaml}]\ncases: c.jsonl\n", `c.jsonl:2:14: unknown field "exp"`},
		{"no text", `{"input":{}}`, "agents: [{spec: a.yaml}]\ncases: c.jsonl\n", "c.jsonl:1:10: this is not a text (put it in quotes)"},
		{"no input", `{"id":"b"}`, "agents: [{spec: a.yaml}]\ncases: c.jsonl\n", "c.jsonl:1:1: the case has no input"},
		{"two of an id", good + good, "agents: [{spec: a.yaml}]\ncases: c.jsonl\n", "c.jsonl:2:1: there is another case a"},
		{"nothing expected", `{"input":"x"}`, "agents: [{spec: a.yaml}]\ncases: c.jsonl\nscore: [exact]\n", "c.jsonl:1:1: the case has nothing expected"},
	} {
		_, err := read(t, c.cases, c.file)
		if (c.want == "") != (err == nil) || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %s", c.name, err, c.want)
		}
	}
}

func score(agent, id string, repeat int, run string, cost float64, elapsed int64, values ...float64) Run {
	r := Run{Agent: agent, Case: id, Repeat: repeat, Run: run, Tokens: 10, Elapsed: elapsed, CostUSD: &cost}
	for i, v := range values {
		r.Scores = append(r.Scores, Score{Scorer: []string{"exact", "judge"}[i], Score: v, Pass: v >= 0.5})
	}
	return r
}

func TestSum(t *testing.T) {
	threshold := 0.6
	r := &Report{Threshold: &threshold, Runs: []Run{
		score("b", "2", 1, "R4", 0.5, 90, 1),
		score("a", "1", 2, "R2", 0.25, 10, 0, 0.5),
		score("a", "1", 1, "R1", 0.25, 30, 1, 0.9),
		score("a", "2", 1, "R3", 0.5, 20, 1),
	}}
	r.Sum()
	one, half := 1.0, 0.5
	want := []Summary{
		{Agent: "a", Runs: 3, Tokens: 30, CostUSD: &one, P50: 20, P95: 30, Scorers: []Mean{{"exact", 2, 3, 2.0 / 3}, {"judge", 2, 2, 0.7}}},
		{Agent: "b", Runs: 1, Tokens: 10, CostUSD: &half, P50: 90, P95: 90, Scorers: []Mean{{"exact", 1, 1, 1}}},
	}
	if diff := cmp.Diff(want, r.Agents); diff != "" || !r.Met || *r.CostUSD != 1.5 {
		t.Errorf("met %v, cost %v (-want +got):\n%s", r.Met, *r.CostUSD, diff)
	}
	threshold = 0.7
	if r.Sum(); r.Met {
		t.Error("a mean of 2/3 reaches 0.7")
	}
	threshold, r.Skipped = 0, 1
	if r.Sum(); r.Met {
		t.Error("a run that did not take place does not count")
	}
}
