//go:build linux || darwin

package process

import (
	"io"
	"os"
	"runtime"
	"syscall"
	"time"
)

// mostTold is the most bytes of a step's report.
const mostTold = 4 << 10

// start starts the command, or the step before it, and returns the descriptor
// with the step's report; nil: there is no step.
func start(path string, c Command, files []*os.File) (proc *os.Process, told *os.File, err error) {
	attr := &os.ProcAttr{Dir: c.Dir, Env: c.Env, Files: files}
	if c.Through == nil {
		attr.Sys = &syscall.SysProcAttr{Setsid: true}
		proc, err = os.StartProcess(path, c.Argv, attr)
		return proc, nil, err
	}
	told, tell, err := os.Pipe()
	if err != nil {
		return nil, nil, err
	}
	defer tell.Close()
	self, err := itself()
	if err == nil {
		sys := *c.Through.Attr
		sys.Setsid = true
		attr.Sys, attr.Files = &sys, append(files[:len(files):len(files)], tell)
		argv := append(append(append([]string{}, c.Through.Argv...), path), c.Argv...)
		proc, err = os.StartProcess(self, argv, attr)
	}
	if err != nil {
		told.Close()
		return nil, nil, err
	}
	return proc, told, nil
}

// notStarted returns why the step did not execute the command. The process must
// be gone.
func (c Command) notStarted(told *os.File) error {
	if told == nil {
		return nil
	}
	_ = told.SetReadDeadline(time.Now().Add(pipeDelay)) // the writing end is closed by now
	said, _ := io.ReadAll(io.LimitReader(told, mostTold))
	switch errno, reason := c.Through.Explain(said); {
	case reason != "":
		return &StartError{Program: c.Argv[0], Reason: reason}
	case errno == syscall.EACCES:
		return &StartError{Program: c.Argv[0], Reason: "its cage does not let it be read and executed; name it, and what its first line names, under read", Err: errno}
	case errno != 0:
		return refused(c.Argv[0], errno)
	}
	return nil
}

// itself returns the running program, on Linux even if its file was replaced.
func itself() (string, error) {
	if runtime.GOOS == "linux" {
		return "/proc/self/exe", nil
	}
	return os.Executable()
}
