package sqlite_test

import (
	"strings"
	"testing"
	"time"

	"github.com/ncruces/go-sqlite3"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/journal/sqlite"
)

// Runs that are due are found without going over all runs, however else the query
// selects: servers look for them all the time.
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
		{Due: time.Now()}, {Due: time.Now(), Run: "x"}, {Due: time.Now(), Status: pawl.Paused}, {Due: time.Now(), Status: pawl.WaitingApproval, Agent: "a", Loop: "react"},
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
		if err := s.Close(); err != nil || !strings.Contains(plan, "SEARCH runs USING INDEX runs_wake_at (wake_at<?)") {
			t.Errorf("%+v: %v\n%s", q, err, plan)
		}
	}
}
