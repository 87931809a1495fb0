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

// A Line connects a program with its second process, which outlives it; see
// [Respawn]. It carries any number of independent connections. It is safe for
// concurrent use.
type Line struct{ conn *net.UnixConn }

// Respawn starts the program of this process again, in its own session, with
// name as its only argument and only PATH, HOME, LANG and TMPDIR of the
// environment. The second process calls [Respawned].
//
// The second process sees the line closed when this one dies.
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
	// Do not pass on standard error: a reader that waits for its end would wait
	// for the second process too.
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

// itself returns the running program, on Linux even if its file was replaced.
func itself() (string, error) {
	if runtime.GOOS == "linux" {
		return "/proc/self/exe", nil
	}
	return os.Executable()
}

// lineFD is the line's descriptor in the second process.
const lineFD = 3

// Respawned returns the line, if this process was started by [Respawn] with
// that name. No command line of a user looks like it: the name is argv[0], no
// argument follows, and the descriptor is a socket.
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

// Dial opens a connection. It does not wait until the other side accepts it.
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

// Close closes the line, but not its connections.
func (l *Line) Close() error { return l.conn.Close() }

// pair returns two connected sockets that no command inherits.
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

// unixConn converts a socket to a connection and closes its file.
func unixConn(f *os.File) (*net.UnixConn, error) {
	defer f.Close()
	conn, err := net.FileConn(f)
	if err != nil {
		return nil, err
	}
	u, ok := conn.(*net.UnixConn)
	if !ok {
		conn.Close()
		return nil, fmt.Errorf("%s is not a Unix socket", f.Name())
	}
	return u, nil
}
