package temporal

import (
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	enumspb "go.temporal.io/api/enums/v1"
	historypb "go.temporal.io/api/history/v1"
	"google.golang.org/protobuf/encoding/protojson"

	"github.com/pawl-run/pawl"
)

// history reads the history of a run's workflow, and keeps it under a name with -rewrite.
func (w *town) history(run, name string) *historypb.History {
	w.t.Helper()
	var h historypb.History
	for all := w.client.sdk.GetWorkflowHistory(w.t.Context(), run, "", false, enumspb.HISTORY_EVENT_FILTER_TYPE_ALL_EVENT); all.HasNext(); {
		e, err := all.Next()
		must(w.t, err)
		h.Events = append(h.Events, e)
	}
	if *rewrite && name != "" {
		text, err := protojson.Marshal(&h)
		if err == nil {
			err = os.MkdirAll("testdata/histories", 0o755)
		}
		if err == nil {
			err = os.WriteFile(filepath.Join("testdata/histories", name+".json"), text, 0o644)
		}
		must(w.t, err)
	}
	return &h
}

// closed waits until the workflow of a run has ended.
func (w *town) closed(run string) {
	w.t.Helper()
	if err := w.client.sdk.GetWorkflow(w.t.Context(), run, "").Get(w.t.Context(), nil); err != nil {
		w.t.Fatal(run, err)
	}
}

// startAll hands over the runs r0, r1 and so on, several at once.
func (w *town) startAll(n int) {
	var all sync.WaitGroup
	next := make(chan pawl.Head)
	for range 8 {
		all.Go(func() {
			for h := range next {
				if err := w.client.Start(w.t.Context(), h); err != nil {
					w.t.Error(err)
				}
			}
		})
	}
	for i := range n {
		next <- w.head(fmt.Sprint("r", i))
	}
	close(next)
	all.Wait()
}

// figure prints what was measured beside its goal.
func figure(t *testing.T, what string, got any, goal string) {
	t.Helper()
	t.Logf("%-52s %-14v goal %s", what, got, goal)
}

// Of a run of 100 iterations with two approvals, Temporal keeps a short history.
func TestProofHistory(t *testing.T) {
	w := newTown(t, false, "")
	w.hire(10)
	w.begin("long", "long")
	for range 2 {
		w.until(1, pawl.StatusWaitingApproval, time.Minute)
		time.Sleep(time.Second) // as a person would; the workflow has seen the rest
		w.approve("long")
		for w.head("long").Status == pawl.StatusWaitingApproval {
			time.Sleep(time.Millisecond)
		}
	}
	w.until(1, pawl.StatusSuccess, time.Minute)
	w.closed("long")
	h := w.history("long", "approvals")
	about, err := w.client.sdk.DescribeWorkflowExecution(t.Context(), "long", "")
	must(t, err)
	actions, upserts := 1, 0
	for _, e := range h.GetEvents() {
		switch e.GetEventType() {
		case enumspb.EVENT_TYPE_ACTIVITY_TASK_SCHEDULED, enumspb.EVENT_TYPE_WORKFLOW_EXECUTION_SIGNALED:
			actions++
		case enumspb.EVENT_TYPE_UPSERT_WORKFLOW_SEARCH_ATTRIBUTES:
			upserts++
		}
	}
	figure(t, "events of 100 iterations with two approvals", fmt.Sprintf("%d + %d", len(h.GetEvents())-upserts, upserts), "31 (+ search attributes)")
	figure(t, "bytes of the history", about.GetWorkflowExecutionInfo().GetHistorySizeBytes(), "25,000")
	figure(t, "actions", fmt.Sprintf("%d + %d", actions, upserts), "6 (+ search attributes)")
	if len(h.GetEvents())-upserts > 31 || about.GetWorkflowExecutionInfo().GetHistorySizeBytes() > 25_000 || actions > 6 {
		t.Errorf("the history has %d events, %d of them search attributes", len(h.GetEvents()), upserts)
	}
	w.begin("short", "short")
	w.closed("short")
	if h := w.history("short", "plain"); len(h.GetEvents()) > 12 {
		t.Errorf("a run without waits has %d events", len(h.GetEvents()))
	}
	w.begin("brief", "cancelled")
	w.until(1, pawl.StatusWaitingApproval, time.Minute)
	must(t, w.engine.Cancel(t.Context(), "cancelled", "ada", "no need"))
	must(t, w.client.Wake(t.Context(), w.head("cancelled"), "test"))
	w.closed("cancelled")
	w.history("cancelled", "cancelled")
}

// Runs survive their workers: each goes on, and no mail leaves twice.
func TestProofKills(t *testing.T) { // Promises: N8.
	w := newTown(t, true, "")
	const most, team = 1000, 3
	for i := range most {
		w.queue("steady", fmt.Sprint("r", i))
	}
	w.startAll(most)
	hands := make([]*hand, team)
	for i := range hands {
		hands[i] = w.hire(40)
	}
	done := func() (n int) {
		for _, err := range w.journal.List(t.Context(), pawl.Query{Status: pawl.StatusSuccess}) {
			if err == nil {
				n++
			}
		}
		return n
	}
	kills := 0
	for began := time.Now(); done() < most*9/10 && time.Since(began) < 15*time.Minute; kills++ {
		time.Sleep(1500 * time.Millisecond)
		hands[kills%team].kill()
		hands[kills%team] = w.hire(40)
	}
	w.until(most, pawl.StatusSuccess, 5*time.Minute)
	interrupted := 0
	for i := range most { // each begins with a run.resumed, since it was queued
		interrupted += len(w.at(fmt.Sprint("r", i), "run.resumed")) - 1
	}
	sent, twice := w.duplicates()
	figure(t, "duplicate Writes", fmt.Sprintf("%d of %d", twice, sent), "0")
	figure(t, "interruptions", fmt.Sprintf("%d by %d kills", interrupted, kills), "1,000")
	if twice > 0 {
		t.Errorf("%d mails left twice", twice)
	}
}
