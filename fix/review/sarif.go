package review

import (
	"encoding/json"
	"net/url"
	"path"

	"github.com/pawl-run/pawl"
)

type object = map[string]any

type sarifResult struct {
	RuleID    string   `json:"ruleId"`
	RuleIndex int      `json:"ruleIndex"`
	Level     string   `json:"level"`
	Message   object   `json:"message"`
	Locations []object `json:"locations"`
}

// modelRule is the rule of findings that no rule made.
const modelRule = "model"

// SARIF writes the report in version 2.1.0 of the Static Analysis Results Interchange Format.
func (r *Report) SARIF() ([]byte, error) {
	rules, results := []object{}, []sarifResult{}
	index := map[string]int{}
	for _, f := range r.Findings {
		rule, about := f.Rule, "what the rule "+f.Rule+" finds"
		if rule == "" {
			rule, about = modelRule, "a fault that a model reported and a second run of it upheld"
		}
		if _, ok := index[rule]; !ok {
			index[rule] = len(rules)
			rules = append(rules, object{"id": rule, "shortDescription": object{"text": about}})
		}
		message := f.Title
		if f.Evidence != "" {
			message += "\n\n" + f.Evidence
		}
		uri := &url.URL{Path: path.Join(r.Prefix, f.File)}
		results = append(results, sarifResult{rule, index[rule], f.Severity, object{"text": message}, []object{{"physicalLocation": object{
			"artifactLocation": object{"uri": uri.String(), "uriBaseId": "%SRCROOT%"}, "region": object{"startLine": f.Line},
		}}}})
	}
	return json.Marshal(object{
		"$schema": "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json", "version": "2.1.0",
		"runs": []object{{
			"tool":        object{"driver": object{"name": "pawl review", "rules": rules}},
			"invocations": []object{{"executionSuccessful": r.Result == nil || r.Result.Status == pawl.StatusSuccess}},
			"results":     results,
		}},
	})
}
