package cli

import (
	"fmt"
	"strings"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/runs"
)

// parseLimits parses the values of --limit, each a list with commas.
func parseLimits(texts []string, relative bool) (runs.Limits, error) {
	var l runs.Limits
	for _, text := range texts {
		for part := range strings.SplitSeq(text, ",") {
			part = strings.TrimSpace(part)
			name, value, ok := strings.Cut(part, "=")
			if !ok {
				return l, misuse("--limit: %s: write %s", part, runs.LimitForms)
			}
			if err := l.Say(name, value, relative); err != nil {
				return l, misuse("--limit: %s: %w; write %s", part, err, runs.LimitForms)
			}
		}
	}
	return l, nil
}

// over returns the limits of a run after l is applied.
func over(l runs.Limits, now pawl.Limits, price *pawl.Price, lower func(pawl.Limits) pawl.Limits) (pawl.Limits, error) {
	next, err := l.Over(now, price, lower)
	if err != nil {
		return next, misuse("--limit: %w", err)
	}
	return next, nil
}

// lowered lists the limits that are lower than what was asked for, in the form of --limit.
func lowered(asked, got pawl.Limits) (list []string) {
	for _, l := range []struct {
		name       string
		asked, got float64
		value      any
	}{
		{"iterations", float64(asked.Iterations), float64(got.Iterations), got.Iterations},
		{"tokens", float64(asked.Tokens), float64(got.Tokens), got.Tokens},
		{"time", float64(asked.Time), float64(got.Time), got.Time},
		{"cost", asked.Cost, got.Cost, got.Cost},
		{"tool_errors", float64(asked.ToolErrors), float64(got.ToolErrors), got.ToolErrors},
		{"depth", float64(asked.Depth), float64(got.Depth), got.Depth},
	} {
		if l.got < l.asked {
			list = append(list, fmt.Sprintf("%s=%v", l.name, l.value))
		}
	}
	return list
}

// parseLabels parses the values of --label that a run gets.
func parseLabels(texts []string) (map[string]string, error) {
	labels, err := queriedLabels(texts)
	for key, value := range labels {
		if value == "" { // it would be one with the runs without the label
			return nil, misuse("--label: %q has no value; write KEY=VALUE, or leave it out", key+"=")
		}
	}
	return labels, err
}

// queriedLabels parses the values of --label that select runs.
func queriedLabels(texts []string) (map[string]string, error) {
	labels := map[string]string{}
	for _, text := range texts {
		key, value, ok := strings.Cut(text, "=")
		if !ok || key == "" {
			return nil, misuse("--label: %q: write KEY=VALUE", text)
		}
		labels[key] = value
	}
	return labels, nil
}
