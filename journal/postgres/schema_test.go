//go:build unix

package postgres_test

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/journal/postgres"
)

func TestRefused(t *testing.T) {
	s := started(t)
	for name, c := range map[string]struct{ sql, says string }{
		"newer":   {`CREATE TABLE %[1]s.version (version int); INSERT INTO %[1]s.version VALUES (99)`, "has the schema 99, and this pawl reads only 2; use the pawl that wrote it"},
		"foreign": {`CREATE TABLE %[1]s.users (x int)`, "another program"},
		"odd":     {`CREATE TABLE %[1]s.version (version int)`, "says nothing that pawl wrote"},
	} {
		t.Run(name, func(t *testing.T) {
			schema := schema()
			raw(t, `CREATE SCHEMA `+schema+`; `+fmt.Sprintf(c.sql, schema))
			j, err := postgres.Open(t.Context(), s.url(), &postgres.Options{Schema: schema})
			if err == nil {
				_ = j.Close()
				t.Fatal("it was opened")
			}
			if !strings.Contains(err.Error(), c.says) || !strings.Contains(err.Error(), "127.0.0.1") {
				t.Error(err)
			}
			raw(t, `DO $$ BEGIN ASSERT (SELECT count(*) FROM pg_class WHERE relnamespace = '`+schema+`'::regnamespace) = 1, 'it was changed'; END $$`)
		})
	}
	for _, name := range []string{"Upper", "a b", `a"b`, "1a", strings.Repeat("x", 41)} {
		if _, err := postgres.Open(t.Context(), s.url(), &postgres.Options{Schema: name}); err == nil || !strings.Contains(err.Error(), "schema") {
			t.Errorf("the schema %q: %v", name, err)
		}
	}
}

// TestSecrets checks that no error says the password.
func TestSecrets(t *testing.T) {
	s := started(t)
	u, err := url.Parse(s.url())
	must(t, err)
	u.User = url.UserPassword("postgres", "hunter2")
	for _, bad := range []string{
		strings.Replace(u.String(), "/postgres?", "/nowhere?", 1),
		strings.Replace(u.String(), fmt.Sprint(":", s.port), ":1", 1),
		u.String() + "&sslmode=odd",
		"postgres://postgres:hunter2@127.0.0.1:port/x",
		"postgres://postgres:hunter2@%zz/x",
	} {
		begun := time.Now()
		_, err := postgres.Open(t.Context(), bad, nil)
		if err == nil || strings.Contains(err.Error(), "hunter2") || !strings.Contains(err.Error(), "journal") {
			t.Errorf("%s: %v", bad, err)
		}
		if time.Since(begun) > 10*time.Second {
			t.Error("it was tried again and again")
		}
	}
}

// TestOpenAtOnce opens a database that is not there yet from many sides.
func TestOpenAtOnce(t *testing.T) {
	s, schema := started(t), schema()
	var all sync.WaitGroup
	errs := make([]error, 8)
	for i := range errs {
		all.Go(func() {
			j, err := postgres.Open(context.Background(), s.url(), &postgres.Options{Schema: schema})
			if err == nil {
				_, err = j.Claim(context.Background(), pawl.Claim{Run: string(rune('a' + i)), TTL: time.Minute, New: true})
				err = errors.Join(err, j.Close())
			}
			errs[i] = err
		})
	}
	all.Wait()
	must(t, errors.Join(errs...))
	n := 0
	for _, err := range openAt(t, s.url(), schema).List(t.Context(), pawl.Query{}) {
		if n++; err != nil {
			t.Fatal(err)
		}
	}
	if n != len(errs) {
		t.Errorf("%d runs are there, not %d", n, len(errs))
	}
}

// TestReader opens a journal as somebody who may only read: that works, and
// what writes says why not.
func TestReader(t *testing.T) {
	j, schema := prepared(t)
	raw(t, `DO $$ BEGIN IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = 'reader') THEN CREATE ROLE reader LOGIN; END IF; END $$;
		GRANT USAGE ON SCHEMA `+schema+` TO reader; GRANT SELECT ON ALL TABLES IN SCHEMA `+schema+` TO reader`)
	want := strings.Join(logOf(t, j, "r"), " ")
	r := openAt(t, strings.Replace(started(t).url(), "postgres@", "reader@", 1), schema)
	if got := strings.Join(logOf(t, r, "r"), " "); got != want {
		t.Errorf("the log is %q, not %q", got, want)
	}
	err := r.Append(t.Context(), pawl.Batch{Run: "r", Epoch: 1, After: 1, Records: [][]byte{[]byte("x")}})
	if err == nil || !strings.Contains(err.Error(), "permission denied") {
		t.Error(err)
	}
}

// TestSettings checks that a connection does not take the server's carelessness
// over, but does take an administrator's care.
func TestSettings(t *testing.T) {
	s, schema := started(t), schema()
	for url, want := range map[string]string{
		s.url(): "on read committed",
		s.url() + "&synchronous_commit=remote_apply": "remote_apply read committed",
	} {
		c, err := openAt(t, url, schema).Conn(t.Context())
		must(t, err)
		var got string
		err = c.QueryRow(t.Context(), `SELECT current_setting('synchronous_commit') || ' ' || current_setting('transaction_isolation')`).Scan(&got)
		c.Release()
		if err != nil || got != want {
			t.Errorf("%q, not %q: %v", got, want, err)
		}
	}
}

