package review

import (
	"encoding/json"
	"net/url"
	"path"

	"github.com/pawl-run/pawl"
)

// The parts of SARIF 2.1.0 that a report needs.
type (
	sarifLog struct {
		Schema  string     `json:"$schema"`
		Version string     `json:"version"`
		Runs    []sarifRun `json:"runs"`
	}
	sarifRun struct {
		Tool        sarifTool         `json:"tool"`
		Invocations []sarifInvocation `json:"invocations"`
		Results     []sarifResult     `json:"results"`
	}
	sarifTool struct {
		Driver sarifDriver `json:"driver"`
	}
	sarifDriver struct {
		Name  string      `json:"name"`
		Rules []sarifRule `json:"rules"`
	}
	sarifRule struct {
		ID               string    `json:"id"`
		ShortDescription sarifText `json:"shortDescription"`
	}
	sarifText struct {
		Text string `json:"text"`
	}
	sarifInvocation struct {
		ExecutionSuccessful bool `json:"executionSuccessful"`
	}
	sarifResult struct {
		RuleID    string          `json:"ruleId"`
		RuleIndex int             `json:"ruleIndex"`
		Level     string          `json:"level"`
		Message   sarifText       `json:"message"`
		Locations []sarifLocation `json:"locations"`
	}
	sarifLocation struct {
		PhysicalLocation sarifPhysical `json:"physicalLocation"`
	}
	sarifPhysical struct {
		ArtifactLocation sarifArtifact `json:"artifactLocation"`
		Region           sarifRegion   `json:"region"`
	}
	sarifArtifact struct {
		URI       string `json:"uri"`
		URIBaseID string `json:"uriBaseId"`
	}
	sarifRegion struct {
		StartLine int `json:"startLine"`
	}
)

// modelRule is the rule of findings that no rule made.
const modelRule = "model"

// SARIF writes the report in version 2.1.0 of the Static Analysis Results Interchange Format.
func (r *Report) SARIF() ([]byte, error) {
	run := sarifRun{
		Tool:        sarifTool{sarifDriver{"pawl review", []sarifRule{}}},
		Invocations: []sarifInvocation{{r.Result == nil || r.Result.Status == pawl.StatusSuccess}},
		Results:     []sarifResult{},
	}
	index := map[string]int{}
	for _, f := range r.Findings {
		rule, about := f.Rule, "what the rule "+f.Rule+" finds"
		if rule == "" {
			rule, about = modelRule, "a fault that a model reported and a second run of it upheld"
		}
		if _, ok := index[rule]; !ok {
			index[rule] = len(run.Tool.Driver.Rules)
			run.Tool.Driver.Rules = append(run.Tool.Driver.Rules, sarifRule{rule, sarifText{about}})
		}
		message := f.Title
		if f.Evidence != "" {
			message += "\n\n" + f.Evidence
		}
		uri := &url.URL{Path: path.Join(r.Prefix, f.File)}
		run.Results = append(run.Results, sarifResult{
			RuleID: rule, RuleIndex: index[rule], Level: f.Severity, Message: sarifText{message},
			Locations: []sarifLocation{{sarifPhysical{sarifArtifact{uri.String(), "%SRCROOT%"}, sarifRegion{f.Line}}}},
		})
	}
	return json.Marshal(sarifLog{"https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json", "2.1.0", []sarifRun{run}})
}
