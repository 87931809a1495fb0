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

// supervisor runs commands for a process that may die. It ends when that has
// died, or is done, and every command has ended.
type supervisor struct {
	self  string
	calls sync.WaitGroup

	mu      sync.Mutex
	running map[*supervisedCall]bool
	ending  bool
	swept   map[string]time.Time // by directory
}

// supervise does the work of a supervisor.
func supervise(line *process.Line) {
	s := &supervisor{running: map[*supervisedCall]bool{}, swept: map[string]time.Time{}}
	if id, err := process.Self(); err == nil {
		s.self = id.String()
	}
	signals := make(chan os.Signal, 8)
	// Hangups are caught and not ignored: what is ignored stays so in commands.
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
				_ = line.Close() // what is asked from now on is asked of another
			}
		}
	}
}

// supervisedCall is a command that runs.
type supervisedCall struct {
	stop context.CancelCauseFunc
	id   process.Identity
}

// shortest is the grace of commands whose supervisor is told to end. It is less
// than what an impatient user leaves to the supervisor itself.
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
	go func() { _ = c.id.End(shortest) }() // what does not even end by SIGKILL is the kernel's
}

// serve runs one command. It is recorded before it starts and when it has ended,
// and only then answered for.
func (s *supervisor) serve(conn net.Conn) {
	defer conn.Close()
	var ask request
	if receive(conn, &ask) != nil {
		return // who asked has died before he had asked
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
	go heed(ctx, conn, stop, began.Add(ask.Begin.Timeout))
	call := &supervisedCall{stop: stop}
	if p, ok := spool.ParsePromise(ask.Promise); ok && p.Expired(time.Now()) {
		stop(errExpired)
	}
	exit := ask.Job.perform(ctx, func(pid int) {
		if id, err := process.Identify(pid); err == nil {
			call.id = id
			_ = file.Running(id.String()) // without, nobody could end it but we
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
	// The answer does not wait until the disk has the record: who gets it makes it
	// durable in the log, and who does not finds it here unless the machine is lost.
	_ = file.Exited(exit)
	_ = send(conn, reply{Exit: exit})
	_ = file.Close()
	s.sweep(dir)
}

// begin records the attempt, unless it may not be made any more; refused says why.
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

// errExpired keeps a command from starting that is asked for too late: a process
// on another host may rely on that.
var errExpired = errors.New("it came too long after the call was announced")

// heed waits for the letter that ends a command. If none can come any more, the
// command has the rest of its time.
func heed(ctx context.Context, conn net.Conn, stop context.CancelCauseFunc, deadline time.Time) {
	var letter [1]byte
	if _, err := conn.Read(letter[:]); err == nil {
		stop(letterCause(letter[0]))
		return
	}
	select {
	case <-ctx.Done():
	case <-time.After(time.Until(deadline)):
		stop(context.DeadlineExceeded)
	}
}

func letterCause(letter byte) error {
	if letter == letterLate {
		return context.DeadlineExceeded
	}
	return context.Canceled
}

const (
	keep       = 7 * 24 * time.Hour // how long a record is kept that nobody removes
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
		_ = dir.Sweep(now.Add(-keep)) // what stays is swept the next time
	}
}
