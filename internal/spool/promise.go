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

// A Promise says of an attempt that it is recorded in a directory before it
// starts, or never starts. It is given before the attempt is announced, and its
// text stands in the log beside the announcement.
type Promise struct {
	ID   string // of the directory, see [Dir.ID]
	At   time.Time
	Boot string // digest of the running system; empty in promises of older builds
	Path string // of the directory; empty in promises of older builds
}

// Promise gives the promise of a directory on a running system, which boot names.
func (d Dir) Promise(boot string, now time.Time) (Promise, error) {
	id, err := d.ID(boot)
	return Promise{ID: id, At: now.UTC(), Boot: short(boot), Path: d.path}, err
}

// String gives the promise as [ParsePromise] reads it.
func (p Promise) String() string {
	return strings.Join([]string{p.ID, p.At.Format(time.RFC3339Nano), p.Boot, p.Path}, " ")
}

// ParsePromise reads the text of a promise. It reports false for anything else,
// such as what a tool of another make says of who supervises it.
func ParsePromise(text string) (p Promise, ok bool) {
	fields := strings.SplitN(text, " ", 4) // the last one may have spaces
	if len(fields) != 2 && len(fields) != 4 || fields[0] == "" {
		return Promise{}, false
	}
	at, err := time.Parse(time.RFC3339Nano, fields[1])
	p = Promise{ID: fields[0], At: at}
	if len(fields) == 4 {
		p.Boot, p.Path = fields[2], fields[3]
	}
	return p, err == nil
}

// About reports whether the promise is about this directory.
func (p Promise) About(d Dir, boot string) bool {
	id, err := d.ID(boot)
	return err == nil && id == p.ID
}

// startWithin is how long after its promise an attempt may begin. Somebody on
// another host, who cannot reach the directory, so knows when it cannot any more;
// skew is how far the clocks of two hosts may differ.
const startWithin, skew = 20 * time.Second, 5 * time.Second

// Expired reports whether the attempt may not begin any more, on the system where
// the promise was given.
func (p Promise) Expired(now time.Time) bool { return now.Sub(p.At) > startWithin }

// Open is how long the attempt may still begin on another system than this one.
// It is zero for a promise of this system: if it is about no directory here, that
// directory is gone, and whoever was to record there finds so.
func (p Promise) Open(boot string, now time.Time) time.Duration {
	if p.Path == "" || p.Boot == short(boot) {
		return 0
	}
	const most = startWithin + skew
	return max(0, min(most, most-now.Sub(p.At)))
}

// Holds reports whether the absence of a record in the directory proves that the
// attempt was not begun: nothing was swept away since the promise was given.
func (p Promise) Holds(d Dir) bool {
	since, err := d.Since()
	return err == nil && !p.At.Before(since)
}

// ID tells the directory from every other, now: from another that took its name,
// from its copy, and from one on another host, in another container or before the
// machine was started last, whose records may have been lost or be out of reach.
func (d Dir) ID(boot string) (string, error) {
	if boot == "" {
		return "", errors.New("spool: the running system cannot be told from others")
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

// short is a digest that is long enough to tell a few things apart.
func short(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:8])
}
