//go:build unix

package postgres_test

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/pawl-run/pawl/internal/testkit/check"
	"github.com/pawl-run/pawl/journal/postgres"
	"github.com/pawl-run/pawl/journal/seal"
)

// TestMain lets this binary keep a server.
func TestMain(m *testing.M) {
	if os.Getenv("PAWL_TEST_PART") != "server" {
		code := m.Run()
		if common.server != nil {
			common.server.close()
		}
		if command.path != "" {
			_ = os.RemoveAll(filepath.Dir(command.path))
		}
		os.Exit(code)
	}
	if err := playServer(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

// A server is a PostgreSQL of our own, with its data in a directory of its
// own. Its defaults are those of an administrator who does not wait for the
// disk, so that what is lost when it is killed is what we did not insist on.
type server struct {
	bin, dir string
	port     int
	id       *syscall.Credential // who it runs as; nil: we

	keeper *exec.Cmd
	hold   io.Closer     // when this is closed the server ends
	gone   chan struct{} // closed when it has
	end    error
}

// common is the server of all tests, started by the first that needs one.
var common struct {
	once   sync.Once
	server *server
	err    error
}

// started is the common server, running.
func started(tb testing.TB) *server {
	tb.Helper()
	common.once.Do(func() { common.server, common.err = newServer() })
	if errors.Is(common.err, errMissing) && os.Getenv("CI") == "" {
		tb.Skip(common.err)
	}
	if common.err != nil {
		tb.Fatal(common.err)
	}
	return common.server
}

// errMissing is why there can be no server here.
var errMissing = errors.New("no PostgreSQL server")

// binaries is where a server is installed.
func binaries() (string, error) {
	if path, err := exec.LookPath("initdb"); err == nil {
		if path, err = filepath.EvalSymlinks(path); err == nil {
			if _, err := os.Stat(filepath.Join(filepath.Dir(path), "postgres")); err == nil {
				return filepath.Dir(path), nil
			}
		}
	}
	found, _ := filepath.Glob("/usr/lib/postgresql/*/bin/initdb") // where Debian keeps them, out of the path
	if len(found) == 0 {
		return "", fmt.Errorf("%w: neither is initdb in the path nor in /usr/lib/postgresql", errMissing)
	}
	newest := slices.MaxFunc(found, func(a, b string) int { return version(a) - version(b) })
	return filepath.Dir(newest), nil
}

func version(path string) int {
	n, _ := strconv.Atoi(filepath.Base(filepath.Dir(filepath.Dir(path))))
	return n
}

// unprivileged is who a server can run as, which refuses to run as root.
func unprivileged() (*syscall.Credential, error) {
	if os.Getuid() != 0 {
		return nil, nil
	}
	for _, name := range []string{"postgres", "nobody"} {
		u, err := user.Lookup(name)
		if err != nil {
			continue
		}
		uid, err1 := strconv.ParseUint(u.Uid, 10, 32)
		gid, err2 := strconv.ParseUint(u.Gid, 10, 32)
		return &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}, errors.Join(err1, err2)
	}
	return nil, fmt.Errorf("%w: it does not run as root, and there is no user postgres or nobody", errMissing)
}

func newServer() (*server, error) {
	bin, err := binaries()
	if err != nil {
		return nil, err
	}
	s := &server{bin: bin}
	if s.id, err = unprivileged(); err != nil {
		return nil, err
	}
	if s.dir, err = os.MkdirTemp("", "pawl-postgres-"); err != nil {
		return nil, err
	}
	if s.id != nil {
		if err := os.Chown(s.dir, int(s.id.Uid), int(s.id.Gid)); err != nil {
			return nil, err
		}
	}
	cmd := exec.Command(filepath.Join(bin, "initdb"), "-D", s.dir, "-A", "trust", "-U", "postgres", "-E", "UTF8", "--locale=C", "--no-sync", "--no-instructions")
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: s.id}
	cmd.Dir = "/"
	if out, err := cmd.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("initdb: %w: %s", err, out)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	s.port = l.Addr().(*net.TCPAddr).Port
	if err := errors.Join(l.Close(), s.start()); err != nil {
		s.close()
		return nil, err
	}
	return s, nil
}

// start runs the server, as the child of a keeper that ends it when we are gone.
func (s *server) start() error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	args := []string{
		s.dir, filepath.Join(s.bin, "postgres"), "-D", s.dir, "-p", strconv.Itoa(s.port),
		"-c", "listen_addresses=127.0.0.1", "-c", "unix_socket_directories=", "-c", "shared_buffers=32MB",
		"-c", "fsync=off", "-c", "synchronous_commit=off", "-c", "wal_writer_delay=2s",
		"-c", "default_transaction_isolation=serializable", "-c", "log_min_messages=log",
	}
	s.keeper = exec.Command(self, args...)
	s.keeper.Env = append(os.Environ(), "PAWL_TEST_PART=server")
	if s.id != nil {
		s.keeper.Env = append(s.keeper.Env, fmt.Sprintf("PAWL_TEST_AS=%d:%d", s.id.Uid, s.id.Gid))
	}
	log, err := os.OpenFile(s.log(), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer log.Close()
	s.keeper.Stdout, s.keeper.Stderr = log, log
	if s.hold, err = s.keeper.StdinPipe(); err != nil {
		return err
	}
	if err := s.keeper.Start(); err != nil {
		return err
	}
	s.gone = make(chan struct{})
	go func() {
		defer close(s.gone)
		s.end = s.keeper.Wait()
	}()
	for end := time.Now().Add(time.Minute); ; {
		c, err := pgx.Connect(context.Background(), s.url())
		if err == nil {
			return c.Close(context.Background())
		}
		select {
		case <-s.gone:
		case <-time.After(20 * time.Millisecond):
			if time.Now().Before(end) {
				continue
			}
		}
		text, _ := os.ReadFile(s.log())
		return fmt.Errorf("the server does not come up: %w\n%s", err, text[max(0, len(text)-2000):])
	}
}

