//go:build linux || darwin

package process

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"

	"github.com/pawl-run/pawl/internal/testkit/check"
)

// outcome runs c, with everything it prints, and checks that nobody of its session is left.
func outcome(t *testing.T, ctx context.Context, c Command) (Exit, string, error) {
	t.Helper()
	var out bytes.Buffer
	var session int
	if c.Stdout == nil {
		c.Stdout, c.Stderr = &out, &out
	}
	c.Started = func(pid int) { session = pid }
	exit, err := Run(ctx, c)
	if left := members(session); session != 0 && len(left) > 0 {
		t.Errorf("processes of session %d are left: %v", session, left)
	}
	return exit, out.String(), err
}

func TestEndings(t *testing.T) {
	tests := []struct {
		part, arg string
		want      Exit
		output    string
	}{
		{"print", "hello", Exit{}, "hello"},
		{"exit", "3", Exit{Code: 3}, ""},
		{"exit", "255", Exit{Code: 255}, ""},
		{"kill", "", Exit{Code: -1, Signal: "SIGKILL"}, ""},
		{"print", "a\xff\xfe\x00b", Exit{}, "a\xff\xfe\x00b"},
		{"tty", "", Exit{}, ""},
		{"leave", "hang", Exit{Leftover: true}, "leader done\n"},
		{"group", "hang", Exit{Leftover: true}, "leader done\n"},
	}
	for _, tt := range tests {
		t.Run(tt.part+" "+strconv.Quote(tt.arg), func(t *testing.T) {
			t.Parallel()
			c := helper(t, tt.part, "")
			if strings.Contains(tt.arg, "\x00") { // no variable can hold it, stdin can
				c = helper(t, "cat", "")
				c.Stdin = []byte(tt.arg)
			} else {
				c.Env[1] = "PAWL_ARG=" + tt.arg
			}
			exit, output, err := outcome(t, t.Context(), c)
			must(t, err)
			if exit.Duration <= 0 {
				t.Errorf("duration %v", exit.Duration)
			}
			exit.Duration = 0
			if diff := cmp.Diff(tt.want, exit); diff != "" {
				t.Errorf("exit (-want +got):\n%s", diff)
			}
			// What is left over prints a line of its own when it gets to it.
			if strings.ReplaceAll(output, "hanging\n", "") != tt.output {
				t.Errorf("output %q, want %q", output, tt.output)
			}
		})
	}
}

// until returns a context that ends as soon as the command has printed the text.
func until(t *testing.T, text string) (context.Context, *awaited) {
	ctx, cancel := context.WithCancel(t.Context())
	t.Cleanup(cancel)
	return ctx, &awaited{text: text, cancel: cancel}
}

type awaited struct {
	bytes.Buffer
	text   string
	cancel func()
	at     time.Time
}

func (a *awaited) Write(b []byte) (int, error) {
	n, err := a.Buffer.Write(b)
	if a.at.IsZero() && strings.Contains(a.String(), a.text) {
		a.at = time.Now()
		a.cancel()
	}
	return n, err
}

// soon is less than any command here takes to end by itself, and more than a machine takes
// that has much else to do.
const soon = 30 * time.Second

func TestKill(t *testing.T) {
	const grace = 400 * time.Millisecond
	tests := []struct {
		name, part, arg, ready string
		grace                  time.Duration
		want                   Exit
		output                 string // contained
	}{
		{"hangs", "hang", "", "hanging", time.Hour, Exit{Code: -1, Signal: "SIGTERM", Killed: true}, "hanging"},
		{"ends in order", "orderly", "", "ready", time.Hour, Exit{Code: 7, Killed: true}, "bye"},
		{"ignores TERM and forks", "stubborn", "2", "stubborn 2", grace, Exit{Code: -1, Signal: "SIGKILL", Killed: true}, "stubborn 0"},
		{"floods", "flood", "1000000000000", "0123", time.Hour, Exit{Code: -1, Signal: "SIGTERM", Killed: true}, "0123"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			ctx, out := until(t, tt.ready)
			c := helper(t, tt.part, tt.arg)
			c.Grace, c.Stdout = tt.grace, out
			exit, _, err := outcome(t, ctx, c)
			must(t, err)
			took := time.Since(out.at)
			if took > soon || tt.grace == grace && took < grace {
				t.Errorf("returned %v after the end of the context, with a grace of %v", took, tt.grace)
			}
			exit.Duration = 0
			if diff := cmp.Diff(tt.want, exit); diff != "" {
				t.Errorf("exit (-want +got):\n%s", diff)
			}
			if !strings.Contains(out.String(), tt.output) {
				t.Errorf("output %q does not contain %q", out.String(), tt.output)
			}
		})
	}
}

