//go:build unix

package postgres_test

import (
	"strings"
	"testing"
	"time"

	"github.com/pawl-run/pawl/internal/retry"
	"github.com/pawl-run/pawl/journal/postgres"
)

// A check finds what there is, and changes nothing.
func TestCheck(t *testing.T) {
	s, schema := started(t), schema()
	check := func(url string) postgres.Health {
		t.Helper()
		h, err := postgres.Check(t.Context(), url, &postgres.Options{Schema: schema})
		must(t, err)
		return h
	}
	h := check(s.url())
	if h.Schema != 0 || h.Missing != "" || h.ReadOnly || h.Most == 0 || h.Used == 0 || h.Server == "" || !h.Unarchived {
		t.Errorf("before there are tables: %+v", h)
	}
	if h.Trip <= 0 || h.Ahead > time.Second || h.Ahead < -time.Second {
		t.Errorf("the clock of the same machine is %v ahead", h.Ahead)
	}
	raw(t, `DO $$ BEGIN ASSERT to_regnamespace('`+schema+`') IS NULL, 'it made a schema'; END $$`)
	openAt(t, s.url(), schema)
	if h := check(s.url()); h.Schema == 0 {
		t.Errorf("with tables: %+v", h)
	}
	raw(t, `CREATE ROLE `+schema+` LOGIN; GRANT USAGE ON SCHEMA `+schema+` TO `+schema+`; GRANT SELECT, INSERT, UPDATE ON ALL TABLES IN SCHEMA `+schema+` TO `+schema)
	other := strings.Replace(s.url(), "postgres@", schema+"@", 1)
	if h := check(other); h.Missing != "DELETE ON "+schema+".batches" && h.Missing != "DELETE ON batches" {
		t.Errorf("a user who may not delete: %+v", h)
	}
	if h := check(s.url() + "&default_transaction_read_only=on"); !h.ReadOnly {
		t.Errorf("read-only: %+v", h)
	}
	if _, err := postgres.Check(t.Context(), "postgres://postgres@127.0.0.1:1/x?sslmode=disable", nil); !retry.Temporary(err) || !strings.Contains(err.Error(), "127.0.0.1:1/x") {
		t.Errorf("no server: %v", err)
	}
	raw(t, `UPDATE `+schema+`.version SET version = 99`)
	if _, err := postgres.Check(t.Context(), s.url(), &postgres.Options{Schema: schema}); err == nil || !strings.Contains(err.Error(), "the schema 99") {
		t.Errorf("other tables: %v", err)
	}
}
