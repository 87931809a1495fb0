// Package spool records commands outside of the process that started the run:
// one small file for each attempt at a call, written by the process that runs
// the command and read by the one that resumes the run after a crash.
//
// A file is created exclusively before its command starts, and its first record
// decides whether the command starts at all. To prevent a start, a process
// writes "never" into a file that is missing or still empty; then the command
// cannot start any more, however late its supervisor tries.
package spool

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// Dir is a directory of such files.
type Dir struct{ path string }

// At returns the directory of that name, which need not exist.
func At(path string) Dir { return Dir{path} }

// Path returns its name.
func (d Dir) Path() string { return d.path }

// Make creates the directory, for its user only, and records when; see
// [Dir.Since].
func (d Dir) Make(now time.Time) error {
	if _, err := d.Since(); err == nil {
		d.draw()
		return nil
	}
	if err := os.MkdirAll(d.path, 0o700); err != nil {
		return fmt.Errorf("spool: %w", err)
	}
	// Another user with write access could forge the absence of a payment.
	info, err := os.Stat(d.path)
	if err == nil && info.Mode().Perm()&0o022 != 0 {
		err = fmt.Errorf("%s can be written by others; chmod 700 it", d.path)
	}
	if err != nil {
		return fmt.Errorf("spool: %w", err)
	}
	d.draw()
	err = d.setSince(now)
	return errors.Join(err, syncDir(filepath.Dir(d.path)))
}

const drawnName = "drawn"

// draw writes the number that identifies the directory, once: of several
// concurrent processes one wins. Without it a missing record proves nothing,
// and everything else works.
func (d Dir) draw() {
	path := filepath.Join(d.path, drawnName)
	if _, err := os.Stat(path); err == nil {
		return
	}
	f, err := os.CreateTemp(d.path, drawnName+".*")
	if err != nil {
		return
	}
	_, err = f.WriteString(rand.Text() + "\n")
	if errors.Join(err, f.Sync(), f.Close()) == nil {
		_ = os.Link(f.Name(), path)
	}
	_ = os.Remove(f.Name())
}

// Drawn returns the directory's unique number. A copy has the same.
func (d Dir) Drawn() (string, error) {
	text, err := os.ReadFile(filepath.Join(d.path, drawnName))
	if err != nil {
		return "", fmt.Errorf("spool: %w", err)
	}
	return strings.TrimSpace(string(text)), nil
}

// An Attempt is one attempt at a call.
type Attempt struct {
	Run    string `json:"run"`
	Call   string `json:"call"`
	Key    string `json:"key"`
	Number int    `json:"number"`
}

// name returns the name of the attempt's file: the digest of its run, by which
// the files of a run are found, and the digest of the attempt.
func (a Attempt) name() string {
	whole := digest(fmt.Sprintf("%q %q %q %d", a.Run, a.Call, a.Key, a.Number))
	return prefix(a.Run) + whole[:32] + ending
}

const ending = ".spool"

func prefix(run string) string { return digest(run)[:16] + "-" }

func digest(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}

// Begin creates the attempt's file and syncs it. The error wraps fs.ErrExist if
// the file exists, or if another process has fenced the attempt before the
// first record was written: then the command must not be started.
func (d Dir) Begin(b Begin) (*File, error) {
	f, err := d.create(b.Attempt, record{Begin: &b})
	if err != nil {
		return nil, err
	}
	fate, err := d.Read(b.Attempt)
	if err == nil && fate.Begin == nil {
		err = fmt.Errorf("spool: %w", fs.ErrExist)
	}
	if err != nil {
		_ = f.Close()
		return nil, err
	}
	return &File{f}, nil
}

// Fence durably keeps an attempt from starting if it has not, and returns what
// is known of it: that it never started, or which process started it. Both are
// unknown only for a damaged file.
func (d Dir) Fence(a Attempt) (Fate, error) {
	f, err := d.create(a, record{Never: &a})
	if err == nil {
		return Fate{Never: &a}, f.Close()
	}
	if !errors.Is(err, fs.ErrExist) {
		return Fate{}, err
	}
	fate, err := d.Read(a)
	if _, known := fate.attempt(); known || err != nil {
		return fate, err
	}
	// The process that created the file has not written yet, or was killed
	// before that.
	if f, err = os.OpenFile(filepath.Join(d.path, a.name()), os.O_WRONLY|os.O_APPEND, 0); err != nil {
		return Fate{}, fmt.Errorf("spool: %w", err)
	}
	if err = errors.Join(write(f, record{Never: &a}), f.Sync(), f.Close()); err != nil {
		return Fate{}, fmt.Errorf("spool: %w", err)
	}
	return d.Read(a)
}

