package sqlite_test

import (
	"strings"
	"testing"
	"time"

	"github.com/ncruces/go-sqlite3"
	"github.com/ncruces/go-sqlite3/ext/fts5"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/journal/sqlite"
)

// plan says how SQLite performs a statement.
func plan(t *testing.T, c *sqlite3.Conn, sql string, values int) (plan string) {
	t.Helper()
	s, _, err := c.Prepare("EXPLAIN QUERY PLAN " + sql)
	if err != nil {
		t.Fatalf("%v in %s", err, sql)
	}
	if n := s.BindCount(); n != values {
		t.Errorf("%d values for %d in %s", values, n, sql)
	}
	for s.Step() {
		plan += s.ColumnText(3) + "\n"
	}
	must(t, s.Close())
	return plan
}

// planner is a connection to an empty journal.
func planner(t *testing.T) *sqlite3.Conn {
	t.Helper()
	path := t.TempDir() + "/j.db"
	must(t, openAt(t, path, nil).Close())
	c, err := sqlite3.Open(path)
	if err == nil {
		t.Cleanup(func() { c.Close() })
		err = fts5.Register(c)
	}
	must(t, err)
	return c
}

// What workers ask all the time looks only at runs that are queued or have an owner.
func TestQueueByIndex(t *testing.T) {
	c := planner(t)
	for _, q := range []struct {
		sql    string
		values int
		uses   []string
		sorted bool
	}{
		{sqlite.QueueSQL, 2, []string{"SEARCH runs USING INDEX runs_queue (agent=?)"}, false},
		{sqlite.QueuedSQL, 0, []string{"SEARCH runs USING INDEX runs_status (status=?)"}, true},
		{sqlite.TakenSQL, 1, []string{"SCAN runs USING INDEX runs_taken"}, false}, // all of the index
		{sqlite.OwnedSQL, 1, []string{"SEARCH runs USING INDEX runs_status (status=?)", "SCAN runs USING INDEX runs_taken"}, true},
	} {
		got := plan(t, c, q.sql, q.values)
		rest := strings.ReplaceAll(got, "SCAN runs USING INDEX runs_taken", "")
		for _, uses := range q.uses {
			if !strings.Contains(got, uses) {
				t.Errorf("%s\ndoes not use %s:\n%s", q.sql, uses, got)
			}
		}
		if strings.Contains(rest, "SCAN runs") || !q.sorted && strings.Contains(rest, "TEMP B-TREE") {
			t.Errorf("%s\n%s", q.sql, got)
		}
	}
}

// A list looks at no other runs than one of its filters selects, whichever that
// is, and has them in order as they come: servers and commands list all the time.
func TestListByIndex(t *testing.T) {
	c := planner(t)
	label := map[string]string{"b": "1", "a": "2"}
	const due = "runs USING INTEGER PRIMARY KEY (rowid=?)"
	for _, test := range []struct {
		pawl.Query
		uses   string
		sorted bool // what is found is few, and put in order
		words  []string
	}{
		{pawl.Query{}, "runs USING INTEGER PRIMARY KEY (rowid<?)", false, nil},
		{pawl.Query{Run: "x"}, "USING INDEX sqlite_autoindex_runs_1 (id>? AND id<?)", true, nil},
		{pawl.Query{Run: "x", Status: pawl.StatusRunning, Agent: "a", Loop: "l", Thread: "t", Labels: label}, "USING INDEX sqlite_autoindex_runs_1 (id>? AND id<?)", true, nil},
		{pawl.Query{Status: pawl.StatusRunning}, "runs_status (status=? AND rowid<?)", false, nil},
		{pawl.Query{Status: pawl.StatusSuccess}, "runs_status (status=? AND rowid<?)", false, nil},
		{pawl.Query{Status: pawl.StatusWaitingInput, Agent: "a"}, "runs_status (status=? AND rowid<?)", false, nil},
		{pawl.Query{Agent: "a"}, "runs_agent (agent=? AND rowid<?)", false, nil},
		{pawl.Query{Agent: "a", Status: pawl.StatusSuccess, Loop: "l"}, "runs_agent (agent=? AND rowid<?)", false, nil},
		{pawl.Query{Loop: "l"}, "runs_loop (loop=? AND rowid<?)", false, nil},
		{pawl.Query{Thread: "t"}, "runs_thread (thread=? AND rowid<?)", false, nil},
		{pawl.Query{Thread: "t", Agent: "a", Loop: "l", Status: pawl.StatusFailed}, "runs_thread (thread=? AND rowid<?)", false, nil},
		{pawl.Query{Labels: label}, "labels USING PRIMARY KEY (name=? AND value=? AND run<?)", false, nil},
		{pawl.Query{Labels: label, Agent: "a", Status: pawl.StatusFailed}, "labels USING PRIMARY KEY (name=? AND value=? AND run<?)", false, nil},
		{pawl.Query{Due: time.Now()}, due, true, nil},
		{pawl.Query{Due: time.Now(), Run: "x"}, "runs_wake_at (wake_at<?)", true, nil},
		{pawl.Query{Due: time.Now(), Status: pawl.StatusPaused}, due, true, nil},
		{pawl.Query{Due: time.Now(), Status: pawl.StatusWaitingApproval, Agent: "a", Loop: "react", Labels: label}, due, true, nil},
		{pawl.Query{Since: time.Now(), Until: time.Now()}, "runs_created (created>? AND created<?)", true, nil},
		{pawl.Query{Since: time.Now(), Agent: "a"}, "runs_agent (agent=? AND rowid<?)", false, nil},
		{pawl.Query{Run: "x", Agent: "a", Since: time.Now(), Labels: label}, "texts VIRTUAL TABLE INDEX 192:M1<", false, []string{"a", "b"}},
	} {
		sql, args := sqlite.Selection(test.Query, test.words)
		got := plan(t, c, sql, len(args)+1)
		wakes := test.Due.IsZero() || strings.Contains(got, "runs_wake_at (wake_at<?)") && strings.Contains(got, "runs_status (status=?")
		if !wakes || !strings.Contains(got, test.uses) || strings.Contains(strings.ReplaceAll(got, "SCAN texts", ""), "SCAN") || !test.sorted && strings.Contains(got, "TEMP B-TREE") {
			t.Errorf("%+v:\n%s", test.Query, got)
		}
	}
}
