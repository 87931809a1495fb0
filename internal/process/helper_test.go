//go:build linux || darwin

package process

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// The test binary is its own helper program: with PAWL_HELPER set it plays that part instead.
func TestMain(m *testing.M) {
	if part := os.Getenv("PAWL_HELPER"); part != "" {
		play(part, os.Getenv("PAWL_ARG"))
		os.Exit(0)
	}
	os.Exit(m.Run())
}

func play(part, arg string) {
	if part != "stubborn" {
		ready()
	}
	switch part {
	case "print":
		fmt.Print(arg)
	case "both":
		for i := range 100 {
			fmt.Fprintf(os.Stdout, "out %d\n", i)
			fmt.Fprintf(os.Stderr, "err %d\n", i)
		}
	case "exit":
		code, _ := strconv.Atoi(arg)
		os.Exit(code)
	case "kill":
		_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
		sleep()
	case "hang":
		fmt.Println("hanging")
		sleep()
	case "orderly": // ends in good order when asked
		asked := make(chan os.Signal, 1)
		signal.Notify(asked, syscall.SIGTERM)
		fmt.Println("ready")
		<-asked
		fmt.Println("bye")
		os.Exit(7)
	case "stubborn": // ignores SIGTERM, and so do its children and theirs
		signal.Ignore(syscall.SIGTERM)
		if depth, _ := strconv.Atoi(arg); depth > 0 {
			spawn("stubborn", strconv.Itoa(depth-1), nil)
		}
		fmt.Println("stubborn", arg)
		ready()
		sleep()
	case "leave": // exits at once; a child stays and holds the pipes
		spawn(arg, "0", nil)
		fmt.Println("leader done")
	case "group": // like leave, but the child has a process group of its own, as under job control
		spawn(arg, "0", &syscall.SysProcAttr{Setpgid: true})
		fmt.Println("leader done")
	case "daemon": // the child starts a session of its own and holds the pipes
		pid := spawn(arg, "0", &syscall.SysProcAttr{Setsid: true})
		fmt.Println(pid)
	case "flood":
		left, _ := strconv.ParseInt(arg, 10, 64)
		chunk := bytes.Repeat([]byte("0123456789abcde\n"), 1<<12)
		for left > 0 {
			n := min(left, int64(len(chunk)))
			if _, err := os.Stdout.Write(chunk[:n]); err != nil {
				os.Exit(1)
			}
			left -= n
		}
	case "chatter": // a daemon that never stops writing
		for {
			if _, err := os.Stdout.WriteString("chatter\n"); err != nil {
				os.Exit(0)
			}
		}
	case "cat":
		_, _ = io.Copy(os.Stdout, os.Stdin)
	case "closestdin":
		os.Stdin.Close()
		time.Sleep(50 * time.Millisecond)
		fmt.Println("not interested")
	case "env":
		fmt.Print(strings.Join(os.Environ(), "\n"))
	case "fds": // by inode, as the Go runtime opens files of its own
		for fd := 3; fd < 200; fd++ {
			var st syscall.Stat_t
			if err := syscall.Fstat(fd, &st); err == nil && strconv.FormatUint(uint64(st.Ino), 10) == arg { //nolint:unconvert // an Ino has another type elsewhere
				fmt.Println("inherited", fd)
			}
		}
	case "tty":
		if f, err := os.OpenFile("/dev/tty", os.O_RDWR, 0); err == nil {
			f.Close()
			fmt.Print("has a terminal")
		}
	case "pwd":
		dir, _ := syscall.Getwd()
		fmt.Print(dir)
	default:
		fmt.Fprintln(os.Stderr, "no such part:", part)
		os.Exit(99)
	}
}

// sleep outlasts every test, but not for ever should a test fail to kill.
func sleep() { time.Sleep(time.Minute) }

// spawn starts another helper that inherits the pipes, waits until it is ready and does not reap it.
func spawn(part, arg string, attr *syscall.SysProcAttr) int {
	r, w, err := os.Pipe()
	if err != nil {
		fail(err)
	}
	self, _ := os.Executable()
	cmd := exec.Command(self)
	cmd.Env = []string{"PAWL_HELPER=" + part, "PAWL_ARG=" + arg, "PAWL_READY=3"}
	cmd.Stdout, cmd.Stderr, cmd.SysProcAttr = os.Stdout, os.Stderr, attr
	cmd.ExtraFiles = []*os.File{w}
	if err := cmd.Start(); err != nil {
		fail(err)
	}
	w.Close()
	_, _ = io.Copy(io.Discard, r) // until ready closes it
	return cmd.Process.Pid
}

// ready tells spawn that the part has begun.
func ready() {
	if os.Getenv("PAWL_READY") != "" {
		os.NewFile(3, "ready").Close()
	}
}

func fail(err error) {
	fmt.Fprintln(os.Stderr, err)
	os.Exit(98)
}

// helper is the command that plays a part.
func helper(t testing.TB, part, arg string) Command {
	self, err := os.Executable()
	must(t, err)
	return Command{
		Argv: []string{self},
		// Under the race detector a program would wait a second before it exits.
		Env: []string{"PAWL_HELPER=" + part, "PAWL_ARG=" + arg, "GORACE=atexit_sleep_ms=0"},
	}
}
