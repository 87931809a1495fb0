package fakeprovider_test

import (
	"testing"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/internal/testkit/fakeprovider"
)

// A run is told which filter stopped its model, and not what the model had said by then.
func TestFilterIsNamed(t *testing.T) {
	for fault, want := range map[string]string{
		"recitation":     "the provider stopped the reply (RECITATION)",
		"content-filter": "the provider stopped the reply (SAFETY)",
		"prompt-blocked": "the provider stopped the reply (PROHIBITED_CONTENT)",
	} {
		r := newRig(t, fakeprovider.Google, &fakeprovider.Options{Faults: []fakeprovider.Fault{fakeprovider.Must(fault)}})
		if res := r.start(t); res.Status != pawl.StatusFailed || res.Verdict.Leaf != "refused" || res.Verdict.Detail != want {
			t.Errorf("%s: %v (%s), want %s", fault, res.Verdict, res.Verdict.Detail, want)
		}
	}
}

// A reply in two responses is one attempt, whose tokens are those of both and within what was
// reserved.
func TestContinuationIsOneAttempt(t *testing.T) {
	r := newRig(t, fakeprovider.Google, &fakeprovider.Options{Faults: []fakeprovider.Fault{fakeprovider.Must("continuation")}})
	if res := r.start(t); res.Status != pawl.StatusSuccess {
		t.Fatalf("%v: %s", res.Verdict, res.Verdict.Detail)
	}
	var called []pawl.ModelCalled
	var replied []pawl.ModelReplied
	for e, err := range r.run.Entries(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		switch e := e.Event.(type) {
		case pawl.ModelCalled:
			called = append(called, e)
		case pawl.ModelReplied:
			replied = append(replied, e)
		}
	}
	if sent := len(r.fake.Requests()); sent != len(called)+1 || len(called) != len(replied) {
		t.Fatalf("%d requests for %d attempts and %d replies", sent, len(called), len(replied))
	}
	got := replied[0].Reply
	want := pawl.Usage{Input: 1000 + 1030, Output: 60, CacheRead: 500 + 1000, Reasoning: 10}
	if got.Text() != "I look, then I put." || got.Usage != want || got.Stop != pawl.StopCalls {
		t.Errorf("%v: %q with %+v, want %+v", got.Stop, got.Text(), got.Usage, want)
	}
	if got.Usage.Total() > called[0].Reserved {
		t.Errorf("%d tokens of %d that were reserved", got.Usage.Total(), called[0].Reserved)
	}
}
