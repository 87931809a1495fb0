package process

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// CallDir is a directory with one file for each attempt at a call of one run.
//
// The wrapper of a command creates the file exclusively, locks it, and starts the
// command. At the end it puts the file with the outcome in its place, by renaming. The
// kernel releases the lock when the wrapper dies, so another process that opens the
// file knows whether its wrapper lives. A process that creates the file itself, because
// there is none, thereby keeps the command from ever starting.
type CallDir struct {
	Boot string    // the running system, see [Boot]
	At   time.Time // when the attempt was announced
	Path string    // ends with a random id, so that no other directory is taken for this one
}

// startWithin is how long after its announcement a command may start. It is less than
// the lease of a run. So when another host finds the lease of a stopped process
// expired, the command of that process can no longer start.
const startWithin = 10 * time.Second

// OpenCallDir returns the directory of a run below base, and makes it, for its user
// only, if it does not exist.
func OpenCallDir(base, run string) (CallDir, error) {
	d := CallDir{Boot: Boot(), At: time.Now(), Path: filepath.Join(base, digest(run)+"-"+rand.Text())}
	if d.Boot == "" {
		return d, errors.New("the running system has no boot id")
	}
	entries, _ := os.ReadDir(base) // an error is found below
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), digest(run)+"-") {
			d.Path = filepath.Join(base, e.Name())
			return d, nil
		}
	}
	return d, errors.Join(os.MkdirAll(d.Path, 0o700), syncPath(base))
}

// String returns the text for the log, which [ParseCallDir] parses.
func (d CallDir) String() string {
	return fmt.Sprint(d.Boot, " ", d.At.UnixMilli(), " ", d.Path)
}

// ParseCallDir parses the result of [CallDir.String]. It returns false for other text.
func ParseCallDir(text string) (d CallDir, ok bool) {
	fields := strings.SplitN(text, " ", 3) // the path may contain spaces
	if len(fields) != 3 || fields[2] == "" {
		return CallDir{}, false
	}
	at, err := strconv.ParseInt(fields[1], 10, 64)
	return CallDir{Boot: fields[0], At: time.UnixMilli(at), Path: fields[2]}, err == nil
}

// Reachable reports whether this process has the directory.
func (d CallDir) Reachable() bool {
	info, err := os.Stat(d.Path)
	return err == nil && info.IsDir()
}

// Remove removes the directory with all files. Nothing that was to be recorded there
// starts any more.
func (d CallDir) Remove() error {
	gone := filepath.Join(filepath.Dir(d.Path), "removed-"+rand.Text())
	if err := os.Rename(d.Path, gone); err != nil {
		return err
	}
	return os.RemoveAll(gone)
}

// An Attempt is one attempt at a call.
type Attempt struct {
	Run, Call, Key string
	Number         int
}

func (d CallDir) file(a Attempt) string {
	return filepath.Join(d.Path, digest(fmt.Sprintf("%q %q %q %d", a.Run, a.Call, a.Key, a.Number)))
}

// stopFile ends the name of the file in which another process asks for the end.
const stopFile = ".stop"

func digest(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:16])
}

// Fate is what is known of an attempt. If Never, Running and Outcome are all zero, the
// outcome is unknown. In a file it is one line or more, each with some fields.
type Fate struct {
	Began   time.Time     `json:"began,omitzero"`
	Timeout time.Duration `json:"timeout,omitempty"`
	Process string        `json:"process,omitempty"` // the command's [Identity]
	Outcome *Outcome      `json:"outcome,omitempty"`
	Never   bool          `json:"never,omitempty"` // the command was not started and cannot start
	Running bool          `json:"-"`               // the wrapper lives
}

// EndCommand ends what is left of a command whose wrapper has died.
func (f Fate) EndCommand(grace time.Duration) error {
	id, _ := ParseIdentity(f.Process) // zero, if it was not started, or nobody knows its process
	return id.End(grace)
}

// Settle returns what is known of an attempt, and keeps it from starting if it has not.
func (d CallDir) Settle(a Attempt) (fate Fate, err error) {
	f, err := os.OpenFile(d.file(a), os.O_CREATE|os.O_RDWR|os.O_APPEND, 0o600)
	if err != nil {
		return Fate{}, err
	}
	defer f.Close()
	free, err := lock(f, false)
	if err != nil {
		return Fate{}, err
	}
	data, err := os.ReadFile(d.file(a)) // by its name: the wrapper may have renamed another one to it
	if err != nil {
		return Fate{}, err
	}
	for lines := json.NewDecoder(strings.NewReader(string(data))); lines.Decode(&fate) == nil; {
	}
	if free && len(data) == 0 { // a wrapper that gets the lock from now on finds this
		fate.Never = true
		err = writeLine(f, fate)
	}
	fate.Never = fate.Never && d.Boot == Boot() // otherwise there may have been a file
	fate.Running = !free && fate.Outcome == nil
	return fate, err
}

