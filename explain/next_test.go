package explain_test

import (
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/engine"
	"github.com/pawl-run/pawl/explain"
	"github.com/pawl-run/pawl/stop"
)

// TestNextHelps does what a report of an exhausted run says, and sees the run
// make another turn.
func TestNextHelps(t *testing.T) {
	agents := map[string]func(*pawl.Agent){
		"iterations":      func(a *pawl.Agent) { a.Limits.Iterations = 2 },
		"tokens":          func(a *pawl.Agent) { a.Limits.Tokens = 400 },
		"cost":            func(a *pawl.Agent) { a.Limits.Cost = 0.004 },
		"tokens at once":  func(a *pawl.Agent) { a.Limits.Tokens = 1 },
		"cost at once":    func(a *pawl.Agent) { a.Limits.Cost = 0.000001 },
		"time":            func(a *pawl.Agent) { a.Limits.Time = time.Second },
		"stop iterations": func(a *pawl.Agent) { a.Stop = stop.Iterations(2) },
		"stop tool_calls": func(a *pawl.Agent) { a.Stop = parse(t, `text_matches("it's") || tool_calls >= 3`) },
		"stop tokens":     func(a *pawl.Agent) { a.Stop = parse(t, `tokens > 300`) },
		"stop cost":       func(a *pawl.Agent) { a.Stop = parse(t, `cost >= 0.001`) },
		"stop elapsed":    func(a *pawl.Agent) { a.Stop = parse(t, `elapsed >= 500ms`) },
		"both":            func(a *pawl.Agent) { a.Limits.Iterations = 2; a.Stop = stop.Iterations(2) },
		"other limit":     func(a *pawl.Agent) { a.Limits.Iterations = 2; a.Stop = parse(t, `tool_calls >= 2`) },
		"two limits":      func(a *pawl.Agent) { a.Limits.Iterations, a.Limits.Tokens = 2, 120 },
		"other leaf":      func(a *pawl.Agent) { a.Stop = parse(t, `elapsed >= 1ms || tool_calls >= 1`) },
	}
	for name, set := range agents {
		t.Run(name, func(t *testing.T) {
			inLab(t, func(l *lab) []pawl.Entry {
				a := seeker(l)
				a.Model = scripted(l.t, "price: {input: 3, output: 15}\n"+endless)
				set(&a)
				before := report(t, l.run(a, "Find them all."))
				if before.Status != pawl.StatusExhausted || len(before.Next) != 1 {
					t.Fatalf("%v, next %v", before.Status, before.Next)
				}
				o := options(t, before.Next[0].Command, before)
				after := report(t, l.resume(a, o))
				if after.Iterations <= before.Iterations {
					t.Errorf("%s: still %d iterations: %s", before.Next[0].Command, after.Iterations, after.Reason.Detail)
				}
				return nil
			})
		})
	}
}

func parse(t *testing.T, source string) pawl.Condition {
	t.Helper()
	c, err := stop.Parse(source, nil)
	must(t, err)
	return c
}

func report(t *testing.T, log []pawl.Entry) explain.Report {
	t.Helper()
	r, err := explain.Of(sequence(log), nil)
	must(t, err)
	return r
}

// options reads a command as the command line does.
func options(t *testing.T, command string, r explain.Report) *engine.ResumeOptions {
	t.Helper()
	o := &engine.ResumeOptions{}
	if _, source, ok := strings.Cut(command, " --stop "); ok {
		if quoted, ok := strings.CutPrefix(source, "'"); ok {
			source = strings.ReplaceAll(strings.TrimSuffix(quoted, "'"), `'\''`, "'")
		}
		o.Stop = parse(t, source)
	}
	_, rest, _ := strings.Cut(command, " --limit ")
	limits, _, _ := strings.Cut(rest, " ")
	for limit := range strings.SplitSeq(limits, ",") {
		key, value, _ := strings.Cut(limit, "=+")
		number, _ := strconv.ParseFloat(value, 64)
		switch key {
		case "":
		case "iterations":
			o.Limits.Iterations = int(float64(*r.Ceilings.Iterations.Limit) + number)
		case "tokens":
			o.Limits.Tokens = int(float64(*r.Ceilings.Tokens.Limit) + number)
		case "cost":
			o.Limits.Cost = float64(*r.Ceilings.Cost.Limit) + number
		case "time":
			more, err := time.ParseDuration(value)
			must(t, err)
			o.Limits.Time = time.Duration(float64(*r.Ceilings.Time.Limit)*float64(time.Second)) + more
		default:
			t.Fatalf("unknown limit in %q", command)
		}
	}
	if o.Limits == (pawl.Limits{}) && o.Stop == nil {
		t.Fatalf("%q changes nothing", command)
	}
	return o
}
