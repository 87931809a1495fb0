package webhook

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/internal/retry"
	"github.com/pawl-run/pawl/internal/web"
)

// A Store is a journal whose runs have notices.
type Store interface {
	pawl.Journal
	pawl.Inbox
}

// Options are the options of an outbox. The zero value is valid.
type Options struct {
	// Allow names hosts that may be on a private network or on this machine, such
	// as hooks.internal, 10.0.0.7 or localhost:8080. All others must be public.
	Allow []string
	// Loopback allows hooks whose URL names this machine: localhost, 127.0.0.1 and [::1].
	// Set it only if the operator of the program writes the hooks, since such a URL
	// reaches any local service.
	Loopback bool
	// Public is the URL of the server of the runs, as people reach it. With it, notices
	// have links. Empty: they have none.
	Public string
	// LinkKey is the key for links to approvals, the same as that of the server
	// (server.Options). Empty: a link has the token of the request, which is known only
	// to the process that drove the run.
	LinkKey []byte
	// Log gets successful and failed deliveries: never a body, and only the host of a
	// URL. Nil: nothing is logged.
	Log *slog.Logger
	// Timeout is the most one request may take; zero is 10 s.
	Timeout time.Duration
	// Patience is how long a notice is tried after its first try; zero is 24 h. It is
	// tried at least once.
	Patience time.Duration
	// Sweep is how often [Outbox.Serve] looks for runs that other processes drove; zero
	// is 2 minutes.
	Sweep time.Duration
}

// An Outbox delivers notices about runs. It is safe for concurrent use.
type Outbox struct {
	journal Store
	hooks   func(pawl.Declaration) []Hook
	opt     Options
	owner   string // in claims
	client  *http.Client
	dialer  *web.Dialer
	now     func() time.Time
	wait    func(n int, asked time.Duration) time.Duration

	mu     sync.Mutex
	busy   map[string]chan struct{} // runs whose notices are being delivered; closed afterwards
	tokens map[string][]pawl.Pending
	due    map[string]time.Time // of Serve: when to look at a run
	visits map[string]int       // how many deliver for a run, or wait to
	states map[string]runState
	wake   chan struct{}
}

// New makes an outbox. hooks returns the hooks for the runs of an agent; it is called often and
// must be safe for concurrent use.
func New(journal Store, hooks func(pawl.Declaration) []Hook, o *Options) (*Outbox, error) {
	o = cmp.Or(o, &Options{})
	b := &Outbox{
		journal: journal, hooks: hooks, opt: *o, owner: rand.Text(), dialer: &web.Dialer{}, now: time.Now, wait: wait,
		busy: map[string]chan struct{}{}, tokens: map[string][]pawl.Pending{}, due: map[string]time.Time{}, visits: map[string]int{}, states: map[string]runState{},
		wake: make(chan struct{}, 1),
	}
	allow := slices.Clip(o.Allow)
	if o.Loopback {
		allow = append(allow, here...)
	}
	for _, text := range allow {
		host, err := web.ParseHost(text)
		if err != nil {
			return nil, fmt.Errorf("webhooks: %w", err)
		}
		b.dialer.Allow = append(b.dialer.Allow, host)
	}
	b.opt.Public = strings.TrimRight(o.Public, "/")
	b.opt.Timeout = cmp.Or(o.Timeout, defaultTimeout)
	b.opt.Patience = cmp.Or(o.Patience, defaultPatience)
	b.opt.Sweep = cmp.Or(o.Sweep, defaultSweep)
	if b.opt.Log == nil {
		b.opt.Log = slog.New(slog.DiscardHandler)
	}
	b.client = newClient(b.dialer)
	return b, nil
}

