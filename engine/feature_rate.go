package engine

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"time"

	"github.com/pawl-run/pawl"
)

// A Rate is the most that may be asked of a provider in a minute. Zero: any number.
type Rate struct {
	Requests int `json:"requests,omitempty" such:"50" usual:"no limit" about:"model calls"`
	Tokens   int `json:"tokens,omitempty" such:"30000" usual:"no limit" about:"input and output tokens"`
}

// A Limiter is a journal in which all programs that share it share the rates of providers.
// The journals of this module are Limiters.
//
// A name has two buckets, for requests and for tokens. A bucket holds what its rate allows
// in a minute, and fills evenly. Amounts are times: a call takes the time in which a bucket
// fills with what the call needs, so that journals know no rates.
type Limiter interface {
	// Reserve takes from both buckets of a name. It returns how long the caller must wait
	// before it uses that: until the buckets have filled enough, for it and for all that
	// took from them before. If that is longer than within, it takes nothing. A bucket
	// gives more than it holds to a caller that waits until it is full. Negative amounts
	// are given back. If machines may differ, the store's clock counts.
	Reserve(ctx context.Context, name string, requests, tokens, within time.Duration) (wait time.Duration, err error)
}

// shortWait is the longest that calls to a provider may wait for its rate while runs are
// begun that somebody can begin later.
const shortWait = 5 * time.Second

// anyTime is within which what was used must be taken.
const anyTime = 365 * 24 * time.Hour

// fills is the time in which a bucket of a rate fills with an amount.
func fills(amount, rate int) time.Duration {
	if rate == 0 {
		return 0
	}
	return time.Duration(min(float64(amount)/float64(rate)*float64(time.Minute), float64(anyTime)))
}

// provider is the first part of a model's name.
func provider(m pawl.ModelInfo) string {
	name, _, _ := strings.Cut(m.Name, "/")
	return name
}

// A turn is what the next model call of a run has reserved of the rate of a provider.
type turn struct {
	provider string // empty: nothing is reserved
	tokens   int
	asked    time.Time // zero: it need not wait
	at       time.Time // when the call may be made
}

// rates make the model calls of a run wait for the rates of their providers, and for endpoints that
// refuse calls.
type rates struct {
	rec  *recorder
	turn turn // of the next call
}

func (r *rates) admit(c *intent, now time.Time) (wait time.Duration, err error) {
	if wait = held(r.rec, c.info.Endpoint, now); wait <= 0 {
		wait, err = r.await(c, now)
	}
	if err == nil && wait <= 0 {
		c.called.Waited = max(c.called.Waited, waitedSince(r.turn.asked, r.rec.state.Time(), now))
	}
	return wait, err
}

// await returns how long a model call waits for the rate of its provider. It has a turn
// then, unless that is longer than maxHeld.
func (r *rates) await(c *intent, now time.Time) (time.Duration, error) {
	h := r.rec.host
	if len(h.opt.Rates) == 0 {
		return 0, nil
	}
	name := provider(c.info)
	rate, limited := h.opt.Rates[name]
	if r.turn.provider != name {
		r.leave()
	}
	if limited && r.turn.provider == "" {
		tokens := c.think.Estimate + c.think.Hosted.Input + c.think.MaxTokens
		wait, err := h.limiter.Reserve(r.rec.base, name, fills(1, rate.Requests), fills(tokens, rate.Tokens), maxHeld)
		if until := time.Now().Add(wait); err == nil && wait > maxHeld {
			c.later = &pawl.RunPaused{Status: pawl.StatusPaused, WakeAt: until, Rate: name,
				Reason: fmt.Sprintf("the rate of %s is used up; the next call is possible at about %s", name, until.UTC().Format(time.RFC3339))}
		}
		if err != nil || wait > maxHeld {
			return wait, err
		}
		r.turn = turn{provider: name, tokens: tokens, at: now.Add(wait)}
		if wait > 0 {
			r.turn.asked = now
			r.rec.log(slog.LevelInfo, "a model call waits for the rate of its provider", slog.String("provider", name), slog.Duration("wait", wait))
		}
	}
	return r.turn.at.Sub(now), nil
}

