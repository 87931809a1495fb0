package tool

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"os/signal"
	"sync"
	"syscall"
	"time"

	"github.com/pawl-run/pawl/internal/process"
	"github.com/pawl-run/pawl/internal/spool"
)

// A supervisor runs commands for a process that may die. It ends when that process has died or
// finished and every command has ended.
type supervisor struct {
	self  string
	calls sync.WaitGroup

	mu      sync.Mutex
	running map[*supervisedCall]bool
	ending  bool
	swept   map[string]time.Time // by directory
}

// supervise runs a supervisor until it ends.
func supervise(line *process.Line) {
	s := &supervisor{running: map[*supervisedCall]bool{}, swept: map[string]time.Time{}}
	if id, err := process.Self(); err == nil {
		s.self = id.String()
	}
	signals := make(chan os.Signal, 8)
	// Hangups are caught and not ignored: commands would inherit an ignored signal.
	signal.Notify(signals, syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP)
	alone := make(chan struct{})
	go func() {
		defer close(alone)
		for {
			conn, err := line.Accept()
			if err != nil {
				return
			}
			s.calls.Go(func() { s.serve(conn) })
		}
	}()
	over := make(chan struct{})
	go func() {
		<-alone
		s.calls.Wait()
		close(over)
	}()
	for {
		select {
		case <-over:
			return
		case sig := <-signals:
			if sig == syscall.SIGTERM {
				s.end()
				_ = line.Close() // later requests go to another supervisor
			}
		}
	}
}

// A supervisedCall is a command that runs.
type supervisedCall struct {
	stop context.CancelCauseFunc
	id   process.Identity
}

// shortest is the grace of commands when their supervisor is told to end. It is shorter than
// what an impatient user grants the supervisor itself.
const shortest = 30 * time.Millisecond

// end ends every command at once.
func (s *supervisor) end() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ending = true
	for c := range s.running {
		c.end()
	}
}

func (c *supervisedCall) end() {
	c.stop(context.Canceled)
	go func() { _ = c.id.End(shortest) }() // only the kernel can end what survives SIGKILL
}

// serve runs one command. It records the command before it starts and after it has ended, and only
// then answers.
func (s *supervisor) serve(conn net.Conn) {
	defer conn.Close()
	var ask request
	if receive(conn, &ask) != nil {
		return // the asking process died before its request was complete
	}
	began := time.Now()
	ask.Begin.Supervisor, ask.Begin.At = s.self, began.UTC()
	dir := spool.At(ask.Dir)
	file, refused := ask.begin(dir)
	if refused != "" {
		_ = send(conn, reply{Refused: refused})
		return
	}
	ctx, stop := context.WithCancelCause(context.Background())
	defer stop(nil)
	go waitForStop(ctx, conn, stop, began.Add(ask.Begin.Timeout))
	call := &supervisedCall{stop: stop}
	if p, ok := spool.ParsePromise(ask.Promise); ok && p.Expired(time.Now()) {
		stop(errExpired)
	}
	exit := ask.Job.perform(ctx, func(pid int) {
		if id, err := process.Identify(pid); err == nil {
			call.id = id
			_ = file.Running(id.String()) // without it only this process could end the command
		}
		s.mu.Lock()
		defer s.mu.Unlock()
		s.running[call] = true
		if s.ending {
			call.end()
		}
	})
	s.mu.Lock()
	delete(s.running, call)
	s.mu.Unlock()
	// The answer does not wait until the disk has the record: a process that gets the answer
	// makes it durable in the log; another finds the record here unless the machine is lost.
	_ = file.Exited(exit)
	_ = send(conn, reply{Exit: exit})
	_ = file.Close()
	s.sweep(dir)
}

// begin records the attempt, unless it may no longer start; refused says why.
func (r *request) begin(dir spool.Dir) (file *spool.File, refused string) {
	p, promised := spool.ParsePromise(r.Promise)
	if promised && !p.About(dir, process.Boot()) {
		return nil, fmt.Sprintf("the command would not be recorded where the log says: %s has changed", dir.Path())
	}
	file, err := dir.Begin(r.Begin)
	switch {
	case errors.Is(err, fs.ErrExist):
		return nil, "this attempt was settled, or made, by another process"
	case err != nil:
		return nil, "the command could not be recorded: " + err.Error()
	}
	return file, ""
}

// errExpired keeps a command from starting too late: a process on another host may rely on its
// never starting.
var errExpired = errors.New("it came too long after the call was announced")

// heed waits for the byte that ends a command. If the connection is closed, the command has the
// rest of its time.
func waitForStop(ctx context.Context, conn net.Conn, stop context.CancelCauseFunc, deadline time.Time) {
	var reason [1]byte
	if _, err := conn.Read(reason[:]); err == nil {
		stop(stopCause(reason[0]))
		return
	}
	select {
	case <-ctx.Done():
	case <-time.After(time.Until(deadline)):
		stop(context.DeadlineExceeded)
	}
}

func stopCause(reason byte) error {
	if reason == byteLate {
		return context.DeadlineExceeded
	}
	return context.Canceled
}

const (
	keep       = 7 * 24 * time.Hour // how long a record is kept unless removed earlier
	sweepEvery = time.Hour
)

func (s *supervisor) sweep(dir spool.Dir) {
	now := time.Now()
	s.mu.Lock()
	due := now.Sub(s.swept[dir.Path()]) >= sweepEvery
	if due {
		s.swept[dir.Path()] = now
	}
	s.mu.Unlock()
	if due {
		_ = dir.Sweep(now.Add(-keep)) // a record that cannot be removed is tried again next time
	}
}
