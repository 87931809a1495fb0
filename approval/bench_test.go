package approval_test

import (
	"testing"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/approval"
)

// BenchmarkReview asks rules about a batch of ten calls, which is what the
// machine does twice when it acts, and once when no rule applies.
func BenchmarkReview(b *testing.B) {
	tools := []string{"search read", "submit_po", "delete_file", "put idempotent"}
	var calls []string
	for range 5 {
		calls = append(calls, `search {"q":"cloud","page":3}`, `submit_po {"vendor":"acme","amount":50,"lines":[{"sku":"a","n":2}]}`)
	}
	s, act := batch(b, agent(tools...), calls...)
	for name, rules := range map[string][]pawl.Policy{
		"name":      {approval.For("delete_*")},
		"effect":    {approval.ForEffect(pawl.Idempotent)},
		"predicate": {approval.When("submit_po", "args.amount > 100")},
		"asks":      {approval.For("submit_*")},
		"four":      {approval.For("delete_*"), approval.ForEffect(pawl.Idempotent), approval.When("submit_po", "args.amount > 100"), approval.Never("shell_*")},
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				var step pawl.Step = act
				for _, r := range rules {
					step = r.Review(s, step)
				}
				if len(step.(pawl.Act).Calls) != len(calls) {
					b.Fatal("calls are lost")
				}
			}
		})
	}
}
