package ledger

import (
	"fmt"
	"strings"
)

// Format writes cents as an amount with two decimals and thousands apart, such
// as 1,234.50.
func Format(cents int64) string {
	sign := ""
	if cents < 0 {
		sign, cents = "-", -cents
	}
	whole := fmt.Sprint(cents / 100)
	for i := len(whole) - 3; i > 0; i -= 4 {
		whole = whole[:i] + "," + whole[i:]
	}
	return fmt.Sprintf("%s%s.%02d", sign, whole, cents%100)
}

// Statement lists what happened to an account, one line for each entry, and
// what it holds in the end.
func (l *Ledger) Statement(account string) string {
	var b strings.Builder
	for _, e := range l.entries {
		switch account {
		case e.To:
			fmt.Fprintf(&b, "%s %12s %s\n", e.Date.Format("2006-01-02"), "+"+Format(e.Amount), e.Memo)
		case e.From:
			fmt.Fprintf(&b, "%s %12s %s\n", e.Date.Format("2006-01-02"), Format(-e.Amount), e.Memo)
		}
	}
	fmt.Fprintf(&b, "balance    %12s\n", Format(l.Balance(account)))
	return b.String()
}
