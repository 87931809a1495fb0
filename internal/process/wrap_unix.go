//go:build linux || darwin

package process

import (
	"errors"
	"io"
	"os"
	"os/exec"
	"syscall"

	"golang.org/x/sys/unix"
)

// Respawn starts the program of this process again, in its own session, with name as
// its only argument and only PATH, HOME, LANG and TMPDIR of the environment. It outlives
// this process. The results are its standard input and output.
func Respawn(name string) (io.WriteCloser, io.ReadCloser, error) {
	program, err := itself()
	if err != nil {
		return nil, nil, err
	}
	c := exec.Command(program) //nolint:noctx // it outlives this process
	c.Args, c.Dir, c.Env = []string{name}, "/", CleanEnv()
	c.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	in, err1 := c.StdinPipe()
	out, err2 := c.StdoutPipe()
	markCloseOnExec()
	if err := errors.Join(err1, err2, c.Start()); err != nil {
		return nil, nil, err
	}
	go func() { _, _ = c.Process.Wait() }()
	return in, out, nil
}

// lock locks a file until it is closed, unless another process has locked it.
func lock(f *os.File, exclusive bool) (locked bool, err error) {
	how := unix.LOCK_SH
	if exclusive {
		how = unix.LOCK_EX
	}
	err = unix.Flock(int(f.Fd()), how|unix.LOCK_NB)
	if errors.Is(err, unix.EWOULDBLOCK) {
		return false, nil
	}
	return err == nil, err
}
