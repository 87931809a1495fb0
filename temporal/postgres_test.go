package temporal

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"
)

// newPostgres starts a server for one test and returns its address. Only proofs need it.
func newPostgres(t *testing.T) string {
	t.Helper()
	if os.Getenv("PAWL_PROOF") == "" {
		t.Skip("PAWL_PROOF is not set")
	}
	found, err := filepath.Glob("/usr/lib/postgresql/*/bin/pg_ctl") // where Debian keeps them, out of the path
	if path, missing := exec.LookPath("pg_ctl"); len(found) == 0 && missing == nil {
		found = []string{path}
	}
	if err != nil || len(found) == 0 {
		t.Fatal("no PostgreSQL server: pg_ctl is neither in the path nor in /usr/lib/postgresql")
	}
	dir, err := os.MkdirTemp("", "pawl-postgres-") //nolint:usetesting // the server's user may not enter t.TempDir
	must(t, err)
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	attr := &syscall.SysProcAttr{}
	if os.Getuid() == 0 { // the server refuses to run as root
		u, err := user.Lookup("postgres")
		must(t, err)
		uid, _ := strconv.Atoi(u.Uid)
		gid, _ := strconv.Atoi(u.Gid)
		attr.Credential = &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}
		must(t, os.Chown(dir, uid, gid))
	}
	do := func(args ...string) {
		t.Helper()
		c := exec.Command(found[len(found)-1], args...)
		c.Dir, c.SysProcAttr = "/", attr
		if err := c.Run(); err != nil { // no output: the server would keep the pipe
			t.Fatal(c, err)
		}
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	port := l.Addr().(*net.TCPAddr).Port
	_ = l.Close()
	data := filepath.Join(dir, "data")
	do("init", "-D", data, "-o", "-A trust -U postgres -E UTF8 --locale=C --no-sync")
	do("start", "-w", "-D", data, "-l", filepath.Join(dir, "log"), "-o", fmt.Sprintf("-p %d -c listen_addresses=127.0.0.1 -c unix_socket_directories= -c max_connections=200", port))
	t.Cleanup(func() { do("stop", "-m", "immediate", "-D", data) })
	return fmt.Sprintf("postgres://postgres@127.0.0.1:%d/postgres?sslmode=disable", port)
}
