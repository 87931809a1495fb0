package ledger

import "testing"

func TestFormat(t *testing.T) {
	for cents, want := range map[int64]string{0: "0.00", 5: "0.05", -250: "-2.50", 99_999: "999.99", 100_000: "1,000.00"} {
		if got := Format(cents); got != want {
			t.Errorf("Format(%d) = %q, want %q", cents, got, want)
		}
	}
}

func TestFormatMillions(t *testing.T) {
	if got, want := Format(123_456_789_00), "123,456,789.00"; got != want {
		t.Errorf("Format = %q, want %q", got, want)
	}
}

func TestStatement(t *testing.T) {
	var l Ledger
	must(t, l.Post(Entry{day(1), "bank", "cash", 500_000, "opening"}))
	must(t, l.Post(Entry{day(9), "cash", "office", 99_50, "paper"}))
	want := `2026-03-01    +5,000.00 opening
2026-03-09       -99.50 paper
balance        4,900.50
`
	if got := l.Statement("cash"); got != want {
		t.Errorf("Statement:\n%s\nwant:\n%s", got, want)
	}
}
