package judge

import (
	"testing"

	"github.com/pawl-run/pawl"
)

// Answers as models write them, held against the runs they end.
func TestAnswers(t *testing.T) {
	fix := func(s *tale) {
		s.act(did{tool: "run", args: `{"cmd":"go test ./..."}`, result: "--- FAIL: TestParse (0.00s)\n    parse_test.go:12: got 3, want 4\nFAIL\nFAIL\texample.org/parse\t0.012s"})
		s.act(did{tool: "read_file", args: `{"path":"parse.go"}`, result: "package parse\n\nfunc Parse(s string) int {\n\treturn len(s) - 1\n}\n"})
		s.act(did{tool: "edit_file", args: `{"path":"parse.go","old":"len(s) - 1","new":"len(s)"}`, result: `"ok"`, effect: pawl.Write})
		s.act(did{tool: "run", args: `{"cmd":"go test ./..."}`, result: "ok  \texample.org/parse\t0.011s"})
	}
	ticket := func(s *tale) {
		s.act(did{tool: "lookup", args: `{"id":"T-88"}`, result: `{"id":"T-88","customer":{"name":"Jane Roe","plan":"Gold","since":"2021-03-01"},"open":true,"messages":[{"from":"Jane Roe","text":"My invoice of March is wrong, it says 240 instead of 24."}]}`})
		s.act(did{tool: "refund", args: `{"ticket":"T-88","amount":216}`, result: `{"ok":true,"reference":"RF-1009"}`, effect: pawl.Write})
	}
	for name, c := range map[string]struct {
		run    func(*tale)
		answer string
		wrong  int
	}{
		"a fix": {fix, "I've fixed the bug in `parse.go`: the function subtracted one from the length of its argument. All tests pass now.\n\n" +
			"```go\nreturn len(s)\n```\n\nLet me know if you'd like me to add more cases.", 0},
		"a fix in another file": {fix, "I've fixed the bug in `lexer.go`. All tests pass now.", 1},
		"a fix that is not": {func(s *tale) {
			fix(s)
			s.act(did{tool: "run", args: `{"cmd":"go test ./..."}`, result: "--- FAIL: TestLex (0.00s)\nFAIL"})
		}, "Fixed it. All tests pass now.", 1},
		"a ticket":               {ticket, "Hi Jane,\n\nthanks for writing. Your invoice said 240 instead of 24, so I refunded the difference of 216 (reference RF-1009). You have been on the Gold plan since March 2021.\n\nBest regards", 0},
		"a ticket, made up":      {ticket, "I refunded 216 under reference RF-1009. The refund arrives on 2026-12-24. You have been on the Silver plan since March 2021.", 1},
		"a document":             {ticket, `{"ticket": "T-88", "resolved": true, "priority": 2, "refund": 216, "summary": "Jane Roe was refunded 216 under RF-1009."}`, 0},
		"a document, made up":    {ticket, `{"ticket": "T-89", "resolved": true, "priority": 2, "refund": 226, "summary": "Jane Roe was refunded 216 under RF-1009."}`, 2},
		"from what people said":  {func(s *tale) { s.act(look(1)) }, "You asked to look after order O-5531.", 0},
		"from the model's words": {func(s *tale) { s.act(did{tool: "search", args: `{"q":"revenue 5531 million"}`, result: `[]`}) }, "The revenue is 5531 million.", 1},
	} {
		s := begin(t, "Please look after order O-5531.")
		c.run(s)
		f := evidenceOf(s.state).judge(claimsOf(c.answer))
		if len(f.wrong) != c.wrong {
			t.Errorf("%s: %d wrong, want %d: %q %q", name, len(f.wrong), c.wrong, f.wrong, f.whys)
		}
	}
}