// playServer keeps a server until its input ends, and then removes its data:
// tests that are cut short leave nothing behind.
func playServer() error {
	dir, cmd := os.Args[1], exec.Command(os.Args[2], os.Args[3:]...)
	cmd.Stdout, cmd.Stderr, cmd.Dir = os.Stdout, os.Stderr, "/"
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // what is typed at the tests is not for the server
	if as := os.Getenv("PAWL_TEST_AS"); as != "" {
		id := new(syscall.Credential)
		if _, err := fmt.Sscanf(as, "%d:%d", &id.Uid, &id.Gid); err != nil {
			return err
		}
		cmd.SysProcAttr.Credential = id
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	letGo := make(chan struct{})
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		close(letGo)
		_ = cmd.Process.Signal(syscall.SIGQUIT) // at once: nobody needs the data
		time.AfterFunc(5*time.Second, func() { _ = cmd.Process.Kill() })
	}()
	err := cmd.Wait()
	select {
	case <-letGo:
		return errors.Join(err, os.RemoveAll(dir), os.RemoveAll(dir+".log"))
	default: // it is started again
		return cmp.Or(err, errors.New("it ended by itself"))
	}
}

func (s *server) log() string { return s.dir + ".log" }

func (s *server) close() {
	if s.hold != nil {
		_ = s.hold.Close()
		<-s.gone
	}
	_ = os.RemoveAll(s.dir)
	_ = os.Remove(s.log())
}

func (s *server) url() string {
	return fmt.Sprintf("postgres://postgres@127.0.0.1:%d/postgres?sslmode=disable", s.port)
}

// kill is a kill -9 of the server's first process; the others find that out.
func (s *server) kill(t *testing.T) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(s.dir, "postmaster.pid"))
	must(t, err)
	line, _, _ := bytes.Cut(text, []byte("\n"))
	pid, err := strconv.Atoi(string(line))
	must(t, err)
	must(t, syscall.Kill(pid, syscall.SIGKILL))
	<-s.gone
	if exit := new(exec.ExitError); !errors.As(s.end, &exit) {
		t.Fatal("the server was not killed: ", s.end)
	}
	_ = s.hold.Close()
}

// restart starts it again; the processes of the one before may take a moment to end.
func (s *server) restart(t *testing.T) {
	t.Helper()
	var err error
	for range 50 {
		if err = s.start(); err == nil {
			return
		}
		select {
		case <-s.gone:
			_ = s.hold.Close()
		default:
			t.Fatal(err)
		}
		time.Sleep(50 * time.Millisecond)
	}
	t.Fatal(err)
}

// raw runs SQL beside the journal.
func raw(tb testing.TB, sql string) {
	tb.Helper()
	ctx := context.Background()
	c, err := pgx.Connect(ctx, started(tb).url())
	must(tb, err)
	defer c.Close(ctx)
	if _, err := c.Exec(ctx, sql, pgx.QueryExecModeSimpleProtocol); err != nil {
		tb.Fatal(err)
	}
}

var schemas atomic.Int64

// schema is a name nobody has used yet.
func schema() string { return fmt.Sprint("t", schemas.Add(1)) }

// openAt opens a journal that is closed when the test ends.
func openAt(tb testing.TB, url, schema string) *postgres.Journal {
	tb.Helper()
	return openSealed(tb, url, schema, nil)
}

func openSealed(tb testing.TB, url, schema string, codec seal.Codec) *postgres.Journal {
	tb.Helper()
	j, err := postgres.Open(context.Background(), url, &postgres.Options{Schema: schema, Codec: codec})
	must(tb, err)
	tb.Cleanup(func() { must(tb, j.Close()) })
	return j
}

// fresh is an empty journal.
func fresh(tb testing.TB) *postgres.Journal {
	tb.Helper()
	return openAt(tb, started(tb).url(), schema())
}

// emptied is a journal whose tables may have been used before: that is quicker than to make new ones.
func emptied(tb testing.TB, schema string, codec seal.Codec) *postgres.Journal {
	tb.Helper()
	j := openSealed(tb, started(tb).url(), schema, codec)
	c, err := j.Conn(context.Background()) // which the test uses next: each has to be made, and learns the tables
	must(tb, err)
	defer c.Release()
	_, err = c.Exec(context.Background(), `DELETE FROM runs; DELETE FROM batches; DELETE FROM signals; DELETE FROM blobs; DELETE FROM turns; DELETE FROM rates; DELETE FROM budgets; DELETE FROM reservations; DELETE FROM kept`)
	must(tb, err)
	return j
}

// until waits for something that must come about.
func until(t *testing.T, what string, f func() bool) {
	t.Helper()
	for end := time.Now().Add(time.Minute); !f(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("it did not come about that " + strings.TrimSpace(what))
		}
	}
}

var must = check.Must
