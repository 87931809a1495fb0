package judge

import (
	"strings"
	"testing"

	"github.com/pawl-run/pawl"
)

// TestAnswers: what a judge says is read as far as it can only mean one thing, in whatever
// prose it stands.
func TestAnswers(t *testing.T) {
	byRules := pawl.Reflected{Confidence: 0.25, Text: "rules"}
	for answer, want := range map[string]string{
		`{"confidence": 0.8}`: "",
		`{"confidence": 0}`:   "",
		"```json\n{\"confidence\": 0.5, \"more\": [1, {\"a\": 2}]}\n```":     "",
		`Here is my verdict: {"Confidence": 1e-1}. I hope this helps {you}!`: "",
		`{"hint": "say {\"confidence\": 0.1}", "confidence": 0.9}`:           "",
		"":                                       "no JSON object",
		"fine":                                   "no JSON object",
		`{"confidence": 0.8`:                     "no JSON object",
		`{"confidence": NaN}`:                    "no JSON object",
		`{"confidence": 0.8}{}`:                  "2 JSON objects",
		`{"score": 0.8}`:                         "has no confidence",
		`{"confidence": null}`:                   "has no confidence",
		`{"confidence": "high"}`:                 "its confidence is a string",
		`{"confidence": 8}`:                      "not from 0 to 1",
		`{"confidence": -0.1}`:                   "not from 0 to 1",
		`{"confidence": 1e400}`:                  "its confidence is a number 1e400",
		`{"confidence": 0.1, "Confidence": 0.9}`: "ambiguous",
		`{"confidence": 0.1, "confidence": 0.9}`: "given twice",
		strings.Repeat(`{"a":`, 100):             "no JSON object",
		strings.Repeat(" ", mostAnswer) + "{}":   "bytes",
	} {
		got := reflects{}.read(opinion{text: answer}, byRules)
		if (got.By == "the agent's model") != (want == "") || !strings.Contains(got.Text, want) {
			t.Errorf("%.60s: %+v, want %s", answer, got, want)
		}
	}
}

// TestScores: each claim is judged once, by true or false.
func TestScores(t *testing.T) {
	for answer, want := range map[string]string{
		`{"claims": [{"n": 1, "supported": true}, {"n": 2, "supported": false, "why": "no"}]}`:                 "+-",
		`{"claims": [{"n": 1, "supported": true}]}`:                                                            "+?",
		`{"claims": [{"n": 1, "supported": true}, {"n": 1, "supported": false}, {"n": 2, "supported": true}]}`: "?+",
		`{"claims": [{"n": 1}, {"n": 1, "supported": true}, {"n": 2, "supported": true}]}`:                     "?+",
		`{"claims": [{"n": 3, "supported": true}, {"n": 0, "supported": true}, {"n": 2, "supported": true}]}`:  "?+",
		`{"claims": [{"n": 1, "supported": "yes"}, {"n": 2, "supported": true}]}`:                              "its claims.supported is a string",
		"CLAIM 1: 0.9":   "no JSON object",
		`{"claims": []}`: "nothing of any claim",
		`{"claims": [{"n": 1, "supported": true}]} {}`: "2 JSON objects",
	} {
		got := ""
		found, err := readScores(answer, 2)
		if err != nil {
			got = err.Error()
		}
		for i := 1; i <= 2 && err == nil; i++ {
			switch s, ok := found[i]; {
			case !ok:
				got += "?"
			case s.supported:
				got += "+"
			default:
				got += "-"
			}
		}
		if got != want && (err == nil || !strings.Contains(got, want)) {
			t.Errorf("%s: %s, want %s", answer, got, want)
		}
	}
}

// A verdict on a call is one of three words, said once, or none.
func TestRulings(t *testing.T) {
	for answer, want := range map[string]string{
		`{"calls": [{"call": "c_1", "verdict": "allow", "reason": "x"}]}`:                        "allow",
		`{"calls": [{"call": "c_1", "verdict": "Refuse"}]}`:                                      "refuse",
		`{"calls": [{"call": "c_1", "verdict": "ASK"}, {"call": "c_2"}]}`:                        "ask",
		`{"calls": [{"call": "c_1", "verdict": "allowed"}]}`:                                     "",
		`{"calls": [{"call": "c_1", "verdict": "allow", "verdict": "refuse"}]}`:                  "",
		`{"calls": [{"call": "c_1", "verdict": "refuse"}, {"call": "c_1", "verdict": "allow"}]}`: "",
		`{"calls": [{"call": "C_1", "verdict": "allow"}]}`:                                       "",
		`[{"call": "c_1", "verdict": "allow"}]`:                                                  "",
		`PROCEED`:                                                                                "",
	} {
		all, _ := readRulings(answer)
		if got := all["c_1"].Verdict; got != want {
			t.Errorf("%s: %q, want %q", answer, got, want)
		}
	}
}
