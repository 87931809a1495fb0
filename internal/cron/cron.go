// Package cron reads cron expressions.
package cron

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// A Schedule is the times of a cron expression: minute, hour, day of the month, month, day of
// the week. Where both days are restricted, either of them suffices, as crontab(5) has it.
type Schedule struct {
	minute, hour, day, month, weekday uint64 // a bit for each value
	either                            bool   // both days are restricted
	zone                              *time.Location
}

var fields = []struct {
	name       string
	least, top int
	names      string
}{
	{"minute", 0, 59, ""},
	{"hour", 0, 23, ""},
	{"day of the month", 1, 31, ""},
	{"month", 1, 12, "jan feb mar apr may jun jul aug sep oct nov dec"},
	{"day of the week", 0, 7, "sun mon tue wed thu fri sat"},
}

var short = map[string]string{
	"@hourly": "0 * * * *", "@daily": "0 0 * * *", "@weekly": "0 0 * * 0", "@monthly": "0 0 1 * *", "@yearly": "0 0 1 1 *",
}

// Parse reads an expression, or one of @hourly, @daily, @weekly, @monthly and @yearly. Its
// times are those of a clock in the zone.
func Parse(expression string, zone *time.Location) (*Schedule, error) {
	text := expression
	if long, ok := short[strings.ToLower(expression)]; ok {
		text = long
	}
	parts := strings.Fields(text)
	if len(parts) != len(fields) {
		return nil, fmt.Errorf("%q needs five fields: minute, hour, day of the month, month, day of the week (it has %d)", expression, len(parts))
	}
	s := &Schedule{zone: zone, either: parts[2][0] != '*' && parts[4][0] != '*'}
	for i, to := range []*uint64{&s.minute, &s.hour, &s.day, &s.month, &s.weekday} {
		for item := range strings.SplitSeq(parts[i], ",") {
			set, err := read(i, item)
			if err != nil {
				return nil, fmt.Errorf("%q: %w", expression, err)
			}
			*to |= set
		}
	}
	s.weekday |= s.weekday >> 7 & 1 // 7 is Sunday, too
	if s.Next(time.Now()).IsZero() {
		return nil, fmt.Errorf("%q names no day that exists", expression)
	}
	return s, nil
}

// read reads one item of a field: *, 5, 1-5, or one of them with /2.
func read(i int, item string) (set uint64, err error) {
	f := fields[i]
	span, by, stepped := strings.Cut(item, "/")
	from, to, ranged := strings.Cut(span, "-")
	low, high, step := f.least, f.top, 1
	if span != "*" {
		if low, err = value(i, from); err != nil {
			return 0, err
		}
		if high = low; ranged {
			if high, err = value(i, to); err != nil {
				return 0, err
			}
		} else if stepped {
			high = f.top
		}
	}
	if stepped {
		if step, err = strconv.Atoi(by); err != nil || step < 1 {
			return 0, fmt.Errorf("the %s %q has no step such as */5", f.name, item)
		}
	}
	if low > high {
		return 0, fmt.Errorf("the %s %q ends before it begins", f.name, item)
	}
	for n := low; n <= high; n += step {
		set |= 1 << n
	}
	return set, nil
}

func value(i int, text string) (int, error) {
	f := fields[i]
	for n, name := range strings.Fields(f.names) {
		if strings.EqualFold(name, text) {
			return n + f.least, nil
		}
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < f.least || n > f.top {
		return 0, fmt.Errorf("the %s %q is not from %d to %d", f.name, text, f.least, f.top)
	}
	return n, nil
}

func has(set uint64, n int) bool { return set>>n&1 == 1 }

// Next is the first time after t; zero: there is none. A time that the clock skips in spring
// comes later by as much as it skips, and one that it has twice in autumn comes once.
func (s *Schedule) Next(t time.Time) (next time.Time) {
	const longest = 366 * 9 // days between two 29ths of February
	y, m, d := t.In(s.zone).Date()
	for i := -1; i < longest; i++ { // a time that is skipped may fall on the day after its own
		found := !next.IsZero()
		day := time.Date(y, m, d+i, 12, 0, 0, 0, s.zone) // at noon, which every day has
		onDay, onWeekday := has(s.day, day.Day()), has(s.weekday, int(day.Weekday()))
		if has(s.month, int(day.Month())) && (onDay && onWeekday || s.either && (onDay || onWeekday)) {
			next = s.earliest(day, t, next)
		}
		if found {
			return next
		}
	}
	return next
}

// earliest is the first time after t on a day, or next if that is earlier and not zero.
func (s *Schedule) earliest(day, t, next time.Time) time.Time {
	for hour := range 24 {
		for minute := range 60 {
			if !has(s.hour, hour) || !has(s.minute, minute) {
				continue
			}
			at := s.at(day, hour, minute)
			if at.After(t) && (next.IsZero() || at.Before(next)) {
				next = at
			}
		}
	}
	return next
}

// at is a time of a day. For one that is skipped, [time.Date] uses the offset from before or from
// after the change; this is the time by the one from before.
func (s *Schedule) at(day time.Time, hour, minute int) time.Time {
	wall := func(zone *time.Location, hour, minute int, day time.Time) time.Time {
		return time.Date(day.Year(), day.Month(), day.Day(), hour, minute, 0, 0, zone)
	}
	at := wall(s.zone, hour, minute, day)
	early := wall(time.UTC, hour, minute, day).Sub(wall(time.UTC, at.Hour(), at.Minute(), at))
	return at.Add(max(0, early))
}
