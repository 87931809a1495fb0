package memory

import (
	"context"
	"time"

	"github.com/pawl-run/pawl/internal/journals"
)

// Reserve takes from the buckets of a rate; see engine.Limiter.
func (j *Journal) Reserve(ctx context.Context, name string, requests, tokens, within time.Duration) (time.Duration, error) {
	if err := ctx.Err(); err != nil {
		return 0, err
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	of := j.rates[name]
	wait, taken := of.Take(time.Now(), requests, tokens, within)
	if taken {
		if j.rates == nil {
			j.rates = map[string]journals.Buckets{}
		}
		j.rates[name] = of
	}
	return wait, nil
}
