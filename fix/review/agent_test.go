package review_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/engine"
	"github.com/pawl-run/pawl/fix/review"
	"github.com/pawl-run/pawl/journal/memory"
	"github.com/pawl-run/pawl/pawltest"
)

const change = `diff --git a/a.go b/a.go
index 1111111111111111111111111111111111111111..2222222222222222222222222222222222222222 100644
--- a/a.go
+++ b/a.go
@@ -1,2 +1,4 @@
 package a
 
+func Half(n int) int { return n / 3 }
+func Same(n int) int { return n }
diff --git a/b.go b/b.go
index 3333333333333333333333333333333333333333..4444444444444444444444444444444444444444 100644
--- a/b.go
+++ b/b.go
@@ -1 +1,2 @@
 package b
+var x = 1
diff --git a/c.go b/c.go
index 5555555555555555555555555555555555555555..6666666666666666666666666666666666666666 100644
--- a/c.go
+++ b/c.go
@@ -1 +1,2 @@
 package c
+var y = z
`

// reader finds two faults in a.go, of which one is none, and one outside the difference; it
// finds nothing in b.go, and one fault in c.go.
func reader(_ context.Context, r pawl.Request) (pawl.Reply, error) {
	text := r.Messages[len(r.Messages)-1].Text()
	switch {
	case len(r.Tools) > 0:
		return pawl.Reply{}, errors.New("the model is offered tools")
	case strings.Contains(text, "in line 3: Half divides by 3"):
		return pawl.Say(`{"verdict":"upheld","reason":"it does"}`), nil
	case strings.HasPrefix(text, "Somebody"):
		return pawl.Say(`{"verdict":"refuted","reason":"that is its name"}`), nil
	case strings.HasPrefix(text, "Review the change to a.go") && strings.Contains(text, "    3 + func Half"):
		return pawl.Say(`{"findings":[
			{"line":3,"severity":"error","title":"Half divides by 3","evidence":"Half(6) is 2"},
			{"line":4,"severity":"note","title":"Same does nothing","evidence":"it returns n"},
			{"line":1,"severity":"warning","title":"bad name","evidence":"a"}]}`), nil
	case strings.HasPrefix(text, "Review the change to c.go"):
		return pawl.Say(`{"findings":[{"line":2,"severity":"error","title":"z is not there","evidence":"var y = z"}]}`), nil
	}
	return pawl.Say(`{"findings":[]}`), nil
}

func opened(t *testing.T) (files []*review.File, input string) {
	t.Helper()
	list, err := review.Parse(change)
	if err != nil {
		t.Fatal(err)
	}
	for i := range list {
		files = append(files, &list[i])
	}
	input, err = review.Input(files)
	if err != nil {
		t.Fatal(err)
	}
	return files, input
}

func run(t *testing.T, j pawl.Journal, model pawl.ModelFunc, input string) (pawl.Result, error) {
	t.Helper()
	h, err := engine.New(j, nil).Start(t.Context(), review.Agent(model, pawl.Limits{}), input, nil)
	if err != nil {
		t.Fatal(err)
	}
	return h.Wait(t.Context())
}

var wanted = []*review.Judged{
	{
		Findings: []review.Finding{{Line: 3, Severity: "error", Title: "Half divides by 3", Evidence: "Half(6) is 2"}},
		Refuted:  []review.Refuted{{Finding: review.Finding{Line: 4, Severity: "note", Title: "Same does nothing", Evidence: "it returns n"}, Reason: "that is its name"}},
		Dropped:  []review.Finding{{Line: 1, Severity: "warning", Title: "bad name", Evidence: "a"}},
	},
	{Findings: []review.Finding{}, Refuted: []review.Refuted{}, Dropped: []review.Finding{}},
	{
		Findings: []review.Finding{},
		Refuted:  []review.Refuted{{Finding: review.Finding{Line: 2, Severity: "error", Title: "z is not there", Evidence: "var y = z"}, Reason: "that is its name"}},
		Dropped:  []review.Finding{},
	},
}

// A review is killed at every entry, and comes to the same.
func TestKilled(t *testing.T) {
	files, _ := opened(t)
	input, err := review.Input(files[:1]) // one at a time: a child that starts while its process is killed may live on here
	if err != nil {
		t.Fatal(err)
	}
	model := func(ctx context.Context, r pawl.Request) (pawl.Reply, error) {
		reply, err := reader(ctx, r)
		if text := reply.Text(); strings.Contains(text, "Same does nothing") {
			return pawl.Say(strings.Replace(text, `"line":4`, `"line":2`, 1)), nil
		}
		return reply, err
	}
	log := pawltest.KillEverywhere(t, func() pawl.Agent { return review.Agent(pawl.ModelFunc(model), pawl.Limits{}) }, input, nil)
	var s pawl.State
	for _, e := range log {
		s.Fold(e)
	}
	got, err := review.Collect(&s, 1)
	if err != nil {
		t.Fatal(err)
	}
	want := &review.Judged{Findings: wanted[0].Findings, Refuted: []review.Refuted{}, Dropped: []review.Finding{wanted[0].Refuted[0].Finding, wanted[0].Dropped[0]}}
	want.Dropped[0].Line = 2
	if d := cmp.Diff([]*review.Judged{want}, got); d != "" {
		t.Errorf("-want +got:\n%s", d)
	}
}

