// Package spool keeps what is known of commands apart from the process that
// wants to know: one small file for each attempt at a call, written by who runs
// the command and read by whoever takes the run up after a crash.
//
// A file is created before its command starts, by name and exclusively, and its
// first record decides whether the command starts at all. Whoever must know that
// it will not writes "never" into a file that is not there or still empty; then
// the command cannot start any more, however late somebody comes to start it.
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

// At is the directory of that name, which need not be there.
func At(path string) Dir { return Dir{path} }

// Path is its name.
func (d Dir) Path() string { return d.path }

// Make makes the directory, for its user only, and notes in it since when it is
// kept; see [Dir.Since].
func (d Dir) Make(now time.Time) error {
	if _, err := d.Since(); err == nil {
		d.draw()
		return nil
	}
	if err := os.MkdirAll(d.path, 0o700); err != nil {
		return fmt.Errorf("spool: %w", err)
	}
	// Who else could write here could say that a payment was never made.
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

// draw writes down the number that tells the directory from others, once: of
// several who do at a time one is first. Without it nothing can be proven by the
// absence of a record, and all else goes on.
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

// Drawn is a number that no other directory was given when it was made. A copy has it, too.
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

// name is the attempt's file: the digest of its run, by which the files of a run
// are found, and that of all of it.
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

// Begin creates the attempt's file and returns when that is durable. The error
// wraps fs.ErrExist if there is one, or if somebody has fenced the attempt before
// the file had a record: then the command must not be started.
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

// Fence keeps an attempt that was not begun from being begun, durably, and
// returns what is known of it from then on: that it never was, or who began it.
// Only of a file that is damaged is neither known.
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
	// Whoever created it has not written yet, or was killed before that.
	if f, err = os.OpenFile(filepath.Join(d.path, a.name()), os.O_WRONLY|os.O_APPEND, 0); err != nil {
		return Fate{}, fmt.Errorf("spool: %w", err)
	}
	if err = errors.Join(write(f, record{Never: &a}), f.Sync(), f.Close()); err != nil {
		return Fate{}, fmt.Errorf("spool: %w", err)
	}
	return d.Read(a)
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

// Forget removes what is known of a run's calls, except of those to be kept and
// of those of which too little is known to tell. What says "never" stays until
// it is swept: without it a process that was stopped on its way to the command,
// and goes on only now, would start it.
func (d Dir) Forget(run string, keep func(call string) bool) error {
	var errs []error
	for _, name := range d.files(prefix(run)) {
		path := filepath.Join(d.path, name)
		data, err := os.ReadFile(path)
		if err != nil {
			continue // another has removed it
		}
		if b := parse(data).Begin; b != nil && b.Run == run && !keep(b.Call) {
			errs = append(errs, os.Remove(path))
		}
	}
	return errors.Join(errs...)
}

// coarse is how much earlier than the clock says a file may seem to be written:
// no file system counts in more than two seconds.
const coarse = 2 * time.Second

// Sweep removes what has not been touched since then. Of runs older than that
// nothing is known any more, and Since says so before the first file goes.
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
	entries, _ := os.ReadDir(d.path) // what cannot be read has nothing to be removed
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), prefix) && strings.HasSuffix(e.Name(), ending) {
			names = append(names, e.Name())
		}
	}
	return names
}

const sinceName = "since"

// Since is from when on the directory is complete. That it has no file of an
// attempt says nothing about runs that were begun before.
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
