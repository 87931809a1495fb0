package server_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/server/client"
)

// Runs are counted by status and group, child runs and those of other tenants not.
func TestStats(t *testing.T) {
	w := serve(t, nil)
	w.result(admin, "POST", "/v1/runs?wait=true", `{"agent":"calm","input":"x"}`, 201)
	w.result(acme, "POST", "/v1/runs?wait=true", `{"agent":"calm","input":"x"}`, 201)
	w.result(admin, "POST", "/v1/runs?wait=true", `{"agent":"boss","input":"x"}`, 201) // its child is a payer
	// Two runs of another day, with a cost.
	day := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	for _, run := range []string{"a", "b"} {
		l, err := w.journal.Claim(t.Context(), pawl.Claim{Run: run, TTL: time.Minute, New: true})
		if err == nil {
			err = w.journal.Append(t.Context(), pawl.Batch{Run: run, Epoch: l.Epoch, Records: [][]byte{[]byte("{}")},
				Head: pawl.Head{Agent: "old", Status: pawl.StatusFailed, Created: day, Cost: 0.1, Priced: run == "a"}})
		}
		must(t, err)
	}
	stats := func(token, query string) (out client.Stats) {
		t.Helper()
		must(t, json.Unmarshal(w.ask(token, "GET", "/v1/stats"+query, "", 200), &out))
		return out
	}
	got := stats(admin, "").Spans
	if len(got) != 2 || got[0].Group != "boss" || got[0].Statuses["waiting_approval"] != 1 || got[1].Group != "calm" || got[1].Runs != 2 || got[1].Statuses["success"] != 2 {
		t.Errorf("%+v", got)
	}
	got = stats(admin, "?by=label:tenant&agent=calm&step=hour").Spans
	if len(got) != 2 || got[0].Group != "" || got[0].Runs != 1 || got[1].Group != "acme" || got[1].Runs != 1 {
		t.Errorf("%+v", got)
	}
	if got := stats(acme, "").Spans; len(got) != 1 || got[0].Runs != 1 {
		t.Errorf("a tenant sees %+v", got)
	}
	if got := stats(acme, "?label=tenant=other").Spans; len(got) != 0 {
		t.Errorf("a tenant sees %+v", got)
	}
	got = stats(admin, "?since=2026-01-01T12:00:00Z&until=2026-01-03T00:00:00Z").Spans
	if len(got) != 1 || !got[0].At.Equal(day.Truncate(24*time.Hour)) || got[0].Runs != 2 || got[0].CostUSD != 0.1 || got[0].Unpriced != 1 || got[0].Statuses["failed"] != 2 {
		t.Errorf("%+v", got)
	}
	before := stats(admin, "?agent=calm&by=agent")
	w.result(admin, "POST", "/v1/runs?wait=true", `{"agent":"calm","input":"x"}`, 201)
	if again := stats(admin, "?agent=calm&by=agent"); again.Spans[0].Runs != before.Spans[0].Runs {
		t.Errorf("all runs are read again at once: %+v, then %+v", before, again)
	}
	time.Sleep(2100 * time.Millisecond)
	if later := stats(admin, "?agent=calm&by=agent"); later.Spans[0].Runs != before.Spans[0].Runs+1 {
		t.Errorf("%+v, and later %+v", before, later)
	}
	for query, words := range map[string]string{"by=colour": "write agent or label:KEY", "by=label:": "label:KEY", "step=week": "hour or day", "since=2001-01-01T00:00:00Z": "more than 1000"} {
		w.refused(admin, "GET", "/v1/stats?"+query, "", 422, words)
	}
}
