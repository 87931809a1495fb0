package pawl

import "github.com/pawl-run/pawl/internal/meter"

// spending is what the run has used. Decide reads it before each model call and child run,
// conditions on cost and tokens before each step. Every event that costs something is taken in by
// book; what is reserved for a call in flight stands in its [ModelCalled].
type spending struct {
	usage      Usage
	cost       float64 // dollars
	priced     bool    // every model that was called has a price
	modelCalls int     // that reached a provider
}

// book adds a model call's cost, never less than nothing: a provider's figures
// are taken with care.
func (s *State) book(u Usage, dollars float64) {
	s.usage = s.usage.Add(u.sane())
	if dollars > 0 { // which no NaN is
		s.cost += min(dollars, 1e12)
	}
}

// Usage is the tokens that model calls have used. Lost and failed attempts
// count with their cost or, when that is unknown, with their reservation.
func (s *State) Usage() Usage { return s.usage }

// Tokens is what the token limit counts.
func (s *State) Tokens() int { return s.usage.Total() }

// Cost is the dollars spent, and whether the model has a price.
func (s *State) Cost() (dollars float64, known bool) { return meter.Dollars(s.cost), s.priced }

func (s *State) costLimit() string { return Decimal(s.limits.Cost).String() }

// ModelCalls counts the attempts that reached the provider.
func (s *State) ModelCalls() int { return s.modelCalls }
