package engine

import (
	"cmp"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/user"
	"sync"
	"sync/atomic"
	"time"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/internal/process"
	"github.com/pawl-run/pawl/internal/retry"
	"github.com/pawl-run/pawl/internal/usercode"
)

const usualLease = 15 * time.Second

// A lease is the ownership of one run, from claiming it to releasing it.
type lease struct {
	pawl.Lease // Until and Epoch change under mu, in regain
	host       *host
	taken      atomic.Pointer[error] // another owner has the run
	unrenewed  bool                  // the last renewal failed; only the heartbeat uses it

	mu       sync.Mutex // held while the lease is changed
	released bool
}

// release releases the run, so that others need not wait for the lease to lapse.
func (l *lease) release() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.released {
		l.released = true
		l.host.release(l.Lease)
	}
}

// release releases a claim. If that fails, the claim lapses by itself.
func (h *host) release(l pawl.Lease) {
	ctx := context.Background()
	if h.lasting { // else the journal answers at once
		within, cancel := context.WithTimeout(ctx, 5*time.Second)
		defer cancel()
		ctx = within
	}
	_, _ = h.journal.Claim(ctx, pawl.Claim{Run: l.Run, Owner: l.Owner, Epoch: l.Epoch})
}

// ours reports whether the run has not been released.
func (l *lease) ours() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return !l.released
}

// renew extends the lease unless it was released: a heartbeat after the release
// would leave the run held, with no owner, until the lease lapses.
func (l *lease) renew(ctx context.Context) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.released {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, l.host.opt.Lease)
	defer cancel()
	_, err := l.host.journal.Claim(ctx, pawl.Claim{Run: l.Run, Owner: l.Owner, TTL: l.host.opt.Lease, Epoch: l.Epoch})
	return err
}

// regain claims the run again after releasing it. It reports false if the run
// cannot be had or has had another owner since.
func (l *lease) regain(ctx context.Context) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	now, err := l.host.journal.Claim(ctx, pawl.Claim{Run: l.Run, Owner: l.Owner, TTL: l.host.opt.Lease})
	if err != nil {
		return false
	}
	if now.Epoch != l.Epoch+1 { // another owner may have appended
		l.host.release(now)
		return false
	}
	l.Epoch, l.Until, l.released = now.Epoch, now.Until, false // Run and Owner are read without the lock
	return true
}

// begin claims the id of a new run. An id that was claimed and never used is free: it may
// be derived from a key, and the run could otherwise never start.
func (h *host) begin(ctx context.Context, run string) (pawl.Lease, error) {
	l, exists := h.journal.Claim(ctx, pawl.Claim{Run: run, Owner: h.owner, TTL: h.opt.Lease, New: true})
	if !errors.Is(exists, pawl.ErrRunExists) {
		return l, exists
	}
	if begun, err := h.begun(ctx, run); err != nil {
		return l, err
	} else if begun {
		return l, exists
	}
	l, err := h.own(ctx, run)
	if errors.As(err, new(*pawl.HeldError)) {
		return l, errors.Join(exists, err)
	}
	if err != nil {
		return l, err
	}
	begun, err := h.begun(ctx, run)
	if begun { // a faster owner has begun and released it already
		err = exists
	}
	if err != nil {
		h.release(l)
	}
	return l, err
}

// ClaimNew claims a run that has no entries, for a caller that writes its log without
// driving it. It fails with pawl.ErrRunExists if the run has entries. The lease lapses
// after 15 seconds; see [Hold] and [Release].
func ClaimNew(ctx context.Context, j pawl.Journal, run string) (pawl.Lease, error) {
	return newHost(j, nil).begin(ctx, run)
}

// Hold renews a lease for ttl, at intervals of a third of that, until stop or the end of ctx.
// Zero is 15 seconds. It does not say if that fails: the next append fails when another owner
// has the run.
func Hold(ctx context.Context, j pawl.Journal, l pawl.Lease, ttl time.Duration) (stop func()) {
	ttl = cmp.Or(max(ttl, 0), usualLease)
	ctx, cancel := context.WithCancel(ctx)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for retry.Wait(ctx, ttl/3) {
			_, _ = j.Claim(ctx, pawl.Claim{Run: l.Run, Owner: l.Owner, Epoch: l.Epoch, TTL: ttl})
		}
	}()
	return func() { cancel(); <-ended }
}