func TestDamage(t *testing.T) {
	for name, c := range map[string]struct{ sql, says string }{
		"a byte":         {`UPDATE %s.batches SET data = set_byte(data, 3, 0) WHERE seq = 20`, "at entry 19: it does not match its digest"},
		"a size":         {`UPDATE %s.batches SET sizes = set_byte(sizes, 0, 3) WHERE seq = 20`, "at entry 19: it"},
		"a row":          {`UPDATE %s.batches SET data = (SELECT data FROM %[1]s.batches WHERE seq = 18) WHERE seq = 20`, "at entry 19: it"},
		"a digest":       {`UPDATE %s.batches SET digests = set_byte(digests, 60, 0) WHERE seq = 20`, "at entry 20: it"},
		"a hole":         {`DELETE FROM %s.batches WHERE seq = 20`, "entry 18 is followed by 21"},
		"the beginning":  {`DELETE FROM %s.batches WHERE seq <= 10`, "entry 0 is followed by 11"},
		"the end":        {`DELETE FROM %s.batches WHERE seq > 30`, "it ends at 30, but should at 40"},
		"everything":     {`DELETE FROM %s.batches`, "it ends at 0, but should at 40"},
		"a blob":         {`UPDATE %s.blobs SET data = 'blog'`, "is damaged"},
		"a label":        {`UPDATE %s.runs SET labels = '[1]' WHERE id = 'r'`, "labels"},
		"a status":       {`UPDATE %s.runs SET status = 'odd' WHERE id = 'r'`, "odd"},
		"nothing at all": {`SELECT '%s'`, ""},
	} {
		t.Run(name, func(t *testing.T) {
			j, schema := prepared(t)
			for after := uint64(1); after < 40; after += 2 {
				b := pawl.Batch{Run: "r", Epoch: 1, After: after, Head: pawl.Head{Labels: map[string]string{"a": "b"}}}
				b.Records = [][]byte{fmt.Appendf(nil, "record %d", after+1), fmt.Appendf(nil, "record %d", after+2)}
				if after == 39 {
					b.Records = b.Records[:1]
				}
				if after == 1 {
					b.Records = b.Records[:1]
					after--
				}
				must(t, j.Append(t.Context(), b))
			}
			must(t, j.PutBlob(t.Context(), digest("blob"), []byte("blob")))
			raw(t, fmt.Sprintf(c.sql, schema))
			var errs []error
			n := 0
			for r, err := range j.Read(t.Context(), "r", 0) {
				if n++; err == nil && r.Seq != uint64(n) {
					t.Errorf("record %d is handed out as number %d", r.Seq, n)
				}
				errs = append(errs, err)
			}
			for _, err := range j.List(t.Context(), pawl.Query{}) {
				errs = append(errs, err)
			}
			_, err := j.Blob(t.Context(), digest("blob"))
			err = errors.Join(append(errs, err)...)
			switch {
			case c.says == "" && err != nil:
				t.Error(err)
			case c.says != "" && (err == nil || !strings.Contains(err.Error(), c.says) || !strings.Contains(err.Error(), "127.0.0.1")):
				t.Errorf("the error is %v", err)
			}
		})
	}
}

// TestIndexes checks that lists do not look through all runs.
func TestIndexes(t *testing.T) {
	_, schema := prepared(t)
	raw(t, `INSERT INTO `+schema+`.runs (id, owner, epoch, claim, status, loop, thread, marks, wake_at)
		SELECT n::text::bytea, '', 1, '', CASE WHEN n % 1000 = 0 THEN 'waiting_input' ELSE 'success' END,
			CASE WHEN n % 1000 = 0 THEN 'graph' ELSE 'react' END::bytea, CASE WHEN n % 3 = 0 THEN (n % 50)::text ELSE '' END::bytea,
			ARRAY[substring(sha256(('\x056167656e7401' || encode((n % 10)::text::bytea, 'hex'))::bytea) for 16)], CASE WHEN n % 1000 = 0 THEN now() END
		FROM generate_series(1, 20000) AS n; ANALYZE `+schema+`.runs`)
	j := openAt(t, started(t).url(), schema)
	for name, q := range map[string]pawl.Query{
		"runs_id_key":  {Run: "123"},
		"runs_status":  {Status: pawl.StatusWaitingInput},
		"runs_marks":   {Agent: "7", Labels: map[string]string{"a": "b"}},
		"runs_loop":    {Loop: "graph"},
		"runs_thread":  {Thread: "7"},
		"runs_wake_at": {Due: time.Now().Add(time.Hour)},
		"runs_pkey":    {Max: 10},
	} {
		c, err := j.Conn(t.Context())
		must(t, err)
		sql, args := postgres.Selection(q)
		rows, err := c.Query(t.Context(), `EXPLAIN `+sql, args...)
		must(t, err)
		text := ""
		for rows.Next() {
			var line string
			must(t, rows.Scan(&line))
			text += line + "\n"
		}
		err = rows.Err()
		c.Release()
		if err != nil || !strings.Contains(text, name) || strings.Contains(text, "Seq Scan") || !q.Due.IsZero() && !strings.Contains(text, "runs_status") {
			t.Errorf("%+v does not use %s: %v\n%s", q, name, err, text)
		}
	}
}