// Stop records that a process that is not the attempt's supervisor is about to end its
// command: unless it has ended by then, it counts as [Stopped].
func (d Dir) Stop(a Attempt) error {
	f, err := os.OpenFile(filepath.Join(d.path, a.name()), os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		return fmt.Errorf("spool: %w", err)
	}
	if err := errors.Join(write(f, record{Stop: true}), f.Close()); err != nil {
		return fmt.Errorf("spool: %w", err)
	}
	return nil
}

func (d Dir) create(a Attempt, first record) (*os.File, error) {
	f, err := os.OpenFile(filepath.Join(d.path, a.name()), os.O_CREATE|os.O_EXCL|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return nil, fmt.Errorf("spool: %w", err)
	}
	err = write(f, first)
	if err == nil {
		err = f.Sync()
	}
	if err == nil {
		err = syncDir(d.path)
	}
	if err != nil {
		_ = f.Close()
		return nil, fmt.Errorf("spool: %w", err)
	}
	return f, nil
}

// Read returns what is known of an attempt. The error wraps fs.ErrNotExist if
// there is no file.
func (d Dir) Read(a Attempt) (Fate, error) {
	data, err := os.ReadFile(filepath.Join(d.path, a.name()))
	if err != nil {
		return Fate{}, fmt.Errorf("spool: %w", err)
	}
	return parse(data), nil
}

// Forget removes the files of a run's calls, except those to keep and those
// that cannot be identified. A file that says "never" stays until it is swept:
// without it, a process that was stopped just before starting the command could
// still start it.
func (d Dir) Forget(run string, keep func(call string) bool) error {
	var errs []error
	for _, name := range d.files(prefix(run)) {
		path := filepath.Join(d.path, name)
		data, err := os.ReadFile(path)
		if err != nil {
			continue // another process has removed it
		}
		if b := parse(data).Begin; b != nil && b.Run == run && !keep(b.Call) {
			errs = append(errs, os.Remove(path))
		}
	}
	return errors.Join(errs...)
}

// coarse is how much earlier than the clock a file's time may be: file systems
// have a resolution of at most two seconds.
const coarse = 2 * time.Second

// Sweep removes files not modified since a time. It first moves the time of
// Since, so that missing records of older runs prove nothing.
func (d Dir) Sweep(before time.Time) error {
	var old []string
	for _, name := range d.files("") {
		if info, err := os.Stat(filepath.Join(d.path, name)); err == nil && info.ModTime().Before(before) {
			old = append(old, name)
		}
	}
	if len(old) == 0 {
		return nil
	}
	since := before.Add(coarse)
	if old, err := d.Since(); err != nil || old.Before(since) {
		if err := d.setSince(since); err != nil {
			return err
		}
	}
	var errs []error
	for _, name := range old {
		if err := os.Remove(filepath.Join(d.path, name)); !errors.Is(err, fs.ErrNotExist) {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}

func (d Dir) files(prefix string) (names []string) {
	entries, _ := os.ReadDir(d.path) // an unreadable directory has nothing to remove
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), prefix) && strings.HasSuffix(e.Name(), ending) {
			names = append(names, e.Name())
		}
	}
	return names
}

const sinceName = "since"

// Since returns the time from which the directory is complete. A missing file
// proves nothing about attempts before it.
func (d Dir) Since() (time.Time, error) {
	text, err := os.ReadFile(filepath.Join(d.path, sinceName))
	if err != nil {
		return time.Time{}, err
	}
	return time.Parse(time.RFC3339Nano, strings.TrimSpace(string(text)))
}

func (d Dir) setSince(t time.Time) error {
	f, err := os.CreateTemp(d.path, sinceName+".*")
	if err != nil {
		return fmt.Errorf("spool: %w", err)
	}
	_, err = f.WriteString(t.UTC().Format(time.RFC3339Nano) + "\n")
	err = errors.Join(err, f.Sync(), f.Close())
	if err == nil {
		err = os.Rename(f.Name(), filepath.Join(d.path, sinceName))
	}
	if err != nil {
		return fmt.Errorf("spool: %w", errors.Join(err, os.Remove(f.Name())))
	}
	return syncDir(d.path)
}

func syncDir(path string) error {
	dir, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(dir.Sync(), dir.Close())
}
