package engine

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"time"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/internal/journals"
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

// checkRates prepares the rates, or makes the engine refuse to run anything.
func (e *Engine) checkRates() {
	e.limiter, _ = e.journal.(Limiter)
	for name, rate := range e.opt.Rates {
		switch {
		case e.invalid != nil:
		case rate.Requests < 0 || rate.Tokens < 0:
			e.invalid = fmt.Errorf("options: the rate of %s is %+v; its figures must not be negative", name, rate)
		case e.limiter == nil:
			e.invalid = fmt.Errorf("options: there is a rate of %s, but the journal is not an engine.Limiter; use one that is, such as sqlite", name)
		}
	}
}

// provider is the first part of a model's name.
func provider(m pawl.ModelInfo) string {
	name, _, _ := strings.Cut(m.Name, "/")
	return name
}

// Ready returns nil if a run of an agent can begin or go on now. If not, the error is a
// *BusyError: the engine drives as many runs as it may, or calls to the provider of the
// agent's model wait more than five seconds for its rate. ahead is how many runs of the agent
// were begun just before, and may not have called yet.
func (e *Engine) Ready(ctx context.Context, agent pawl.Agent, ahead int) error {
	if err := e.room(); err != nil {
		return err
	}
	var of string
	if d, ok := agent.Model.(pawl.Describer); ok {
		of = provider(d.Describe())
	}
	rate, limited := e.opt.Rates[of]
	if !limited || e.limiter == nil {
		return nil
	}
	before := fills(ahead, rate.Requests)
	once := min(before, journals.FullBucket) // more would be one large call
	wait, err := e.limiter.Reserve(ctx, of, once, 0, -1)
	if wait += before - once; err == nil && wait > shortWait {
		err = &BusyError{Provider: of, Wait: wait}
	}
	return err
}

// A turn is what the next model call of a run has reserved of the rate of a provider.
type turn struct {
	provider string // empty: nothing is reserved
	tokens   int
	asked    time.Time
	at       time.Time // when the call may be made
}

// await returns how long a model call waits for the rate of its provider. It has a turn
// then, unless that is longer than maxHeld.
func (d *driver) await(t *pawl.Think, info *pawl.ModelInfo, now time.Time) (time.Duration, error) {
	e := d.rec.engine
	if len(e.opt.Rates) == 0 {
		return 0, nil
	}
	name := provider(*info)
	rate, limited := e.opt.Rates[name]
	if d.turn.provider != name {
		d.giveBack()
	}
	if limited && d.turn.provider == "" {
		tokens := t.Estimate + t.Hosted.Input + t.MaxTokens
		wait, err := e.limiter.Reserve(d.rec.base, name, fills(1, rate.Requests), fills(tokens, rate.Tokens), maxHeld)
		if err != nil || wait > maxHeld {
			return wait, err
		}
		d.turn = turn{name, tokens, now, now.Add(wait)}
		if wait > 0 {
			d.rec.log(slog.LevelInfo, "a model call waits for the rate of its provider", slog.String("provider", name), slog.Duration("wait", wait))
		}
	}
	return d.turn.at.Sub(now), nil
}

// waited is how long a call that is made now has waited for its turn since the last entry.
func (t *turn) waited(since, now time.Time) time.Duration {
	if !t.at.After(t.asked) {
		return 0
	}
	return min(now.Sub(t.asked), now.Sub(since)).Truncate(time.Millisecond)
}

// settle takes what a call used more than was reserved, or gives back what it used less.
func (t *turn) settle(r *recorder, used int) {
	if t.provider == "" {
		return
	}
	rate := r.engine.opt.Rates[t.provider]
	r.takeBack(t.provider, 0, fills(used, rate.Tokens)-fills(t.tokens, rate.Tokens))
}

// giveBack gives up the turn of a call that was not made.
func (d *driver) giveBack() {
	if t := d.turn; t.provider != "" {
		rate := d.rec.engine.opt.Rates[t.provider]
		d.rec.takeBack(t.provider, -fills(1, rate.Requests), -fills(t.tokens, rate.Tokens))
	}
	d.turn = turn{}
}

// takeBack corrects what was reserved. If the journal fails, its next append says so.
func (r *recorder) takeBack(provider string, requests, tokens time.Duration) {
	if requests == 0 && tokens == 0 {
		return
	}
	if _, err := r.engine.limiter.Reserve(r.base, provider, requests, tokens, anyTime); err != nil {
		r.log(slog.LevelWarn, "what a call used of a rate is not settled", slog.String("provider", provider), slog.Any("error", err))
	}
}

// sleep suspends the run until a call may get its turn.
func (d *driver) sleep(info *pawl.ModelInfo, wait time.Duration) (done bool, err error) {
	name := provider(*info)
	until := time.Now().Add(wait)
	d.rec.appendNow(pawl.RunPaused{Status: pawl.StatusPaused, WakeAt: until, Rate: name,
		Reason: fmt.Sprintf("the rate of %s is used up; the next call is possible at about %s", name, until.UTC().Format(time.RFC3339))})
	return d.part()
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
	l := &r.engine.limits
	l.mu.Lock()
	limit := l.byEndpoint[endpoint]
	l.mu.Unlock()
	wait := limit.until.Sub(now)
	if wait <= 0 || wait > maxHeld {
		return 0
	}
	if wait += r.engine.opt.Backoff(limit.refused); wait >= timeLeft(r.state, now) {
		return 0
	}
	return wait
}