// Release releases a lease, so that others need not wait for it to lapse.
func Release(j pawl.Journal, l pawl.Lease) { newHost(j, nil).release(l) }

// begun reports whether a run has entries.
func (h *host) begun(ctx context.Context, run string) (bool, error) {
	for _, err := range h.journal.Read(ctx, run, 1) {
		if errors.Is(err, pawl.ErrUnknownRun) {
			return false, nil
		}
		return err == nil, err
	}
	return false, nil
}

// own claims a run that exists. If its owner's process has ended, the lease need
// not lapse first.
func (h *host) own(ctx context.Context, run string) (pawl.Lease, error) {
	c := pawl.Claim{Run: run, Owner: h.owner, TTL: h.opt.Lease}
	l, err := h.journal.Claim(ctx, c)
	var held *pawl.HeldError
	if errors.As(err, &held) && ParseOwner(held.Lease.Owner).Gone() {
		c.Over = held.Lease.Epoch
		l, err = h.journal.Claim(ctx, c)
	}
	return l, err
}

// An Owner describes the process that drives a run: which one, of which user, where. Others
// see it when they find a run held.
type Owner struct {
	Process string `json:"process,omitempty"` // the process's identity: id, start time and boot
	Host    string `json:"host,omitempty"`
	User    string `json:"user,omitempty"`
	Dir     string `json:"dir,omitempty"`
	PID     int    `json:"pid,omitempty"`
}

// Self returns this process as an owner.
func Self() Owner { return self() }

// self asks the system only once: process, user and directory rarely change, and asking
// costs more than a run in memory.
var self = sync.OnceValue(func() Owner {
	o := Owner{PID: os.Getpid()}
	if id, err := process.Self(); err == nil {
		o.Process = id.String()
	}
	o.Host, _ = os.Hostname() // an unknown name is left out
	o.Dir, _ = os.Getwd()
	if u, err := user.Current(); err == nil {
		o.User = u.Username
	}
	return o
})

// selfText is this process in the form for leases and logs.
var selfText = sync.OnceValue(func() string { return self().String() })

// String returns the owner as JSON, as in leases and in the log.
func (o Owner) String() string {
	b, err := json.Marshal(o)
	if err != nil {
		return "{}" // five plain fields always marshal
	}
	return string(b)
}

// ParseOwner parses the result of String. Other text gives the zero Owner.
func ParseOwner(s string) Owner {
	var o Owner
	_ = json.Unmarshal([]byte(s), &o)
	return o
}

// Gone reports whether the owning process is known to have ended. It returns false for a
// process on another host.
func (o Owner) Gone() bool {
	id, err := process.ParseIdentity(o.Process)
	return err == nil && id.Gone()
}

// newID returns a run id: a ULID (github.com/ulid/spec), which sorts by time.
func newID(now time.Time) string {
	var b [16]byte
	binary.BigEndian.PutUint64(b[:], uint64(now.UnixMilli())<<16)
	_, _ = rand.Read(b[6:]) // never fails, by its contract
	return spell(b)
}

// spell encodes 128 bits as in ULIDs: 26 letters of five bits, the first two zero.
func spell(b [16]byte) string {
	const letters = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
	high, low := binary.BigEndian.Uint64(b[:8]), binary.BigEndian.Uint64(b[8:])
	var out [26]byte
	for i := range out {
		out[25-i] = letters[low&31]
		high, low = high>>5, high<<59|low>>5
	}
	return string(out[:])
}

// owned reports whether a run has a live owner.
func owned(h pawl.Head) bool {
	return h.Lease.Until.After(time.Now()) && !ParseOwner(h.Lease.Owner).Gone()
}

// derivedID derives an id from texts: the first 128 bits of the SHA-256 over their lengths
// and bytes, in the form of ids.
func derivedID(parts ...string) string {
	h := sha256.New()
	var n [8]byte
	for _, p := range parts {
		binary.BigEndian.PutUint64(n[:], uint64(len(p)))
		h.Write(n[:])
		h.Write([]byte(p))
	}
	return spell([16]byte(h.Sum(nil)))
}

// caught calls do and returns a panic as an error, after releasing the run.
func (l *lease) caught(do func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			l.release()
			err = panicError(l.Run, usercode.PanicOf(p))
		}
	}()
	return do()
}

func panicError(run string, p *usercode.Panic) error {
	return fmt.Errorf("run %s: %w\n%s", run, p, p.Stack)
}
