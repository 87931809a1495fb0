//go:build linux || darwin

package process

import (
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"syscall"
	"time"
)

const (
	// pipeDelay is how long a pipe may stay open after the session is gone.
	// Only a process that has left the session can still hold it.
	pipeDelay = 250 * time.Millisecond
	// pipeSize is the most bytes a pipe may still contain then: Linux has 64
	// KiB, and 1 MiB at most for an unprivileged process; macOS has 64 KiB.
	pipeSize = 1 << 20
	copySize = 64 << 10
)

// pipes are the three descriptors of a command and the parent's ends of them.
type pipes struct {
	child  [3]*os.File
	stdin  *os.File
	output []*stream
	wait   sync.WaitGroup
}

// stream copies one pipe to a writer.
type stream struct {
	name string
	from *os.File
	to   io.Writer
	err  error // of the writer
}

func newPipes(c Command) (p *pipes, err error) {
	p = &pipes{}
	defer func() {
		if err != nil {
			p.abandon()
		}
	}()
	if len(c.Stdin) > 0 || c.Feed != nil {
		if p.child[0], p.stdin, err = os.Pipe(); err != nil {
			return p, err
		}
	}
	if err = p.add(1, "stdout", c.Stdout); err != nil {
		return p, err
	}
	if c.Stdout != nil && same(c.Stdout, c.Stderr) {
		p.child[2] = p.child[1]
	} else if err = p.add(2, "stderr", c.Stderr); err != nil {
		return p, err
	}
	for i, f := range p.child {
		if f == nil {
			if p.child[i], err = os.OpenFile(os.DevNull, os.O_RDWR, 0); err != nil {
				return p, err
			}
		}
	}
	return p, nil
}

func (p *pipes) add(fd int, name string, to io.Writer) error {
	if to == nil {
		return nil
	}
	r, w, err := os.Pipe()
	if err != nil {
		return err
	}
	p.child[fd] = w
	p.output = append(p.output, &stream{name: name, from: r, to: to})
	return nil
}

// same compares two writers, whose types may not be comparable.
func same(a, b io.Writer) (equal bool) {
	defer func() { _ = recover() }()
	return a == b
}

// abandon closes everything; the command was not started.
func (p *pipes) abandon() {
	p.closeChild()
	if p.stdin != nil {
		p.stdin.Close()
	}
	for _, s := range p.output {
		s.from.Close()
	}
}

func (p *pipes) closeChild() {
	for _, f := range p.child {
		if f != nil {
			f.Close() // closes a shared one twice, which is harmless
		}
	}
}

// start begins to copy; the command has its own ends by now.
func (p *pipes) start(stdin []byte, feed func(io.Writer)) {
	p.closeChild()
	switch {
	case feed != nil:
		go func() { // Run does not wait for it: only the feeder may be able to end it
			feed(p.stdin)
			p.stdin.Close()
		}()
	case p.stdin != nil:
		p.wait.Go(func() {
			// A command that does not read its input has not failed: the write
			// ends with EPIPE when the command closes it, or with the deadline.
			_, _ = p.stdin.Write(stdin)
			p.stdin.Close()
		})
	}
	for _, s := range p.output {
		p.wait.Go(s.carry)
	}
}

// finish waits briefly for the end of the streams, then breaks them off. It
// returns the errors of the writers.
func (p *pipes) finish() error {
	if p.stdin != nil {
		_ = p.stdin.SetWriteDeadline(time.Now()) // fails if already closed
	}
	stop := time.Now().Add(pipeDelay)
	for _, s := range p.output {
		_ = s.from.SetReadDeadline(stop)
	}
	p.wait.Wait()
	var errs []error
	for _, s := range p.output {
		if s.err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", s.name, s.err))
		}
	}
	return errors.Join(errs...)
}

func (s *stream) carry() {
	defer s.from.Close()
	buf := make([]byte, copySize)
	for {
		n, err := s.from.Read(buf)
		s.write(buf[:n])
		if errors.Is(err, os.ErrDeadlineExceeded) {
			s.drain(buf)
		}
		if err != nil {
			return
		}
	}
}

// write writes bytes until the writer fails; from then on they are dropped, so
// that the command is not affected.
func (s *stream) write(b []byte) {
	if len(b) > 0 && s.err == nil {
		_, s.err = s.to.Write(b)
	}
}

// drain reads the present content of the pipe without waiting. Without it, the
// end of the output would be lost if the deadline passed because of a slow
// writer.
func (s *stream) drain(buf []byte) {
	raw, err := s.from.SyscallConn()
	if err != nil {
		return
	}
	_ = raw.Control(func(fd uintptr) {
		for left := pipeSize; left > 0; {
			n, err := syscall.Read(int(fd), buf[:min(left, len(buf))])
			if err == syscall.EINTR {
				continue
			}
			if n <= 0 {
				return
			}
			s.write(buf[:n])
			left -= n
		}
	})
}
