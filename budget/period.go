package budget

import (
	"time"

	"github.com/pawl-run/pawl/internal/naming"
)

// Period is how long a budget lasts before it begins again, in UTC.
type Period int

// The periods.
const (
	Hour Period = 1 + iota
	Day
	Month
	Total // for ever
)

var periods = naming.NewEnum[Period]("period", []string{"hour", "day", "month", "total"})

// String returns the name of the period.
func (p Period) String() string { return periods.String(p) }

// MarshalText returns the name of the period.
func (p Period) MarshalText() ([]byte, error) { return periods.Marshal(p) }

// UnmarshalText reads the name of a period.
func (p *Period) UnmarshalText(b []byte) error { return periods.Unmarshal(p, b) }

// phrase is "per day", or "in total".
func (p Period) phrase() string {
	if p == Total {
		return "in total"
	}
	return "per " + p.String()
}

// Start is the beginning of the period that a time is in; zero: it has none.
func (p Period) Start(t time.Time) time.Time {
	t = t.UTC()
	switch p {
	case Hour:
		return t.Truncate(time.Hour)
	case Day:
		return time.Date(t.Year(), t.Month(), t.Day(), 0, 0, 0, 0, time.UTC)
	case Month:
		return time.Date(t.Year(), t.Month(), 1, 0, 0, 0, 0, time.UTC)
	}
	return time.Time{}
}

// End is the end of the period that begins at start; zero: it has none.
func (p Period) End(start time.Time) time.Time {
	switch p {
	case Hour:
		return start.Add(time.Hour)
	case Day:
		return start.AddDate(0, 0, 1)
	case Month:
		return start.AddDate(0, 1, 0)
	}
	return time.Time{}
}

// layout is how the beginning of a period is written in the name of an account; empty: it
// is not.
func (p Period) layout() string {
	return map[Period]string{Hour: "2006-01-02T15", Day: "2006-01-02", Month: "2006-01"}[p]
}