// waitedSince is how long a call that is made now has waited since asked, or since the last entry;
// zero: it has not asked.
func waitedSince(asked, entry, now time.Time) time.Duration {
	if asked.IsZero() {
		return 0
	}
	return min(now.Sub(asked), now.Sub(entry)).Truncate(time.Millisecond)
}

// settle takes what a call used more than was reserved, or gives back what it used less.
func (r *rates) settle(endpoint string, used int, failed *pawl.ModelFailed) {
	if t := r.turn; t.provider != "" {
		rate := r.rec.host.opt.Rates[t.provider]
		r.correct(0, fills(used, rate.Tokens)-fills(t.tokens, rate.Tokens))
	}
	switch limits := &r.rec.host.limits; {
	case failed == nil:
		limits.replied(endpoint)
	case failed.Class == pawl.ClassRateLimit:
		limits.refused(endpoint, failed.RetryAt, time.Now())
	}
}

// leave gives up the turn of a call that was not made.
func (r *rates) leave() {
	if t := r.turn; t.provider != "" {
		rate := r.rec.host.opt.Rates[t.provider]
		r.correct(-fills(1, rate.Requests), -fills(t.tokens, rate.Tokens))
	}
}

// correct corrects what the turn has reserved, and ends it. If the journal fails, its next append
// says so.
func (r *rates) correct(requests, tokens time.Duration) {
	name := r.turn.provider
	r.turn = turn{}
	if requests == 0 && tokens == 0 {
		return
	}
	if _, err := r.rec.host.limiter.Reserve(r.rec.base, name, requests, tokens, anyTime); err != nil {
		r.rec.log(slog.LevelWarn, "what a call used of a rate is not settled", slog.String("provider", name), slog.Any("error", err))
	}
}

// rateLimits hold back calls of all runs of an engine to an endpoint that has refused one
// for its rate. Without them every run would find the limit by itself, and together they
// would keep exceeding it.
type rateLimits struct {
	mu         sync.Mutex
	byEndpoint map[string]rateLimit // models in this process have the empty endpoint, which is never limited
}

type rateLimit struct {
	until   time.Time
	refused int // in a row, each counted once calls were let through again
}

// refused records that an endpoint refuses calls until a given time.
func (l *rateLimits) refused(endpoint string, until, now time.Time) {
	if endpoint == "" {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.byEndpoint == nil {
		l.byEndpoint = map[string]rateLimit{}
	}
	was := l.byEndpoint[endpoint]
	if !now.Before(was.until) {
		was.refused++
	}
	if until.After(was.until) {
		was.until = until
	}
	l.byEndpoint[endpoint] = was
}

// replied clears the limit of an endpoint that replies again.
func (l *rateLimits) replied(endpoint string) {
	if endpoint != "" {
		l.mu.Lock()
		defer l.mu.Unlock()
		delete(l.byEndpoint, endpoint)
	}
}

// maxHeld is the longest that a call is held back for a refusal of another run. If a
// provider wants longer, each run calls by itself and is suspended.
const maxHeld = 5 * time.Minute

// held is how long the run's next call waits for its endpoint, slightly different for each
// run so that they do not all call at once. A call that would wait beyond its run's time is
// not held back: the provider's answer is logged, and the machine ends the run on it.
func held(r *recorder, endpoint string, now time.Time) time.Duration {
	if endpoint == "" {
		return 0
	}
	l := &r.host.limits
	l.mu.Lock()
	limit := l.byEndpoint[endpoint]
	l.mu.Unlock()
	wait := limit.until.Sub(now)
	if wait <= 0 || wait > maxHeld {
		return 0
	}
	if wait += r.host.opt.Backoff(limit.refused); wait >= timeLeft(r.state, now) {
		return 0
	}
	return wait
}
