package tool

import (
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

// request is what a supervisor is asked to do, and reply what it answers, once.
// The asking side may send one letter in between to have the command ended. If
// it is gone without a letter it has died, and the command goes on.
type request struct {
	Job   job
	Dir   string
	Begin spool.Begin
}

type reply struct {
	Exit    *spool.Exit
	Refused string // nothing was started, because of this
}

// The letters say why a command is to be ended.
const (
	letterStop = 's'
	letterLate = 'l'
)

func attempt(inv pawl.Invocation) spool.Attempt {
	return spool.Attempt{Run: inv.Run, Call: inv.Call, Key: inv.Key, Number: inv.Attempt}
}

// supervised runs the command under the supervisor.
func (c *command) supervised(ctx context.Context, j *job, inv pawl.Invocation) (*spool.Exit, error) {
	if ctx.Err() != nil {
		return nil, stopped(ctx, errors.New("it was not started"))
	}
	dir, secrets, err := supervision.place()
	if err != nil {
		return nil, fmt.Errorf("the command was not started, because it could not be recorded: %w", err)
	}
	if inv.Supervised != "" && !here(dir, inv.Supervised) {
		return nil, fmt.Errorf("the command was not started, because it would not be recorded where the log says: %s has changed", dir.Path())
	}
	if len(secrets) > 0 {
		all := maps.Clone(secrets)
		maps.Copy(all, j.Secrets)
		j.Secrets = all
	}
	if j.Dir, err = filepath.Abs(j.Dir); err != nil { // the supervisor is elsewhere
		return nil, err
	}
	ask := request{Job: *j, Dir: dir.Path(), Begin: spool.Begin{
		Attempt: attempt(inv), Argv: argvDigest(j.Argv), Timeout: c.info.Timeout,
	}}
	if ask.Begin.Timeout == 0 {
		ask.Begin.Timeout = defaultTimeout
	}
	conn, err := supervision.dial()
	if err != nil {
		return nil, fmt.Errorf("the command was not started, because its supervisor could not be: %w", err)
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
		letter := byte(letterStop)
		if errors.Is(context.Cause(ctx), context.DeadlineExceeded) {
			letter = letterLate
		}
		_, _ = conn.Write([]byte{letter}) // if it fails there will be no answer either
		select {
		case err = <-answered:
		case <-time.After(c.grace + settling):
			return nil, stopped(ctx, errors.New("its supervisor does not answer"))
		}
	}
	switch {
	case err != nil:
		return nil, c.unsupervised(dir, ask.Begin.Attempt, err)
	case answer.Exit == nil:
		return nil, fmt.Errorf("the command was not started: %s", answer.Refused)
	}
	return answer.Exit, nil
}

// unsupervised ends a command whose supervisor has died, and says so.
func (c *command) unsupervised(dir spool.Dir, a spool.Attempt, err error) error {
	switch fate, lost := dir.Read(a); {
	case lost != nil:
		return fmt.Errorf("its supervisor has died, apparently before it started the command: %w", err)
	case fate.Process != "":
		if id, err := process.ParseIdentity(fate.Process); err == nil {
			_ = id.End(c.grace) // what does not even end by SIGKILL is the kernel's
		}
	}
	return &unknownError{fmt.Errorf("its supervisor has died, so the command was ended; whether it took effect is unknown: %w", err)}
}

// unknownError says that nobody knows whether the command took effect.
type unknownError struct{ error }

// Unknown is how an engine knows such an error.
func (*unknownError) Unknown() bool { return true }

func (e *unknownError) Unwrap() error { return e.error }

// defaultTimeout is the machine's, for tools that do not say.
const defaultTimeout = time.Minute

func argvDigest(argv []string) string {
	text, _ := json.Marshal(argv) // strings always marshal
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}

// dial connects to the supervisor, which is started if there is none, or none
// any more.
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

// send writes a message: its length in four bytes, the lower one first, and JSON.
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
