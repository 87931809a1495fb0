package judge

import (
	"math"
	"strings"
	"testing"
)

// What a judge says is read as far as it can only mean one thing.
func TestConfidence(t *testing.T) {
	for answer, want := range map[string]float64{
		`{"confidence": 0.8}`: 0.8,
		`{"confidence": 0}`:   0,
		`{"confidence": 1}`:   1,
		`{"confidence": 1e-1, "assessment": "low", "more": [1, {"a": 2}]}`:     0.1,
		"```json\n{\"confidence\": 0.5}\n```":                                  0.5,
		`Here is my verdict: {"Confidence": "0.75"}. I hope this helps {you}!`: 0.75,
		`{"CONFIDENCE": " 85 % "}`:                                             0.85,
		`{"hint": "say {\"confidence\": 0.1}", "confidence": 0.9}`:             0.9,
	} {
		o, err := onlyObject(answer)
		if err != nil {
			t.Errorf("%s: %v", answer, err)
			continue
		}
		if got, err := o.share("confidence"); err != nil || math.Abs(got-want) > 1e-12 {
			t.Errorf("%s: %v, %v; want %v", answer, got, err, want)
		}
	}
	for answer, want := range map[string]string{
		"":                                       "no JSON object",
		"fine":                                   "no JSON object",
		`{"confidence": 0.8`:                     "no JSON object",
		`{"confidence": NaN}`:                    "no JSON object",
		`{"confidence": 0.8}{}`:                  "2 JSON objects",
		`{"score": 0.8}`:                         "has no confidence",
		`{"confidence": null}`:                   "no number",
		`{"confidence": "high"}`:                 "no number",
		`{"confidence": "NaN"}`:                  "no number",
		`{"confidence": 8}`:                      "not from 0 to 1",
		`{"confidence": -0.1}`:                   "not from 0 to 1",
		`{"confidence": "Inf"}`:                  "not from 0 to 1",
		`{"confidence": 1e400}`:                  "no number",
		`{"confidence": "120%"}`:                 "not from 0 to 1",
		`{"confidence": 0.1, "Confidence": 0.9}`: "two values",
		`{"confidence": 0.1, "confidence": 0.9}`: "given twice",
		strings.Repeat(`{"a":`, 100):             "no JSON object",
		strings.Repeat(" ", mostAnswer) + "{}":   "bytes",
	} {
		o, err := onlyObject(answer)
		if err == nil {
			_, err = o.share("confidence")
		}
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.60s: %v, want %s", answer, err, want)
		}
	}
}

// Scores come in whatever dress models put them, each claim once.
func TestScores(t *testing.T) {
	for answer, want := range map[string]string{
		`{"claims": [{"n": 1, "supported": true}, {"n": 2, "supported": false, "why": "no"}]}`:                 "+-",
		`{"claims": [{"claim": "1", "score": 0.9}, {"claim": 2, "score": "30%"}]}`:                             "+-",
		`{"claims": [{"n": 1, "supported": "yes"}, {"n": 2, "grounded": "No"}]}`:                               "+-",
		"CLAIM 1: 0.9 - it says so\nCLAIM 2: 0.1 - it does not":                                                "+-",
		"**CLAIM 1:** 0.9 – it says so\n**CLAIM 2:** 0.1 — it does not":                                        "+-",
		"1) supported\n2) not supported":                                                                       "+-",
		"| Claim 1: true\nClaim 2 = false":                                                                     "?-",
		`{"claims": [{"n": 1, "supported": true}]}`:                                                            "+?",
		`{"claims": [{"n": 1, "supported": true}, {"n": 1, "supported": false}, {"n": 2, "supported": true}]}`: "?+",
		`{"claims": [{"n": 1, "supported": true, "score": 0.1}, {"n": 2, "score": 0.6}]}`:                      "?+",
		`{"claims": [{"n": 3, "supported": true}, {"n": 0, "supported": true}, {"n": 2, "supported": true}]}`:  "?+",
		"CLAIM 1: 7\nCLAIM 2: 0.8":                                                                             "?+",
		"CLAIM 1: 0.2 0.9\nCLAIM 2: 1":                                                                         "-+",
		"":                                                                                                     "error",
		"All fine.":                                                                                            "error",
		`{"claims": []}`:                                                                                       "error",
		`{"claims": "all"}`:                                                                                    "error",
		`{"claims": [{"n": 1, "supported": true}]} {}`:                                                         "error",
	} {
		got := "error"
		if found, err := readScores(answer, 2); err == nil {
			got = ""
			for i := 1; i <= 2; i++ {
				s, ok := found[i]
				switch {
				case !ok:
					got += "?"
				case s.value >= supported:
					got += "+"
				default:
					got += "-"
				}
			}
		}
		if got != want {
			t.Errorf("%s: %s, want %s", answer, got, want)
		}
	}
}

// A verdict on a call is one of three words, said once, or none.
func TestRulings(t *testing.T) {
	for answer, want := range map[string]string{
		`{"calls": [{"call": "c_1", "verdict": "allow", "reason": "x"}]}`:                        "allow",
		`{"calls": [{"call": " c_1 ", "verdict": " Refuse "}]}`:                                  "refuse",
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
