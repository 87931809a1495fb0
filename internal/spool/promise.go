package spool

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"
)

// A Promise states that an attempt is recorded in a directory before it starts,
// or never starts. It is made before the attempt is announced, and its text is
// in the log with the announcement.
type Promise struct {
	ID   string // of the directory, see [Dir.ID]
	At   time.Time
	Boot string // digest of the running system
	Path string // of the directory
}

// Promise returns the promise of a directory on the running system that boot
// identifies.
func (d Dir) Promise(boot string, now time.Time) (Promise, error) {
	id, err := d.ID(boot)
	return Promise{ID: id, At: now.UTC(), Boot: short(boot), Path: d.path}, err
}

// String returns the text for [ParsePromise].
func (p Promise) String() string {
	return strings.Join([]string{p.ID, p.At.Format(time.RFC3339Nano), p.Boot, p.Path}, " ")
}

// ParsePromise parses a promise. It returns false for anything else, such as
// the text of another kind of supervisor.
func ParsePromise(text string) (p Promise, ok bool) {
	fields := strings.SplitN(text, " ", 4) // the last field may contain spaces
	if len(fields) != 4 || fields[0] == "" {
		return Promise{}, false
	}
	at, err := time.Parse(time.RFC3339Nano, fields[1])
	return Promise{ID: fields[0], At: at, Boot: fields[2], Path: fields[3]}, err == nil
}

// About reports whether the promise is about this directory.
func (p Promise) About(d Dir, boot string) bool {
	id, err := d.ID(boot)
	return err == nil && id == p.ID
}

// startWithin is how long after its promise an attempt may begin. A process on
// another host, which cannot read the directory, thereby knows when the attempt
// can no longer begin; skew is the largest clock difference between hosts.
const startWithin, skew = 20 * time.Second, 5 * time.Second

// Expired reports whether the attempt may no longer begin, on the system of the
// promise.
func (p Promise) Expired(now time.Time) bool { return now.Sub(p.At) > startWithin }

// Open returns how long the attempt may still begin on another system. It is
// zero for a promise of this system: if no directory here matches it, that
// directory is gone, and the process that was to record the attempt will fail.
func (p Promise) Open(boot string, now time.Time) time.Duration {
	if p.Boot == short(boot) {
		return 0
	}
	const most = startWithin + skew
	return max(0, min(most, most-now.Sub(p.At)))
}

// Holds reports whether a missing record proves that the attempt did not begin:
// nothing was removed from the directory since the promise.
func (p Promise) Holds(d Dir) bool {
	since, err := d.Since()
	return err == nil && !p.At.Before(since)
}

// ID distinguishes the directory from every other: one that took its name, a
// copy, and one on another host, in another container or before the last boot,
// whose records may be lost or unreachable.
func (d Dir) ID(boot string) (string, error) {
	if boot == "" {
		return "", errors.New("spool: the running system has no boot id")
	}
	drawn, err := d.Drawn()
	if err != nil {
		return "", err
	}
	info, err := os.Stat(d.path)
	if err != nil {
		return "", fmt.Errorf("spool: %w", err)
	}
	return short(drawn + "\n" + Identity(info) + "\n" + boot), nil
}

// short is a digest that suffices to distinguish a few values.
func short(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:8])
}
