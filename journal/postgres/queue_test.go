//go:build unix

package postgres_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/engine"
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

// What a worker asks once a second reads indexes only, however many runs there are.
func TestQueuePlans(t *testing.T) {
	schema := schema()
	crowded(t, schema, 100_000, 1000)
	c, err := pgx.Connect(t.Context(), started(t).url())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close(context.Background())
	if _, err := c.Exec(t.Context(), `SET search_path = `+schema); err != nil {
		t.Fatal(err)
	}
	for name, q := range map[string]struct {
		sql   string
		args  []any
		index string
	}{
		"take":        {postgres.TakeSQL, []any{[][]byte{[]byte("a")}, 25, []byte("w"), time.Minute, []byte("m"), nil, nil}, "runs_queue"},
		"take capped": {postgres.TakeCappedSQL, []any{[][]byte{[]byte("a")}, 25, []byte("w"), time.Minute, []byte("m"), nil, nil, []string{""}, 5}, "runs_queue"},
		"lost":        {`SELECT ref FROM runs WHERE status = 'running' AND (until IS NULL OR until <= clock_timestamp())`, nil, "runs_status"},
		"due":         {`SELECT ref FROM runs WHERE wake_at <= now()`, nil, "runs_wake_at"},
		"owned":       {`SELECT ref FROM runs WHERE owner <> '' AND until > clock_timestamp()`, nil, "runs_owned"},
	} {
		rows, err := c.Query(t.Context(), `EXPLAIN (COSTS off) `+q.sql, q.args...)
		if err != nil {
			t.Fatal(name, err)
		}
		lines, err := pgx.CollectRows(rows, pgx.RowTo[string])
		if err != nil {
			t.Fatal(name, err)
		}
		plan := strings.Join(lines, "\n")
		if !strings.Contains(plan, q.index) || strings.Contains(plan, "Seq Scan on runs") {
			t.Errorf("%s does not go by %s:\n%s", name, q.index, plan)
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

// BenchmarkTurns has four workers take the runs of a tenant, 25 at a time. After 1,000 of
// its 9,900 another tenant queues 100 runs. It reports how many runs are taken from then
// on until the last of the 100 is.
func BenchmarkTurns(b *testing.B) {
	const late = 100
	agent := pawl.Agent{Name: "a", Model: pawl.ModelFunc(func(context.Context, pawl.Request) (pawl.Reply, error) { return pawl.Say("done"), nil })}
	var last, rounds int64
	for b.Loop() {
		b.StopTimer()
		schema := schema()
		first := crowded(b, schema, 0, 9_900)
		take := func(j *postgres.Journal, most int) []pawl.Head {
			heads, err := j.Take(context.Background(), pawl.Take{Owner: "w", TTL: time.Hour, Max: most, Agents: []string{"a"}})
			if err != nil {
				b.Error(err)
			}
			return heads
		}
		if n := len(take(first, 1000)); n != 1000 {
			b.Fatalf("%d runs were taken", n)
		}
		for range late {
			if _, err := engine.New(first, nil).Queue(b.Context(), agent, "go", &engine.StartOptions{Labels: map[string]string{"tenant": "late"}}); err != nil {
				b.Fatal(err)
			}
		}
		var workers [4]*postgres.Journal
		for i := range workers {
			workers[i] = openAt(b, started(b).url(), schema)
		}
		b.StartTimer()
		var mu sync.Mutex
		taken, found := 0, 0
		var all sync.WaitGroup
		for _, j := range workers {
			all.Go(func() {
				for more := true; more; {
					heads := take(j, 25)
					mu.Lock()
					for _, h := range heads {
						if taken++; h.Labels["tenant"] == "late" {
							if found++; found == late {
								last += int64(taken)
							}
						}
					}
					more = found < late && len(heads) > 0
					mu.Unlock()
				}
			})
		}
		all.Wait()
		if rounds++; found != late {
			b.Fatalf("of %d runs %d were taken", late, found)
		}
	}
	b.ReportMetric(float64(last)/float64(rounds), "taken")
}
