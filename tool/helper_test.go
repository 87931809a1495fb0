//go:build linux || darwin

package tool_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/pawl-run/pawl/tool"
)

// The test binary is its own helper program: called with this word it plays the
// part that follows instead of running tests.
const playing = "play"

func TestMain(m *testing.M) {
	if os.Args[0] == tool.WrapperName || os.Args[0] == "pawl-cage-1" {
		for exists(stalling()) {
			time.Sleep(time.Millisecond)
		}
		tool.Supervise()
		os.Exit(96) // it was to wrap a command
	}
	if len(os.Args) > 2 && os.Args[1] == playing {
		play(os.Args[2], os.Args[3:])
		syscall.Exit(0) // unlike os.Exit, without a second of waiting for races
	}
	os.Exit(m.Run())
}

// stalling is the file while which wrappers do nothing.
func stalling() string { return filepath.Join(os.TempDir(), "pawl-test-stall") }

// part is the command line that plays a part.
func part(t testing.TB, name string, args ...string) []string {
	self, err := os.Executable()
	if err != nil { // a part that starts another has no test
		panic(err)
	}
	return append([]string{self, playing, name}, args...)
}

func play(name string, args []string) {
	switch name {
	case "try":
		try(args)
	case "cat":
		_, _ = io.Copy(os.Stdout, os.Stdin)
	case "words": // its arguments, as a text of JSON
		text, _ := json.Marshal(args)
		quoted, _ := json.Marshal(string(text))
		fmt.Println(string(quoted))
	case "read": // a file into which what comes on stdin goes
		in, _ := io.ReadAll(os.Stdin)
		_ = os.WriteFile(args[0], in, 0o600)
	case "say": // stdout, stderr, exit code
		fmt.Fprint(os.Stdout, unescape(args[0]))
		if len(args) > 1 {
			fmt.Fprint(os.Stderr, unescape(args[1]))
		}
		if len(args) > 2 {
			code, _ := strconv.Atoi(args[2])
			syscall.Exit(code)
		}
	case "count": // lines of two streams, as many as said
		n, _ := strconv.Atoi(args[0])
		code, _ := strconv.Atoi(args[1])
		out, err := bufio.NewWriter(os.Stdout), bufio.NewWriter(os.Stderr)
		for i := range n {
			fmt.Fprintf(out, "%d\n", i)
			fmt.Fprintf(err, "error %d\n", i)
		}
		out.Flush()
		err.Flush()
		syscall.Exit(code)
	case "env":
		fmt.Print(strings.Join(os.Environ(), "\n"))
	case "pwd":
		dir, _ := os.Getwd()
		fmt.Print(dir)
	case "die":
		fmt.Print("half a res")
		n, _ := strconv.Atoi(args[0])
		_ = syscall.Kill(os.Getpid(), syscall.Signal(n))
		time.Sleep(time.Minute)
	case "flood": // MiB
		n, _ := strconv.Atoi(args[0])
		chunk := bytes.Repeat([]byte("0123456789abcde\n"), 1<<16)
		for range n {
			if _, err := os.Stdout.Write(chunk); err != nil {
				os.Exit(1)
			}
		}
	case "closestdin":
		os.Stdin.Close()
		time.Sleep(20 * time.Millisecond)
		fmt.Print("not interested")
	case "hang": // writes its id into a file when ready
		fmt.Println("hanging")
		fmt.Fprintln(os.Stderr, "and warning")
		ready(args[0])
		time.Sleep(time.Minute)
	case "orderly": // as hang, but ends well when asked
		asked := make(chan os.Signal, 1)
		signal.Notify(asked, syscall.SIGTERM)
		ready(args[0])
		<-asked
		fmt.Println("tidied up")
	case "stubborn": // ignores SIGTERM, as does its child, which holds the pipes as well
		signal.Ignore(syscall.SIGTERM)
		if len(args) > 1 {
			child(part(nil, "stubborn", args[1]))
		}
		ready(args[0])
		time.Sleep(time.Minute)
	case "leave": // ends well and leaves a child with the pipes
		child(part(nil, "stubborn", args[0]))
		for !exists(args[0]) {
			time.Sleep(time.Millisecond)
		}
		fmt.Println("done")
	default:
		fmt.Fprintln(os.Stderr, "no such part:", name)
		os.Exit(99)
	}
}

// unescape reads Go's escapes, but lets quotes stand for themselves.
func unescape(s string) string {
	text, err := strconv.Unquote(`"` + strings.ReplaceAll(s, `"`, `\"`) + `"`)
	if err != nil {
		fmt.Fprintln(os.Stderr, err, s)
		syscall.Exit(97)
	}
	return text
}

func child(argv []string) {
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	if err := cmd.Start(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(98)
	}
}

// ready writes the process id, in a file that is there when it is whole.
func ready(file string) {
	_ = os.WriteFile(file+".new", []byte(strconv.Itoa(os.Getpid())), 0o600)
	_ = os.Rename(file+".new", file)
}

func exists(file string) bool {
	_, err := os.Stat(file)
	return err == nil
}
