package ledger

import (
	"errors"
	"testing"
	"time"
)

func day(n int) time.Time { return time.Date(2026, time.March, n, 0, 0, 0, 0, time.UTC) }

func TestBalance(t *testing.T) {
	var l Ledger
	for _, e := range []Entry{
		{day(1), "bank", "cash", 5_000, "petty cash"},
		{day(2), "cash", "office", 1_250, "paper"},
		{day(3), "cash", "office", 300, "pens"},
	} {
		if err := l.Post(e); err != nil {
			t.Fatal(err)
		}
	}
	for account, want := range map[string]int64{"bank": -5_000, "cash": 3_450, "office": 1_550, "nobody": 0} {
		if got := l.Balance(account); got != want {
			t.Errorf("Balance(%q) = %d, want %d", account, got, want)
		}
	}
}

func TestLimitMayBeUsedUp(t *testing.T) {
	var l Ledger
	l.Limit("cash", 0)
	must(t, l.Post(Entry{day(1), "bank", "cash", 1_000, "petty cash"}))
	if err := l.Post(Entry{day(2), "cash", "office", 1_000, "a chair"}); err != nil {
		t.Errorf("Post of all there is = %v, want nil", err)
	}
}

func TestLimitMayNotBeExceeded(t *testing.T) {
	var l Ledger
	l.Limit("cash", 500)
	if err := l.Post(Entry{day(2), "cash", "office", 501, "a lamp"}); !errors.Is(err, ErrOverdrawn) {
		t.Errorf("Post beyond the limit = %v, want %v", err, ErrOverdrawn)
	}
	if got := l.Balance("cash"); got != 0 {
		t.Errorf("Balance after a refused entry = %d, want 0", got)
	}
}

func TestPostRefusesAmounts(t *testing.T) {
	var l Ledger
	for _, cents := range []int64{0, -1} {
		if err := l.Post(Entry{day(1), "bank", "cash", cents, ""}); err == nil {
			t.Errorf("Post of %d cents = nil, want an error", cents)
		}
	}
}

func TestBetween(t *testing.T) {
	var l Ledger
	for n := 1; n <= 5; n++ {
		must(t, l.Post(Entry{day(n), "bank", "cash", int64(n), ""}))
	}
	got := l.Between(day(2), day(4))
	if len(got) != 3 || got[0].Amount != 2 || got[2].Amount != 4 {
		t.Errorf("Between(2, 4) = %v, want the entries of days 2, 3 and 4", got)
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
