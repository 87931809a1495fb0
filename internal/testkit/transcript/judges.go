package transcript

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/judge"
)

// judge reads a policy that judges, nil if it is none:
//
//	reflexion [every=N] [no_errors] [no_loops] [by=NAME]
//	grounding [replans=N] [strict] [by=NAME] · causal · steer [by=NAME] [writes] [ask] POLICY
//
// A model given by name is the world's under that name.
func (w *world) judge(words []string) (pawl.Policy, error) {
	var model pawl.Model
	rest := words[1:]
	var every, replans int
	flags := map[string]bool{}
	var err error
	for len(rest) > 0 && err == nil {
		key, value, assigned := strings.Cut(rest[0], "=")
		switch {
		case assigned && key == "by":
			model = other{w, value}
		case assigned && key == "every":
			every, err = strconv.Atoi(value)
		case assigned && key == "replans":
			replans, err = strconv.Atoi(value)
		case key == "writes" || key == "ask" || key == "no_errors" || key == "no_loops" || key == "strict":
			flags[key] = true
		case words[0] == "steer":
			return judge.Steer(strings.Join(rest, " "), &judge.SteerOptions{Model: model, WritesOnly: flags["writes"], Ask: flags["ask"]}), nil
		default:
			err = fmt.Errorf("%s has no option %q", words[0], rest[0])
		}
		rest = rest[1:]
	}
	switch words[0] {
	case "reflexion":
		return judge.Reflexion(&judge.ReflexionOptions{Every: every, IgnoreErrors: flags["no_errors"], IgnoreLoops: flags["no_loops"], Model: model}), err
	case "grounding":
		return judge.Grounding(&judge.GroundingOptions{Replans: replans, Strict: flags["strict"], Model: model}), err
	case "causal":
		return judge.Causal(), err
	case "steer":
		return judge.Steer("", &judge.SteerOptions{Model: model, WritesOnly: flags["writes"], Ask: flags["ask"]}), err
	}
	return nil, nil
}
