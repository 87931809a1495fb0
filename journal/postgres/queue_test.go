//go:build unix

package postgres_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/journal/postgres"
)

// crowded fills a database with runs that have ended, and with queued ones of an agent.
func crowded(tb testing.TB, schema string, ended, queued int) *postgres.Journal {
	tb.Helper()
	j := openAt(tb, started(tb).url(), schema)
	raw(tb, fmt.Sprintf(`SET search_path = %s;
		INSERT INTO runs (id, owner, epoch, claim, status, agent, created) SELECT convert_to('e' || n, 'UTF8'), '', 1, '', 'success', 'a', now() FROM generate_series(1, %d) n;
		INSERT INTO runs (id, owner, epoch, claim, status, agent, created, rank, turn, lane) SELECT convert_to('q' || n, 'UTF8'), '', 1, '', 'queued', 'a', now(), 0, n, '' FROM generate_series(1, %d) n;
		ANALYZE runs`, schema, ended, queued))
	return j
}

// A node is a step of a plan that was performed.
type node struct {
	Type     string  `json:"Node Type"`
	Relation string  `json:"Relation Name"`
	Index    string  `json:"Index Name"`
	Rows     float64 `json:"Actual Rows"`
	Loops    float64 `json:"Actual Loops"`
	Removed  float64 `json:"Rows Removed by Filter"`
	Plans    []node  `json:"Plans"`
}

// walk calls f for a node and all below it.
func (n *node) walk(f func(*node)) {
	f(n)
	for i := range n.Plans {
		n.Plans[i].walk(f)
	}
}

// What workers ask all the time reads indexes only, and no more runs than are queued, due or
// driven, however many there are.
func TestQueuePlans(t *testing.T) {
	schema := schema()
	j := crowded(t, schema, 100_000, 1000)
	raw(t, fmt.Sprintf(`SET search_path = %s;
		INSERT INTO runs (id, owner, epoch, claim, status, agent, created) SELECT convert_to('w' || n, 'UTF8'), '', 1, '', 'waiting_approval', 'a', now() FROM generate_series(1, 1000) n;
		INSERT INTO runs (id, owner, epoch, claim, status, agent, created, until) SELECT convert_to('r' || n, 'UTF8'), 'o', 1, '', 'running', 'a', now(), now() + interval '1 hour' FROM generate_series(1, 300) n;
		ANALYZE runs`, schema))
	due, dueArgs := postgres.Selection(pawl.Query{Due: time.Now()})
	running, runningArgs := postgres.Selection(pawl.Query{Status: pawl.StatusRunning, Max: 256})
	taking := []any{[][]byte{[]byte("a")}, 25, []byte("w"), time.Minute, []byte("m"), [][]byte(nil), [][]byte(nil)}
	for name, q := range map[string]struct {
		sql   string
		args  []any
		index string
		most  float64 // runs that are looked at
	}{
		"take":        {postgres.TakeSQL, taking, "runs_queue", 80},
		"take capped": {postgres.TakeCappedSQL, append(taking, []string{""}, 500), "runs_queue", 500},
		"taken":       {postgres.TakenSQL, nil, "runs_owned", 500},
		"due":         {due, dueArgs, "runs_wake_at", 310},
		"running":     {running, runningArgs, "runs_status", 310},
	} {
		c, err := j.Conn(t.Context())
		must(t, err)
		rows, err := c.Query(t.Context(), `EXPLAIN (ANALYZE, TIMING off, FORMAT JSON) `+q.sql, q.args...)
		if err != nil {
			t.Fatal(name, err)
		}
		var text string
		for rows.Next() {
			if err := rows.Scan(&text); err != nil {
				t.Fatal(name, err)
			}
		}
		err = rows.Err()
		c.Release()
		var plans []struct{ Plan node }
		if err := errors.Join(err, json.Unmarshal([]byte(text), &plans)); err != nil {
			t.Fatal(name, err)
		}
		read, indexes := 0.0, ""
		plans[0].Plan.walk(func(n *node) {
			indexes += n.Index + " "
			if n.Relation == "runs" && strings.HasSuffix(n.Type, "Scan") {
				read += (n.Rows + n.Removed) * n.Loops
			}
			if n.Type == "Seq Scan" && n.Relation != "turns" {
				t.Errorf("%s reads all of %s", name, n.Relation)
			}
		})
		t.Logf("%s reads %g runs by %s", name, read, indexes)
		if read > q.most || !strings.Contains(indexes, q.index) {
			t.Errorf("%s reads %g runs by %s: %s", name, read, indexes, text)
		}
	}
}

// BenchmarkTake has four workers take 10,000 queued runs, 25 at a time.
func BenchmarkTake(b *testing.B) {
	for b.Loop() {
		b.StopTimer()
		schema := schema()
		crowded(b, schema, 0, 10_000)
		var workers [4]*postgres.Journal
		for i := range workers {
			workers[i] = openAt(b, started(b).url(), schema)
		}
		b.StartTimer()
		var all sync.WaitGroup
		for _, j := range workers {
			all.Go(func() {
				for misses := 0; misses < 3; {
					heads, err := j.Take(context.Background(), pawl.Take{Owner: "w", TTL: time.Hour, Max: 25, Agents: []string{"a"}})
					if err != nil {
						b.Error(err)
						return
					}
					if len(heads) == 0 {
						misses++
					}
				}
			})
		}
		all.Wait()
	}
	b.ReportMetric(10_000*float64(b.N)/b.Elapsed().Seconds(), "claims/s")
}
