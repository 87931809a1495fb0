package temporal

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	enumspb "go.temporal.io/api/enums/v1"
	historypb "go.temporal.io/api/history/v1"
	"google.golang.org/protobuf/encoding/protojson"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/runs/worker"
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
	w.begin("brief", "brief")
	w.until(1, pawl.StatusWaitingApproval, time.Minute)
	at := w.head("brief")
	w.approve("brief")
	rest, err := w.client.Decide(t.Context(), at)
	if err != nil || rest.Seq <= at.Seq {
		t.Errorf("the update got %+v, %v", rest, err)
	}
	w.closed("brief")
	w.history("brief", "decide")
	w.begin("brief", "cancelled")
	w.until(1, pawl.StatusWaitingApproval, time.Minute)
	must(t, w.engine.Cancel(t.Context(), "cancelled", "ada", "no need"))
	must(t, w.client.Wake(t.Context(), w.head("cancelled"), "test"))
	w.closed("cancelled")
	w.history("cancelled", "cancelled")
}

// Runs that wait cost nothing, and go on at once when they are signalled.
func TestProofWaiting(t *testing.T) {
	t.Run("SQLite", func(t *testing.T) { proveWaiting(t, "") })
	t.Run("PostgreSQL", func(t *testing.T) { proveWaiting(t, newPostgres(t)) })
}

func proveWaiting(t *testing.T, url string) {
	w := newTown(t, false, url)
	w.hire(50)
	const waiting = 1000
	for i := range waiting {
		w.queue("brief", fmt.Sprint("r", i))
	}
	began := time.Now()
	w.startAll(waiting)
	w.until(waiting, pawl.StatusWaitingApproval, 10*time.Minute)
	figure(t, "drives a second", fmt.Sprintf("%.0f", waiting/time.Since(began).Seconds()), "at least 30")
	time.Sleep(3 * time.Second)
	pending := 0
	for i := range waiting {
		about, err := w.client.sdk.DescribeWorkflowExecution(t.Context(), fmt.Sprint("r", i), "")
		must(t, err)
		pending += len(about.GetPendingActivities())
	}
	figure(t, "activities of 1,000 waiting runs", pending, "0")
	if pending > 0 {
		t.Errorf("%d activities are pending", pending)
	}
	var took []time.Duration
	for i := range 200 {
		run := fmt.Sprint("r", i)
		sent := time.Now()
		w.approve(run)
		for len(w.at(run, "run.resumed")) < 2 {
			time.Sleep(time.Millisecond)
		}
		took = append(took, w.at(run, "run.resumed")[1].Sub(sent))
	}
	slices.Sort(took)
	figure(t, "signal to drive, median", took[len(took)/2].Round(time.Millisecond), "100ms")
	figure(t, "signal to drive, 99th percentile", took[len(took)*99/100].Round(time.Millisecond), "500ms")
}

// An iteration costs what it costs a worker without Temporal.
func TestProofIteration(t *testing.T) {
	url := newPostgres(t)
	w := newTown(t, false, url)
	const most = 30
	iteration := func(prefix string) time.Duration {
		var took []time.Duration
		for i := range most {
			run := fmt.Sprint(prefix, i)
			w.ended(run)
			from, to := w.at(run, "run.resumed"), w.at(run, "run.stopped")
			took = append(took, to[0].Sub(from[0])/100)
		}
		slices.Sort(took)
		return took[most/2]
	}
	h := w.hire(1)
	for i := range most {
		w.begin("look", fmt.Sprint("t", i))
	}
	on := iteration("t")
	h.kill()
	for i := range most {
		w.queue("look", fmt.Sprint("p", i))
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	plain := worker.New(w.journal, shop{w.engine}, &worker.Options{Slots: 1})
	go plain.Run(ctx)
	off := iteration("p")
	cancel()
	if err := plain.Close(); err != nil {
		t.Error(err)
	}
	figure(t, "an iteration, on Temporal and off it, medians of 30", fmt.Sprintf("%v, %v", on.Round(time.Microsecond), off.Round(time.Microsecond)), "")
	figure(t, "the ratio", fmt.Sprintf("%.2f", float64(on)/float64(off)), "1.1")
}

// Runs survive their workers: each goes on, and no mail leaves twice.
func TestProofKills(t *testing.T) {
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

// With the real lease and heartbeat, a run goes on within 31 seconds of its worker's death.
func TestProofRecovery(t *testing.T) {
	w := newTown(t, false, "")
	const dead = 20
	var hands []*hand
	for i := range dead {
		hands = append(hands, w.hire(1))
		w.begin("slow", fmt.Sprint("r", i))
	}
	resumed := func(i int) []time.Time { return w.at(fmt.Sprint("r", i), "run.resumed") }
	for i := range dead {
		for began := time.Now(); len(resumed(i)) < 1; time.Sleep(100 * time.Millisecond) {
			if time.Since(began) > 2*time.Minute {
				t.Fatalf("run %d is not driven", i)
			}
		}
	}
	time.Sleep(5 * time.Second)
	killed := time.Now()
	for _, h := range hands {
		h.kill()
	}
	w.hire(dead)
	var took []time.Duration
	for i := range dead {
		for len(resumed(i)) < 2 {
			if time.Since(killed) > 2*time.Minute {
				t.Fatalf("run %d is not driven again", i)
			}
			time.Sleep(100 * time.Millisecond)
		}
		took = append(took, resumed(i)[1].Sub(killed))
	}
	slices.Sort(took)
	figure(t, "worker killed to run driven again, median of 20", took[dead/2].Round(100*time.Millisecond), "31s")
	figure(t, "worker killed to run driven again, slowest of 20", took[dead-1].Round(100*time.Millisecond), "31s")
	if sent, twice := w.duplicates(); twice > 0 {
		t.Errorf("%d of %d mails left twice", twice, sent)
	}
}

// Temporal's server is killed in mid-run, and then its database deleted: all runs complete.
func TestProofServer(t *testing.T) {
	for _, c := range []struct {
		name   string
		forget bool
	}{{"killed", false}, {"database deleted", true}} {
		t.Run(c.name, func(t *testing.T) {
			w := newTown(t, true, "")
			const most = 200
			for i := range most {
				w.queue("short", fmt.Sprint("r", i))
			}
			w.hire(10)
			w.startAll(most)
			w.until(20, pawl.StatusSuccess, time.Minute)
			w.killServer()
			if c.forget {
				for _, ending := range []string{"", "-wal", "-shm", "-journal"} {
					_ = os.Remove(w.store() + ending)
				}
			}
			time.Sleep(2 * time.Second)
			w.startServer()
			began := time.Now()
			w.until(most, pawl.StatusSuccess, 5*time.Minute)
			sent, twice := w.duplicates()
			figure(t, "runs complete after the server was back", time.Since(began).Round(time.Second), "all")
			figure(t, "duplicate Writes", fmt.Sprintf("%d of %d", twice, sent), "0")
			if twice > 0 {
				t.Errorf("%d mails left twice", twice)
			}
		})
	}
}
