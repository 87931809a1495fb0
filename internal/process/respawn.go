//go:build linux || darwin

package process

import (
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"runtime"
	"syscall"

	"golang.org/x/sys/unix"
)

// A Line joins a program and its second process, which outlives it; see
// [Respawn]. Over it any number of connections are made, each independent of the
// others. It is safe for concurrent use.
type Line struct{ conn *net.UnixConn }

// Respawn starts the program of this process once more, in a session of its
// own, with name as its only argument and with nothing of this process but PATH,
// HOME, LANG and TMPDIR. There it calls [Respawned].
//
// The second process finds the other end of the line closed when this one dies.
func Respawn(name string) (*Line, error) {
	program, err := itself()
	if err != nil {
		return nil, err
	}
	ours, theirs, err := pair()
	if err != nil {
		return nil, err
	}
	defer theirs.Close()
	conn, err := unixConn(ours)
	if err != nil {
		return nil, err
	}
	// Not our standard error either: who waits for the end of it would wait for
	// the second process too.
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		conn.Close()
		return nil, err
	}
	defer null.Close()
	markCloseOnExec()
	proc, err := os.StartProcess(program, []string{name}, &os.ProcAttr{
		Dir: "/", Env: CleanEnv(), Files: []*os.File{null, null, null, theirs}, Sys: &syscall.SysProcAttr{Setsid: true},
	})
	if err != nil {
		conn.Close()
		return nil, err
	}
	go func() { _, _ = proc.Wait() }()
	return &Line{conn}, nil
}

// itself is the program that runs, on Linux even if its file was replaced since.
func itself() (string, error) {
	if runtime.GOOS == "linux" {
		return "/proc/self/exe", nil
	}
	return os.Executable()
}

// lineFD is where the second process finds the line.
const lineFD = 3

// Respawned returns the line, if this process was started by [Respawn] with that
// name. Nothing a user says can look like it: the name is the zeroth argument,
// no other follows, and the descriptor is a socket.
func Respawned(name string) (*Line, bool) {
	if len(os.Args) != 1 || os.Args[0] != name {
		return nil, false
	}
	if kind, err := unix.GetsockoptInt(lineFD, unix.SOL_SOCKET, unix.SO_TYPE); err != nil || kind != unix.SOCK_STREAM {
		return nil, false
	}
	conn, err := unixConn(os.NewFile(lineFD, "line"))
	if err != nil {
		return nil, false
	}
	return &Line{conn}, true
}

// Dial makes a connection. It does not wait until the other side takes it.
func (l *Line) Dial() (net.Conn, error) {
	ours, theirs, err := pair()
	if err != nil {
		return nil, err
	}
	defer theirs.Close()
	conn, err := unixConn(ours)
	if err != nil {
		return nil, err
	}
	if _, _, err := l.conn.WriteMsgUnix([]byte{1}, syscall.UnixRights(int(theirs.Fd())), nil); err != nil {
		conn.Close()
		return nil, err
	}
	return conn, nil
}

// Accept waits for the next connection; io.EOF: the other process is gone.
func (l *Line) Accept() (net.Conn, error) {
	var b [1]byte
	oob := make([]byte, syscall.CmsgSpace(4))
	n, m, _, _, err := l.conn.ReadMsgUnix(b[:], oob)
	if err != nil {
		return nil, err
	}
	if n == 0 {
		return nil, io.EOF
	}
	messages, err := syscall.ParseSocketControlMessage(oob[:m])
	if err != nil || len(messages) != 1 {
		return nil, errors.Join(errors.New("a connection came without its descriptor"), err)
	}
	fds, err := syscall.ParseUnixRights(&messages[0])
	if err != nil || len(fds) != 1 {
		return nil, errors.Join(errors.New("a connection came without its descriptor"), err)
	}
	return unixConn(os.NewFile(uintptr(fds[0]), "connection"))
}

// Close ends the line, not the connections that were made over it.
func (l *Line) Close() error { return l.conn.Close() }

// pair makes two sockets that are joined and that no command inherits.
func pair() (ours, theirs *os.File, err error) {
	syscall.ForkLock.RLock()
	defer syscall.ForkLock.RUnlock()
	fds, err := syscall.Socketpair(syscall.AF_UNIX, syscall.SOCK_STREAM, 0)
	if err != nil {
		return nil, nil, err
	}
	for _, fd := range fds {
		syscall.CloseOnExec(fd)
	}
	return os.NewFile(uintptr(fds[0]), "ours"), os.NewFile(uintptr(fds[1]), "theirs"), nil
}

// unixConn makes a connection of a socket, whose file it closes.
func unixConn(f *os.File) (*net.UnixConn, error) {
	defer f.Close()
	conn, err := net.FileConn(f)
	if err != nil {
		return nil, err
	}
	u, ok := conn.(*net.UnixConn)
	if !ok {
		conn.Close()
		return nil, fmt.Errorf("%s is no socket of this machine", f.Name())
	}
	return u, nil
}