// Look is like Settle, but does nothing about an attempt that has not started.
func (d CallDir) Look(a Attempt) (Fate, error) {
	if data, err := os.ReadFile(d.file(a)); err != nil || len(data) == 0 {
		return Fate{}, err
	}
	return d.Settle(a)
}

// Await settles the attempt and waits while its wrapper lives, until ctx ends.
func (d CallDir) Await(ctx context.Context, a Attempt) (Fate, error) {
	for pause := 5 * time.Millisecond; ; pause = min(2*pause, 100*time.Millisecond) {
		fate, err := d.Settle(a)
		if err != nil || !fate.Running {
			return fate, err
		}
		select {
		case <-ctx.Done():
			return fate, nil
		case <-time.After(pause):
		}
	}
}

// Stop asks the wrapper of a running command to end it, and waits for the outcome.
func (d CallDir) Stop(ctx context.Context, a Attempt, why Cut, most time.Duration) (Fate, error) {
	if err := os.WriteFile(d.file(a)+stopFile, []byte(strconv.Itoa(int(why))), 0o600); err != nil {
		return Fate{}, err
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), most)
	defer cancel()
	fate, err := d.Await(ctx, a)
	if err == nil && fate.Running {
		err = errors.New("its wrapper does not end it")
	}
	return fate, err
}

// A CallFile is the file of an attempt, in its wrapper.
type CallFile struct {
	f    *os.File
	name string
	fate Fate
}

// errBarred says that the command must not start.
var errBarred = errors.New("this attempt was settled, or made, by another process")

// Begin creates the attempt's file, locks it, and syncs it and its directory. After an
// error the command must not be started, and nobody else starts it.
func (d CallDir) Begin(a Attempt, timeout time.Duration) (*CallFile, error) {
	f, err := os.OpenFile(d.file(a), os.O_CREATE|os.O_EXCL|os.O_RDWR|os.O_APPEND, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return nil, errBarred
	}
	if err != nil {
		return nil, err
	}
	c := &CallFile{f, d.file(a), Fate{Began: time.Now().UTC(), Timeout: timeout}}
	if err := c.begin(d); err != nil {
		return nil, errors.Join(err, f.Truncate(0), f.Close()) // an empty file says that nothing began
	}
	return c, nil
}

func (c *CallFile) begin(d CallDir) error {
	ours, err := lock(c.f, true)
	if err != nil {
		return err
	}
	if info, err := c.f.Stat(); err != nil || !ours || info.Size() > 0 {
		return errors.Join(errBarred, err)
	}
	if err := errors.Join(writeLine(c.f, c.fate), c.f.Sync(), syncPath(d.Path)); err != nil {
		return err
	}
	if late := time.Since(d.At); late > startWithin {
		return fmt.Errorf("it came %v after the call was announced", late.Round(time.Second))
	}
	return nil
}

// Running records the command's process, for a process that finds the wrapper dead.
func (c *CallFile) Running(id Identity) error {
	c.fate.Process = id.String()
	return writeLine(c.f, Fate{Process: c.fate.Process})
}

// End records the outcome, which other processes can read from then on.
func (c *CallFile) End(o *Outcome) error {
	c.fate.Outcome = o
	line, err := json.Marshal(c.fate)
	if err == nil {
		err = os.WriteFile(c.name+".new", line, 0o600)
	}
	if err != nil {
		return err
	}
	return os.Rename(c.name+".new", c.name)
}

// Close syncs the outcome and releases the lock.
func (c *CallFile) Close() error { return errors.Join(syncPath(c.name), c.f.Close()) }

// StopRequested returns why another process wants the command to end; zero: none does.
func (c *CallFile) StopRequested() Cut {
	text, _ := os.ReadFile(c.name + stopFile)
	why, _ := strconv.Atoi(string(text))
	return Cut(why)
}

func writeLine(f *os.File, fate Fate) error {
	line, err := json.Marshal(fate)
	if err == nil {
		_, err = f.Write(append(line, '\n'))
	}
	return err
}

// syncPath syncs a file or directory.
func syncPath(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}
