package cron

import (
	"strings"
	"testing"
	"time"
	_ "time/tzdata"
)

func TestNext(t *testing.T) {
	berlin, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		expression, after string
		zone              *time.Location
		want              string
	}{
		{"0 8 * * 1-5", "2026-11-27T08:00:00Z", time.UTC, "2026-11-30T08:00:00Z"}, // after Friday comes Monday
		{"0 8 * * mon-fri", "2026-11-26T09:00:00Z", berlin, "2026-11-27T07:00:00Z"},
		{"*/15 * * * *", "2026-11-26T09:46:10Z", time.UTC, "2026-11-26T10:00:00Z"},
		{"5,50 3/10 * * *", "2026-11-26T03:05:00Z", time.UTC, "2026-11-26T03:50:00Z"},
		{"0 0 13 * 5", "2026-11-07T00:00:00Z", time.UTC, "2026-11-13T00:00:00Z"},
		{"0 0 13 * fri", "2026-12-12T00:00:00Z", time.UTC, "2026-12-13T00:00:00Z"}, // either day
		{"0 12 * * 7", "2026-11-26T00:00:00Z", time.UTC, "2026-11-29T12:00:00Z"},
		{"0 0 29 2 *", "2026-11-26T00:00:00Z", time.UTC, "2028-02-29T00:00:00Z"},
		{"30 2 * * *", "2026-03-28T12:00:00Z", berlin, "2026-03-29T01:30:00Z"}, // 02:30 is skipped
		{"30 2 * * *", "2026-10-24T12:00:00Z", berlin, "2026-10-25T01:30:00Z"}, // 02:30 comes twice
		{"30 2 * * *", "2026-10-25T01:30:00Z", berlin, "2026-10-26T01:30:00Z"},
		{"@monthly", "2026-11-26T00:00:00Z", time.UTC, "2026-12-01T00:00:00Z"},
	} {
		s, err := Parse(c.expression, c.zone)
		if err != nil {
			t.Errorf("%s: %v", c.expression, err)
			continue
		}
		after, _ := time.Parse(time.RFC3339, c.after)
		if got := s.Next(after).UTC().Format(time.RFC3339); got != c.want {
			t.Errorf("%s after %s is %s, not %s", c.expression, c.after, got, c.want)
		}
	}
}

func TestParseRefuses(t *testing.T) {
	for expression, want := range map[string]string{
		"":             "needs five fields: minute, hour, day of the month, month, day of the week (it has 0)",
		"* * * *":      "day of the week (it has 4)",
		"60 * * * *":   `the minute "60" is not from 0 to 59`,
		"* * * foo *":  `the month "foo" is not from 1 to 12`,
		"* 5-3 * * *":  `the hour "5-3" ends before it begins`,
		"*/0 * * * *":  `the minute "*/0" has no step such as */5`,
		"0 0 31 2 *":   "names no day that exists",
		"1--2 * * * *": `the minute "-2" is not from 0 to 59`,
	} {
		if _, err := Parse(expression, time.UTC); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, not %q", expression, err, want)
		}
	}
}