// What is done when a run stops is kept: the report has it, and the next review does not ask again.
func TestHalf(t *testing.T) {
	files, input := opened(t)
	broken := func(ctx context.Context, r pawl.Request) (pawl.Reply, error) {
		if text := r.Messages[len(r.Messages)-1].Text(); strings.Contains(text, "change to c.go") {
			return pawl.Reply{}, &pawl.ModelError{Class: pawl.ClassInvalid, Message: "it is broken"}
		}
		return reader(ctx, r)
	}
	journal := memory.New()
	result, err := run(t, journal, broken, input)
	if err != nil || result.Status != pawl.StatusFailed {
		t.Fatalf("%v, %v", result.Status, err)
	}
	s, err := engine.Load(t.Context(), journal, result.Run)
	if err != nil {
		t.Fatal(err)
	}
	results, err := review.Collect(s, 3)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff([]*review.Judged{wanted[0], wanted[1], nil}, results); d != "" {
		t.Fatalf("-want +got:\n%s", d)
	}
	key := func(f *review.File) string { return review.Key(f, "m", pawl.ModelFunc(reader)) }
	source := review.Source{Dir: "/p", Model: "m", Format: "text", Report: *review.New(&review.Change{What: "x"})}
	source.Report.Model = "m"
	for _, f := range files {
		source.Files = append(source.Files, review.Reviewing{Path: f.Path, Key: key(f)})
	}
	again, ours, err := review.ParseSource(source.String())
	if d := cmp.Diff(source, again); d != "" || !ours || err != nil {
		t.Fatalf("ParseSource: %v, %v (-want +got):\n%s", ours, err, d)
	}
	cache := &review.Cache{Dir: t.TempDir()}
	report, open := again.Conclude(results, cache)
	if d := cmp.Diff([]string{"c.go"}, open); d != "" {
		t.Errorf("open (-want +got):\n%s", d)
	}
	if got, want := report.Text(), "a.go:3: error: Half divides by 3\n    Half(6) is 2\n"; got != want {
		t.Errorf("text %q, want %q", got, want)
	}
	if want := "1 finding in 2 files; 1 refuted by the judge; 1 dropped, since they are not about lines of the difference"; report.Summary() != want {
		t.Errorf("summary %q, want %q", report.Summary(), want)
	}
	next := review.New(&review.Change{What: "x"})
	left := cache.Take(files, key, next)
	if len(left) != 1 || left[0].Path != "c.go" || next.Cached != 2 || next.Text() != report.Text() {
		t.Errorf("left %v, report %+v", left, next)
	}
	for i := range again.Files {
		again.Files[i].Key = "" // as after a change of the model
	}
	again.Report = *review.New(&review.Change{What: "x"})
	none := &review.Cache{Dir: t.TempDir()}
	if again.Conclude(results, none); len(none.Take(files, key, next)) != 3 {
		t.Error("a result without a key was kept")
	}
	if other := review.Key(files[0], "other", pawl.ModelFunc(reader)); other == key(files[0]) {
		t.Error("another model has the same key")
	}
}

// Each file is one child, and each finding in the difference is judged once.
func TestChildren(t *testing.T) {
	_, input := opened(t)
	journal := memory.New()
	var mu sync.Mutex
	calls := 0
	model := func(ctx context.Context, r pawl.Request) (pawl.Reply, error) {
		mu.Lock()
		defer mu.Unlock()
		calls++
		return reader(ctx, r)
	}
	result, err := run(t, journal, model, input)
	if err != nil || result.Status != pawl.StatusSuccess {
		t.Fatalf("%v, %v", result.Status, err)
	}
	if calls != 6 || result.Usage.ModelCalls != 6 {
		t.Errorf("%d calls, %d in the result, want 3 files and 3 judgements", calls, result.Usage.ModelCalls)
	}
	var children []string
	for e, err := range engine.Entries(t.Context(), journal, result.Run, 1) {
		if err != nil {
			t.Fatal(err)
		}
		if c, ok := e.Event.(pawl.ChildStarted); ok {
			children = append(children, fmt.Sprint(c.Agent))
		}
	}
	if len(children) != 3 {
		t.Errorf("children %v", children)
	}
	var out []review.Judged
	if err := json.Unmarshal(result.Output, &out); err != nil || len(out) != 3 {
		t.Errorf("output %s: %v", result.Output, err)
	}
}