func TestGrandchildHoldsPipes(t *testing.T) {
	const grace = 300 * time.Millisecond
	for _, part := range []string{"leave", "group"} {
		t.Run(part, func(t *testing.T) {
			t.Parallel()
			c := helper(t, part, "stubborn")
			c.Grace = grace
			began := time.Now()
			exit, output, err := outcome(t, t.Context(), c)
			must(t, err)
			if !exit.Leftover || exit.Killed || exit.Code != 0 {
				t.Errorf("exit %+v, want a leftover and code 0", exit)
			}
			if !strings.Contains(output, "leader done") {
				t.Errorf("output %q lacks the leader's", output)
			}
			if took := time.Since(began) - exit.Duration; took < grace || took > soon {
				t.Errorf("returned %v after the leader's exit, want %v to %v", took, grace, soon)
			}
		})
	}
}

func TestStdin(t *testing.T) {
	large := bytes.Repeat([]byte("0123456789abcdef"), 1<<16) // 1 MiB, more than a pipe holds
	for _, tt := range []struct{ part, want string }{
		{"cat", string(large)},
		{"closestdin", "not interested\n"},
		{"print", "unread"}, // ends without reading
	} {
		t.Run(tt.part, func(t *testing.T) {
			t.Parallel()
			c := helper(t, tt.part, "unread")
			c.Stdin = large
			exit, output, err := outcome(t, t.Context(), c)
			if err != nil || exit.Code != 0 || exit.Signal != "" {
				t.Fatalf("%+v, %v", exit, err)
			}
			if output != tt.want {
				t.Errorf("%d bytes of output, want %d", len(output), len(tt.want))
			}
		})
	}
	t.Run("hangs unread", func(t *testing.T) {
		t.Parallel()
		ctx, out := until(t, "hanging")
		c := helper(t, "hang", "")
		c.Stdin, c.Stdout = large, out
		exit, _, err := outcome(t, ctx, c)
		if err != nil || !exit.Killed {
			t.Fatalf("%+v, %v", exit, err)
		}
	})
	t.Run("fed as it comes", func(t *testing.T) {
		t.Parallel()
		in, feed := io.Pipe()
		heard := make(chan string, 1)
		c := helper(t, "cat", "")
		c.Feed, c.Stdout = copying(in), writerFunc(func(b []byte) (int, error) {
			heard <- string(b)
			return len(b), nil
		})
		done := make(chan error, 1)
		go func() {
			_, err := Run(t.Context(), c)
			done <- err
		}()
		for _, word := range []string{"one", "two"} { // the second only when the first has come back
			io.WriteString(feed, word)
			if got := <-heard; got != word {
				t.Errorf("%q came back as %q", word, got)
			}
		}
		feed.Close()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	t.Run("is not waited for when it is never fed", func(t *testing.T) {
		t.Parallel()
		in, feed := io.Pipe()
		defer feed.Close()
		c := helper(t, "print", "unread")
		c.Feed = copying(in)
		if exit, output, err := outcome(t, t.Context(), c); err != nil || exit.Code != 0 || output != "unread" {
			t.Errorf("%+v, %q, %v", exit, output, err)
		}
	})
	t.Run("none is end of file", func(t *testing.T) {
		t.Parallel()
		exit, output, err := outcome(t, t.Context(), helper(t, "cat", ""))
		if err != nil || exit.Code != 0 || output != "" {
			t.Fatalf("%+v, %q, %v", exit, output, err)
		}
	})
}

func copying(from io.Reader) func(io.Writer) {
	return func(stdin io.Writer) { _, _ = io.Copy(stdin, from) }
}

func TestOneWriterKeepsOrder(t *testing.T) {
	_, output, err := outcome(t, t.Context(), helper(t, "both", ""))
	must(t, err)
	var want strings.Builder
	for i := range 100 {
		fmt.Fprintf(&want, "out %d\nerr %d\n", i, i)
	}
	if diff := cmp.Diff(want.String(), output); diff != "" {
		t.Errorf("output (-want +got):\n%s", diff)
	}
}

// full fails after its first byte, like a disk that is full.
type full struct{ n int }

var errFull = errors.New("no space left")

func (f *full) Write(b []byte) (int, error) { f.n++; return 0, errFull }

func TestFailedWriterLeavesCommandAlone(t *testing.T) {
	out := &full{}
	c := helper(t, "flood", "10000000")
	c.Stdout = out
	exit, _, err := outcome(t, t.Context(), c)
	if !errors.Is(err, errFull) {
		t.Errorf("error %v, want the writer's", err)
	}
	if exit.Code != 0 || exit.Signal != "" || out.n != 1 {
		t.Errorf("%+v after %d writes, want an undisturbed command and one write", exit, out.n)
	}
}

// slow needs longer for what is in the pipe than a dead command's pipe may stay open.
type slow struct{ bytes.Buffer }

func (s *slow) Write(b []byte) (int, error) {
	time.Sleep(2 * pipeDelay)
	return s.Buffer.Write(b)
}

func TestSlowWriterLosesNothing(t *testing.T) {
	const size = copySize + 1000
	var out slow
	c := helper(t, "flood", strconv.Itoa(size))
	c.Stdout = &out
	if _, _, err := outcome(t, t.Context(), c); err != nil {
		t.Fatal(err)
	}
	if out.Len() != size {
		t.Errorf("%d bytes arrived, want %d", out.Len(), size)
	}
}

func TestEnvironmentIsExact(t *testing.T) {
	t.Setenv("PAWL_SECRET", "s3cret")
	c := helper(t, "env", "x")
	_, output, err := outcome(t, t.Context(), c)
	must(t, err)
	got := strings.Split(output, "\n")
	got = slices.DeleteFunc(got, func(s string) bool { return strings.HasPrefix(s, "__CF_") }) // macOS adds it
	if diff := cmp.Diff(c.Env, got); diff != "" {
		t.Errorf("environment (-want +got):\n%s", diff)
	}
}

func TestNoEnvironmentInheritsNothing(t *testing.T) {
	env, err := exec.LookPath("env")
	if err != nil {
		t.Skip("there is no program named env")
	}
	_, output, err := outcome(t, t.Context(), Command{Argv: []string{env}})
	if err != nil || output != "" {
		t.Errorf("%q, %v", output, err)
	}
}

func TestCleanEnv(t *testing.T) {
	t.Setenv("PATH", "/bin")
	t.Setenv("HOME", "/home/x")
	t.Setenv("LANG", "C.UTF-8")
	os.Unsetenv("TMPDIR")
	t.Setenv("LEDGER_TOKEN", "a=b")
	t.Setenv("PAWL_SECRET", "s3cret")
	got := CleanEnv("LEDGER_TOKEN", "NOT_SET_ANYWHERE", "HOME=/elsewhere", "A=")
	want := []string{"A=", "HOME=/elsewhere", "LANG=C.UTF-8", "LEDGER_TOKEN=a=b", "PATH=/bin"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestNoInheritedDescriptors(t *testing.T) {
	file, err := os.Create(filepath.Join(t.TempDir(), "leak"))
	must(t, err)
	defer file.Close()
	// As if the caller had been started with this descriptor open.
	if _, err := unix.FcntlInt(file.Fd(), unix.F_SETFD, 0); err != nil {
		t.Fatal(err)
	}
	var st syscall.Stat_t
	must(t, syscall.Fstat(int(file.Fd()), &st))
	inode := strconv.FormatUint(uint64(st.Ino), 10) //nolint:unconvert // an Ino has another type elsewhere
	_, output, err := outcome(t, t.Context(), helper(t, "fds", inode))
	if err != nil || output != "" {
		t.Errorf("%q, %v", output, err)
	}
	if _, err := unix.FcntlInt(file.Fd(), unix.F_SETFD, 0); err != nil {
		t.Fatal(err)
	}
	markEach("/dev/fd")
	if flags, err := unix.FcntlInt(file.Fd(), unix.F_GETFD, 0); err != nil || flags&unix.FD_CLOEXEC == 0 {
		t.Errorf("flags %d, %v: the way without close_range does not mark", flags, err)
	}
}

func TestDir(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	must(t, err)
	self, _ := os.Executable()
	must(t, os.Symlink(self, filepath.Join(dir, "tool")))
	c := helper(t, "pwd", "")
	c.Argv, c.Dir = []string{"./tool"}, dir
	_, output, err := outcome(t, t.Context(), c)
	if err != nil || output != dir {
		t.Errorf("%q, %v, want %q", output, err, dir)
	}
	c.Argv = []string{"tool"}
	c.Env = append(c.Env, "PATH=.:/nowhere:"+dir)
	if _, output, err = outcome(t, t.Context(), c); err != nil || output != dir {
		t.Errorf("through PATH: %q, %v, want %q", output, err, dir)
	}
}

func TestCannotStart(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string, mode fs.FileMode) string {
		path := filepath.Join(dir, name)
		must(t, os.WriteFile(path, []byte(text), mode))
		return path
	}
	write("plain", "x", 0o644)
	write("nothing", "not a program", 0o755)
	write("orphan", "#!/no/such/interpreter\n", 0o755)
	path := "PATH=" + dir
	over, cancel := context.WithCancel(t.Context())
	cancel()
	tests := []struct {
		ctx  context.Context
		c    Command
		want string
		is   error
	}{
		{t.Context(), Command{}, "is empty", nil},
		{t.Context(), Command{Argv: []string{"no-such-tool"}, Env: []string{path}}, "not found in PATH (" + dir, fs.ErrNotExist},
		{t.Context(), Command{Argv: []string{"tool"}}, "no PATH", fs.ErrNotExist},
		{t.Context(), Command{Argv: []string{"nothing"}, Env: []string{"PATH=/nowhere"}, Dir: dir}, "did you mean ./nothing", fs.ErrNotExist},
		{t.Context(), Command{Argv: []string{"./gone"}, Dir: dir}, "there is no file " + dir, fs.ErrNotExist},
		{t.Context(), Command{Argv: []string{"./plain"}, Dir: dir}, "chmod +x", fs.ErrPermission},
		{t.Context(), Command{Argv: []string{dir}}, "is a directory", syscall.EISDIR},
		{t.Context(), Command{Argv: []string{"./nothing"}, Dir: dir}, "#!", syscall.ENOEXEC},
		{t.Context(), Command{Argv: []string{"./orphan"}, Dir: dir}, "interpreter", fs.ErrNotExist},
		{t.Context(), Command{Argv: []string{"./nothing"}, Dir: dir + "/gone"}, "working directory", fs.ErrNotExist},
		{t.Context(), Command{Argv: []string{"./nothing"}, Dir: dir + "/plain"}, "is a file", syscall.ENOTDIR},
		{t.Context(), Command{Argv: []string{"./nothing", "a\x00b"}, Dir: dir}, "NUL", syscall.EINVAL},
		{t.Context(), Command{Argv: []string{"./nothing", strings.Repeat("x", 8<<20)}, Dir: dir}, "stdin", syscall.E2BIG},
		{over, helper(t, "print", "x"), "before it began", context.Canceled},
	}
	for _, tt := range tests {
		started := false
		tt.c.Started = func(int) { started = true }
		tt.c.Stdout, tt.c.Stdin = io.Discard, []byte("x")
		_, err := Run(tt.ctx, tt.c)
		var start *StartError
		if !errors.As(err, &start) || !strings.Contains(err.Error(), tt.want) || started {
			t.Errorf("%.60q: %v, want %q", tt.c.Argv, err, tt.want)
		}
		if tt.is != nil && !errors.Is(err, tt.is) {
			t.Errorf("%.60q: %v is not %v", tt.c.Argv, err, tt.is)
		}
	}
}

type writerFunc func([]byte) (int, error)

func (f writerFunc) Write(b []byte) (int, error) { return f(b) }

var must = check.Must
