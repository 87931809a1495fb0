package cli

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-run/pawl"
)

func TestWords(t *testing.T) {
	for in, want := range map[string][]string{
		"go test ./...":                {"go", "test", "./..."},
		`  make   "unit tests" 'a b' `: {"make", "unit tests", "a b"},
		`go test -run 'Test\d'`:        {"go", "test", "-run", `Test\d`},
		`a\ b ""`:                      {"a b", ""},
	} {
		got, err := words(in)
		if diff := cmp.Diff(want, got); diff != "" || err != nil {
			t.Errorf("words(%q): %v\n%s", in, err, diff)
		}
	}
	for _, in := range []string{"", "  ", `"open`, `end\`, "'open"} {
		if got, err := words(in); err == nil {
			t.Errorf("words(%q) = %q, want an error", in, got)
		}
	}
}

func TestLimits(t *testing.T) {
	now := pawl.Limits{Iterations: 20, Tokens: 1000, Time: time.Minute, Cost: 1, ToolErrors: 3}
	free := &pawl.Price{}
	for _, c := range []struct {
		text string
		want pawl.Limits
		bad  string
	}{
		{text: "iterations=5", want: pawl.Limits{Iterations: 5}},
		{text: "iterations=+5,tokens=+500", want: pawl.Limits{Iterations: 25, Tokens: 1500}},
		{text: "time=90s, cost=+0.5", want: pawl.Limits{Time: 90 * time.Second, Cost: 1.5}},
		{text: "time=+30s,tool_errors=+1,tokens=500_000", want: pawl.Limits{Time: 90 * time.Second, ToolErrors: 4, Tokens: 500_000}},
		{text: "iterations=-5", bad: "at least 1"},
		{text: "iterations=+0", bad: "at least 1"},
		{text: "iterations=+-5", bad: "at least 1"},
		{text: "iterations=1.5", bad: "not a whole number"},
		{text: "time=30", bad: `"30" is not a duration such as 5s or 5m`},
		{text: "time=-3s", bad: "must be positive"},
		{text: "cost=NaN", bad: "must be positive"},
		{text: "cost=0", bad: "must be positive"},
		{text: "dollars=3", bad: "the limit is unknown"},
		{text: "iterations", bad: "write iterations=N"},
		{text: "", bad: "write iterations=N"},
		{text: "iterations=+9990", bad: "the most is 10000"},
	} {
		l, err := parseLimits([]string{c.text}, true)
		var got pawl.Limits
		if err == nil {
			got, err = over(l, now, free, nil)
		}
		switch {
		case c.bad == "" && (err != nil || got != c.want):
			t.Errorf("%q: %+v, %v; want %+v", c.text, got, err, c.want)
		case c.bad != "" && (err == nil || !strings.Contains(err.Error(), c.bad)):
			t.Errorf("%q: %v; want an error with %q", c.text, err, c.bad)
		case c.bad != "" && codeOf(err) != exitUsage:
			t.Errorf("%q: exit %d", c.text, codeOf(err))
		}
	}
	if l, err := parseLimits([]string{"cost=1"}, true); err == nil {
		if _, err = over(l, now, nil, nil); err == nil {
			t.Error("a ceiling in dollars was taken for a model without a price")
		}
	}
}

// Each status has the exit code that the contract gives it.
func TestExitCodes(t *testing.T) { // Promises: H8.
	want := map[pawl.Status]int{
		pawl.StatusSuccess: 0, pawl.StatusExhausted: 3, pawl.StatusNoProgress: 4,
		pawl.StatusWaitingApproval: 5, pawl.StatusWaitingInput: 5, pawl.StatusWaitingClientTool: 5, pawl.StatusWaitingDoubt: 5, pawl.StatusExpired: 5,
		pawl.StatusDenied: 6, pawl.StatusPlanFailed: 7, pawl.StatusFailed: 1, pawl.StatusCancelled: 130, pawl.StatusPaused: 130,
	}
	for s, code := range want {
		if got := exitCode(s); got != code {
			t.Errorf("%v: exit %d, want %d", s, got, code)
		}
	}
}
