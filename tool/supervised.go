package tool

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"path/filepath"
	"time"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/internal/process"
	"github.com/pawl-run/pawl/internal/spool"
)

// A request is what a process asks of a supervisor, and a reply is the supervisor's one answer. In
// between, the process may send one byte to end the command. If the connection closes without
// that byte, the process has died, and the command goes on.
type request struct {
	Job     job
	Dir     string
	Promise string // of a record, as the log has it for the attempt; empty: none
	Begin   spool.Begin
}

type reply struct {
	Exit    *spool.Exit
	Refused string // why nothing was started
}

// The bytes that end a command, by reason.
const (
	byteStop = 's'
	byteLate = 'l'
)

func attempt(inv pawl.Invocation) spool.Attempt {
	return spool.Attempt{Run: inv.Run, Call: inv.Call, Key: inv.Key, Number: inv.Attempt}
}

// supervised runs the command under the supervisor.
func (c *command) supervised(ctx context.Context, j *job, inv pawl.Invocation) (*spool.Exit, error) {
	if ctx.Err() != nil {
		return nil, tooLate(ctx)
	}
	dir, secrets, err := supervision.place()
	if err != nil {
		return nil, notRun("the command could not be recorded: %w", err)
	}
	if p, ok := spool.ParsePromise(inv.Supervised); inv.Supervised != "" && (!ok || !p.About(dir, process.Boot())) {
		return nil, notRun("the command would not be recorded where the log says: %s has changed", dir.Path())
	}
	if len(secrets) > 0 {
		all := maps.Clone(secrets)
		maps.Copy(all, j.Secrets)
		j.Secrets = all
	}
	if j.Dir, err = filepath.Abs(j.Dir); err != nil { // the supervisor has another working directory
		return nil, err
	}
	ask := request{Job: *j, Dir: dir.Path(), Promise: inv.Supervised, Begin: spool.Begin{
		Attempt: attempt(inv), Argv: argvDigest(j.Argv), Timeout: c.info.Timeout,
	}}
	ask.Begin.Timeout = cmp.Or(ask.Begin.Timeout, defaultTimeout)
	conn, err := supervision.dial()
	if err != nil {
		return nil, notRun("the supervisor of the command could not be started: %w", err)
	}
	defer conn.Close()
	answered := make(chan error, 1)
	var answer reply
	go func() {
		err := send(conn, ask)
		if err == nil {
			err = receive(conn, &answer)
		}
		answered <- err
	}()
	select {
	case err = <-answered:
	case <-ctx.Done():
		if err := c.stop(ctx, conn, dir, ask.Begin.Attempt); err != nil {
			return nil, err
		}
		select {
		case err = <-answered:
		case <-time.After(c.grace + settling):
			return nil, stopped(ctx, errors.New("its supervisor does not answer"))
		}
	}
	switch {
	case err != nil:
		return c.unsupervised(dir, ask.Begin.Attempt, err)
	case answer.Exit == nil:
		return nil, notRun("%s", answer.Refused)
	}
	return answer.Exit, nil
}

// stop makes the supervisor end a command that it has started. A command that it has not started
// by now never starts, which the error says.
func (c *command) stop(ctx context.Context, conn net.Conn, dir spool.Dir, a spool.Attempt) error {
	switch fate, err := dir.Fence(a); {
	case err != nil:
		return stopped(ctx, fmt.Errorf("whether it was started is not known: %w", err))
	case fate.Never != nil:
		return tooLate(ctx)
	}
	reason := byte(byteStop)
	if errors.Is(context.Cause(ctx), context.DeadlineExceeded) {
		reason = byteLate
	}
	// The supervisor has recorded the attempt, so it has read the whole request, and this byte
	// does not land inside of it. If the write fails, there will be no answer either.
	_, _ = conn.Write([]byte{reason})
	return nil
}

// unsupervised handles a supervisor that has died before it answered: it ends the command if the
// supervisor had started it.
func (c *command) unsupervised(dir spool.Dir, a spool.Attempt, err error) (*spool.Exit, error) {
	fate, lost := dir.Fence(a)
	switch {
	case lost == nil && fate.Never != nil:
		return nil, notRun("the supervisor of the command died before it started the command: %w", err)
	case fate.Exit != nil:
		return fate.Exit, nil
	case fate.Process != "":
		if id, err := process.ParseIdentity(fate.Process); err == nil {
			_ = id.End(c.grace) // only the kernel can end what survives SIGKILL
		}
	}
	return nil, &unknownError{fmt.Errorf("its supervisor has died, so the command was ended; whether it took effect is unknown: %w", errors.Join(err, lost))}
}

// notRunError says that a call did not run and will not.
type notRunError struct{ error }

// NotRun identifies such an error to an engine.
func (*notRunError) NotRun() bool { return true }

func (e *notRunError) Unwrap() error { return e.error }

func notRun(why string, args ...any) error {
	return &notRunError{fmt.Errorf("not run: "+why, args...)}
}

// tooLate returns the error of a command whose context ended before the command was started. It
// wraps both the context's error and the cause.
func tooLate(ctx context.Context) error {
	cause := context.Cause(ctx)
	text := fmt.Sprintf("not run: stopped before it was started: %v", cause)
	if errors.Is(cause, context.DeadlineExceeded) {
		text = "not run: its time was over before it was started"
	}
	return &notRunError{&stopError{text: text, is: []error{ctx.Err(), cause}}}
}

// unknownError says that it is unknown whether the command took effect.
type unknownError struct{ error }

// Unknown identifies such an error to an engine.
func (*unknownError) Unknown() bool { return true }

func (e *unknownError) Unwrap() error { return e.error }

// defaultTimeout is the machine's default for tools.
const defaultTimeout = time.Minute

func argvDigest(argv []string) string {
	text, _ := json.Marshal(argv) // strings always marshal
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}

// dial connects to the supervisor and starts one if none is running.
func (s *supervising) dial() (net.Conn, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.line != nil {
		conn, err := s.line.Dial()
		if err == nil {
			return conn, nil
		}
		s.line.Close()
		s.line = nil
	}
	line, err := process.Respawn(supervisorName)
	if err != nil {
		return nil, err
	}
	s.line = line
	return line.Dial()
}

// send writes a message: its length in four bytes, little-endian, then JSON.
func send(w io.Writer, message any) error {
	content, err := json.Marshal(message)
	if err != nil {
		return err
	}
	data := binary.LittleEndian.AppendUint32(make([]byte, 0, 4+len(content)), uint32(len(content)))
	_, err = w.Write(append(data, content...))
	return err
}

func receive(r io.Reader, message any) error {
	var length [4]byte
	if _, err := io.ReadFull(r, length[:]); err != nil {
		return err
	}
	content := make([]byte, binary.LittleEndian.Uint32(length[:]))
	if _, err := io.ReadFull(r, content); err != nil {
		return err
	}
	return json.Unmarshal(content, message)
}
