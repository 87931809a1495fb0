package sqlite_test

import (
	"strings"
	"testing"
	"time"

	"github.com/ncruces/go-sqlite3"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/journal/sqlite"
)

// Runs that need an owner are found without going over all runs, however else the
// query selects: servers look for them all the time.
func TestDueByIndex(t *testing.T) {
	path := t.TempDir() + "/j.db"
	if err := openAt(t, path, nil).Close(); err != nil {
		t.Fatal(err)
	}
	c, err := sqlite3.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	for _, q := range []pawl.Query{
		{Status: pawl.Running}, {Due: time.Now()}, {Due: time.Now(), Run: "x"}, {Due: time.Now(), Status: pawl.Paused}, {Due: time.Now(), Status: pawl.WaitingApproval, Agent: "a", Loop: "react"},
	} {
		sql, _ := sqlite.Selection(q)
		s, _, err := c.Prepare("EXPLAIN QUERY PLAN " + sql)
		if err != nil {
			t.Fatalf("%+v: %v", q, err)
		}
		plan := ""
		for s.Step() {
			plan += s.ColumnText(3) + "\n"
		}
		wake := q.Due.IsZero() || strings.Contains(plan, "INDEX runs_wake_at (wake_at<?)")
		if err := s.Close(); err != nil || !wake || !strings.Contains(plan, "INDEX runs_running (status=?") || strings.Contains(plan, "SCAN") {
			t.Errorf("%+v: %v\n%s", q, err, plan)
		}
	}
}
