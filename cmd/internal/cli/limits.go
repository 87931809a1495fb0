package cli

import (
	"strings"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/runs"
	"github.com/pawl-run/pawl/spec"
)

// parseLimits parses the values of --limit, each a list with commas.
func parseLimits(texts []string, relative bool) (runs.Limits, error) {
	return eachLimit(texts, relative, func(string, string) {})
}

// eachLimit is [parseLimits] that also yields each limit as it is written.
func eachLimit(texts []string, relative bool, yield func(name, value string)) (runs.Limits, error) {
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
			yield(name, value)
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
	held := asked.Combine(got, func(_ string, asked, got float64) float64 {
		if got < asked {
			return got
		}
		return 0
	})
	return spec.Assignments(held)
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
