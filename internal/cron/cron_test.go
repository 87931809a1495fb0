package cron

import (
	"archive/zip"
	"os/exec"
	"path/filepath"
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

// In every zone of the database, a time in a gap comes later by its length, and one that comes
// twice comes once.
func TestZones(t *testing.T) {
	root, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		t.Fatal(err)
	}
	names, err := zip.OpenReader(filepath.Join(strings.TrimSpace(string(root)), "lib", "time", "zoneinfo.zip"))
	if err != nil {
		t.Fatal(err)
	}
	defer names.Close()
	last := time.Date(2037, 1, 1, 0, 0, 0, 0, time.UTC)
	gaps, folds := 0, 0
	for _, f := range names.File {
		zone, err := time.LoadLocation(f.Name)
		if err != nil {
			continue // a directory
		}
		for at := time.Date(2026, 1, 1, 0, 0, 0, 0, zone); ; {
			_, change := at.ZoneBounds()
			if change.IsZero() || change.After(last) {
				break
			}
			_, before := change.Add(-time.Second).Zone()
			_, after := change.Zone()
			skipped := time.Duration(after-before) * time.Second
			within := (skipped.Abs() / 2).Truncate(time.Minute)
			clock := change.Add(min(skipped, 0) + within).UTC().Add(time.Duration(before) * time.Second) // as the clock would show
			s, err := Parse(clock.Format("4 15 * * *"), zone)
			if err != nil {
				t.Fatal(err)
			}
			var got []time.Time
			for next := s.Next(change.Add(-4 * time.Hour)); next.Before(change.Add(6 * time.Hour)); next = s.Next(next) {
				got = append(got, next)
			}
			switch first, second := change.Add(min(skipped, 0)+within), change.Add(within); {
			case skipped > 0 && (len(got) != 1 || !got[0].Equal(second)):
				t.Errorf("%s: %s comes at %v, want %v", f.Name, clock.Format("15:04"), got, second.In(zone))
			case skipped < 0 && (len(got) != 1 || !got[0].Equal(first) && !got[0].Equal(second)):
				t.Errorf("%s: %s comes at %v, want one of %v and %v", f.Name, clock.Format("15:04"), got, first.In(zone), second.In(zone))
			}
			if at = change; skipped > 0 {
				gaps++
			} else {
				folds++
			}
		}
	}
	if gaps < 1000 || folds < 1000 {
		t.Errorf("only %d gaps and %d folds were seen", gaps, folds)
	}
}