// Deliver delivers the notices of a run, until all are delivered or given up, or ctx ends; left
// is how many are then undelivered. They are not lost: the next process that delivers for the
// run continues. result is that of the process that drove the run; its tokens are used in links
// only. An error says that the journal failed.
func (o *Outbox) Deliver(ctx context.Context, result pawl.Result) (left int, err error) {
	o.mu.Lock()
	o.remember(result)
	o.visits[result.Run]++
	o.mu.Unlock()
	defer o.visited(result.Run)
	return o.deliver(ctx, result.Run)
}

func (o *Outbox) deliver(ctx context.Context, run string) (left int, err error) {
	for {
		next, left, err := o.step(ctx, run)
		if err != nil && ctx.Err() == nil {
			return left, err
		}
		if left == 0 && err == nil {
			return 0, nil
		}
		if end, ok := ctx.Deadline(); ok && next.After(end) {
			return max(1, left), nil // the next try is after the deadline
		}
		if !retry.Wait(ctx, next.Sub(o.now())) {
			return max(1, left), nil
		}
	}
}

// remember keeps the tokens of a run's pending requests, for links. The outbox is locked.
func (o *Outbox) remember(r pawl.Result) {
	delete(o.tokens, r.Run)
	for _, p := range r.Pending {
		if p.Token != "" && o.opt.Public != "" {
			o.tokens[r.Run] = append(o.tokens[r.Run], p)
		}
	}
}

// visited takes in that a visit is over. The last one drops the tokens of the run, unless another is due.
func (o *Outbox) visited(run string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.visits[run]--; o.visits[run] > 0 {
		return
	}
	delete(o.visits, run)
	if _, again := o.due[run]; !again {
		delete(o.tokens, run)
	}
}

// links makes the links of a notice. Without a key, a call whose token this process does not
// have gets no link: the log has only the token's hash.
func (o *Outbox) links(run string, waits []waiting) *Links {
	if o.opt.Public == "" {
		return nil
	}
	l := &Links{Run: o.opt.Public + "/#/runs/" + url.PathEscape(run)}
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, p := range waits {
		token := web.LinkToken(o.opt.LinkKey, p.Run, p.Call, p.hash)
		for _, known := range o.tokens[run] {
			if token == "" && known.Run == p.Run && known.Call == p.Call {
				token = known.Token
			}
		}
		if p.Kind == "approval" && token != "" {
			l.Approvals = append(l.Approvals, ApprovalLink{p.Run, p.Call, o.opt.Public + "/approve#" + url.Values{
				"run": {p.Run}, "call": {p.Call}, "token": {token},
			}.Encode()})
		}
	}
	return l
}

// step delivers the notices of a run that are due. It returns when to call it again and how many
// notices are left.
func (o *Outbox) step(ctx context.Context, run string) (next time.Time, left int, err error) {
	free, err := o.take(ctx, run)
	if err != nil {
		return o.now(), 1, err
	}
	defer free()
	list, is, err := o.dues(ctx, run)
	if err != nil {
		return o.now(), 1, err
	}
	hooks := o.hooks(is)
	type outcome struct {
		next time.Time
		left int
		err  error
	}
	done := make(chan outcome, len(hooks))
	for i := range hooks {
		go func() { // a hook that hangs does not delay the others
			next, left, err := o.deliverTo(ctx, run, &hooks[i], list)
			done <- outcome{next, left, err}
		}()
	}
	for range hooks {
		one := <-done
		left, err = left+one.left, errors.Join(err, one.err)
		if one.left > 0 && (next.IsZero() || one.next.Before(next)) {
			next = one.next
		}
	}
	return next, left, err
}

// take waits until no other goroutine delivers for a run.
func (o *Outbox) take(ctx context.Context, run string) (free func(), err error) {
	for {
		o.mu.Lock()
		taken := o.busy[run]
		if taken == nil {
			mine := make(chan struct{})
			o.busy[run] = mine
			o.mu.Unlock()
			return func() {
				o.mu.Lock()
				delete(o.busy, run)
				o.mu.Unlock()
				close(mine)
			}, nil
		}
		o.mu.Unlock()
		select {
		case <-taken:
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
}
