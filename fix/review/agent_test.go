package review_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/engine"
	"github.com/pawl-run/pawl/fix/review"
	"github.com/pawl-run/pawl/journal/memory"
)

const change = `diff --git a/a.go b/a.go
index 1111111111111111111111111111111111111111..2222222222222222222222222222222222222222 100644
--- a/a.go
+++ b/a.go
@@ -1,2 +1,4 @@
 package a
 
+func Half(n int) int { return n / 3 }
+func Same(n int) int { return n }
`

// opened is a review of the change, by a model whose turns are lists of findings; an empty text is an answer
// without a report.
func opened(t *testing.T, turns ...string) (pawl.Agent, review.Source, string) {
	t.Helper()
	files, err := review.Parse(change)
	must(t, err)
	c := &review.Change{Dir: "/p", Files: files}
	model := pawl.ModelFunc(func(_ context.Context, r pawl.Request) (pawl.Reply, error) {
		turn := 0
		for _, m := range r.Messages {
			if m.Role == pawl.RoleAssistant {
				turn++
			}
		}
		text := turns[min(turn, len(turns)-1)]
		if text == "" {
			return pawl.Say("I am done."), nil
		}
		return pawl.Do(pawl.Call{Tool: "report_findings", Args: json.RawMessage(`{"findings":` + text + `}`)}), nil
	})
	source := c.Source("m")
	return review.Agent(source, model, pawl.Limits{}), source, c.Input()
}

const (
	outside = `[{"file":"b.go","line":1,"severity":"note","title":"t","evidence":""},{"file":"a.go","line":1,"severity":"error","title":"t","evidence":""},` +
		`{"file":"a.go","line":3,"severity":"grave","title":"t","evidence":""},{"file":"a.go","line":3,"severity":"note","title":" ","evidence":""}]`
	inside = `[{"file":"a.go","line":4,"severity":"note","title":"Same does  nothing","evidence":""},` +
		`{"file":"a.go","line":3,"severity":"error","title":"Half divides by 3","evidence":"Half(6)\nis 2"}]`
)

// A run ends when each finding is in the change, and a model that reports none of it has not succeeded.
func TestReport(t *testing.T) { // Promises: T18.
	for name, c := range map[string]struct {
		turns  []string
		status pawl.Status
		text   string
	}{
		"found":    {[]string{"", outside, inside}, pawl.StatusSuccess, "a.go:3: error: Half divides by 3\n    Half(6)\n    is 2\na.go:4: note: Same does nothing\n"},
		"nothing":  {[]string{"[]"}, pawl.StatusSuccess, ""},
		"gives up": {[]string{outside, ""}, pawl.StatusNoProgress, ""},
	} {
		agent, source, input := opened(t, c.turns...)
		if !strings.Contains(input, "== a.go\n") || !strings.Contains(input, "    3 + func Half") {
			t.Fatalf("the input is %s", input)
		}
		journal := memory.New()
		h, err := engine.New(journal, nil).Start(t.Context(), agent, input, nil)
		must(t, err)
		result, err := h.Wait(t.Context())
		if err != nil || result.Status != c.status {
			t.Errorf("%s: %v, %v, want %v", name, result.Status, err, c.status)
		}
		s, err := engine.Load(t.Context(), journal, result.Run)
		must(t, err)
		report := source.Report(s)
		if d := cmp.Diff(c.text, report.Text()); d != "" {
			t.Errorf("%s: text (-want +got):\n%s", name, d)
		}
		if reviewed := len(report.Reviewed) == 1; reviewed != (c.status == pawl.StatusSuccess) {
			t.Errorf("%s: reviewed %v, skipped %v", name, report.Reviewed, report.Skipped)
		}
		for call := range s.Calls() {
			for _, want := range []string{"b.go is no file of the change", "a.go:1 is no line of the change; those are [[3 4]]", `severity "grave"`, "has no title"} {
				if strings.Contains(string(call.Args), "b.go") && !strings.Contains(call.Error, want) {
					t.Errorf("%s: the model was told %q, want %q", name, call.Error, want)
				}
			}
		}
	}
}

// A source is read as it was written.
func TestSource(t *testing.T) {
	_, source, _ := opened(t, "")
	back, ours, err := review.ParseSource(source.String())
	if d := cmp.Diff(source, back); d != "" || !ours || err != nil {
		t.Errorf("%v, %v (-want +got):\n%s", ours, err, d)
	}
	if _, ours, err := review.ParseSource(`{"kind":"review","model":"m"}`); !ours || err == nil {
		t.Errorf("a review of nothing: %v, %v", ours, err)
	}
	r := review.Report{Prefix: "sub/", Findings: []review.Finding{{File: "a,b.go", Line: 3, Severity: review.Note, Title: "50 %: x", Evidence: "1\n2"}}}
	if got, want := r.GitHub(), "::notice file=sub/a%2Cb.go,line=3,title=50 %25%3A x::1%0A2\n"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}
