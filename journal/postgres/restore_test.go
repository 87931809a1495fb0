//go:build unix

package postgres_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/approval"
	"github.com/pawl-run/pawl/engine"
	"github.com/pawl-run/pawl/engine/archive"
	"github.com/pawl-run/pawl/journal/postgres"
)

// TestRestore restores a database to a moment before a Write, as docs/operations.md says: from a
// base backup and the archived log. What the run did afterwards is forgotten, so it would do it
// again; once it is marked it cannot.
func TestRestore(t *testing.T) {
	started(t) // or skip
	s, err := newServer()
	must(t, err)
	defer s.close()
	logs := below(t, s, "logs")
	s.do(t, `ALTER SYSTEM SET archive_mode = on`, fmt.Sprintf(`ALTER SYSTEM SET archive_command = 'cp %%p %s/%%f'`, logs))
	s.kill(t)
	s.restart(t)

	j := openAt(t, s.url(), "pawl")
	paid := 0
	agent := paying(&paid)
	eng := engine.New(j, nil)
	drive(t, func() (*engine.Handle, error) {
		return eng.Start(t.Context(), agent, "go", &engine.StartOptions{ID: "r"})
	}, pawl.StatusWaitingApproval)
	base := below(t, s, "base")
	s.tool(t, "pg_basebackup", "-D", base, "-h", "127.0.0.1", "-p", fmt.Sprint(s.port), "-U", "postgres", "--no-sync", "-c", "fast")
	moment := s.ask(t, `SELECT clock_timestamp()::text`)
	time.Sleep(10 * time.Millisecond) // commits of the same moment may be restored or not
	must(t, eng.Approve(t.Context(), "r", "c_1", "ann", nil))
	drive(t, func() (*engine.Handle, error) { return eng.Resume(t.Context(), agent, "r", nil) }, pawl.StatusSuccess)
	if paid != 1 {
		t.Fatalf("it paid %d times", paid)
	}
	name := s.ask(t, `SELECT pg_walfile_name(pg_switch_wal())`)
	for end := time.Now().Add(30 * time.Second); ; time.Sleep(20 * time.Millisecond) {
		if _, err := os.Stat(filepath.Join(logs, name)); err == nil {
			break
		}
		if time.Now().After(end) {
			t.Fatal("the log is not archived")
		}
	}

	restored := &server{bin: s.bin, dir: base, id: s.id, port: port(t)}
	settings := fmt.Sprintf("\narchive_mode = off\nrestore_command = 'cp %s/%%f %%p'\nrecovery_target_time = '%s'\nrecovery_target_action = 'promote'\n", logs, moment)
	conf, err := os.OpenFile(filepath.Join(base, "postgresql.auto.conf"), os.O_APPEND|os.O_WRONLY, 0)
	if err == nil {
		_, err = conf.WriteString(settings)
		err = errors.Join(err, conf.Close(), os.WriteFile(filepath.Join(base, "recovery.signal"), nil, 0o644))
	}
	if err == nil {
		err = restored.start()
	}
	must(t, err)
	defer restored.close()
	for end := time.Now().Add(30 * time.Second); restored.ask(t, `SELECT pg_is_in_recovery()::text`) != "false"; time.Sleep(20 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("the restore does not end")
		}
	}
	if h, err := postgres.Check(t.Context(), restored.url(), nil); err != nil || h.ReadOnly {
		t.Fatalf("%+v, %v", h, err)
	}
	again := openAt(t, restored.url(), "pawl")
	head := theRun(t, again)
	if head.Status != pawl.StatusWaitingApproval {
		t.Fatalf("after the restore the run is %v", head.Status)
	}
	if marked, err := archive.Restored(t.Context(), again, head); err != nil || !marked {
		t.Fatalf("it is not marked: %v", err)
	}
	eng = engine.New(again, nil)
	_ = eng.Approve(t.Context(), "r", "c_1", "ben", nil) // says nothing to the run
	if _, err := eng.Resume(t.Context(), agent, "r", nil); !errors.Is(err, engine.ErrTorn) || paid != 1 {
		t.Errorf("resuming it: %v; it paid %d times", err, paid)
	}
	if marked, err := archive.Restored(t.Context(), again, theRun(t, again)); err != nil || marked {
		t.Errorf("it is marked again: %v", err)
	}
}

// paying is an agent that pays once, if it may.
func paying(paid *int) pawl.Agent {
	return pawl.Agent{Name: "payer", Tools: []pawl.Tool{payment{paid}}, Policies: []pawl.Policy{approval.For("pay")}, Model: pawl.ModelFunc(func(_ context.Context, r pawl.Request) (pawl.Reply, error) {
		if len(r.Messages) == 1 {
			return pawl.Do(pawl.Call{Tool: "pay", Args: []byte(`{}`)}), nil
		}
		return pawl.Say("paid"), nil
	})}
}

type payment struct{ n *int }

func (payment) Info() pawl.ToolInfo {
	return pawl.ToolInfo{Name: "pay", Description: "Pay.", Effect: pawl.Write, Input: []byte(`{"type":"object"}`)}
}

func (p payment) Run(context.Context, pawl.Invocation) (pawl.Output, error) {
	*p.n++
	return pawl.Output{JSON: []byte(`"paid"`)}, nil
}

func drive(t *testing.T, begin func() (*engine.Handle, error), want pawl.Status) {
	t.Helper()
	h, err := begin()
	must(t, err)
	if r, err := h.Wait(t.Context()); err != nil || r.Status != want {
		t.Fatalf("it is %v, %v", r.Status, err)
	}
}

// theRun is the head of the run.
func theRun(t *testing.T, j pawl.Journal) (found pawl.Head) {
	t.Helper()
	for h, err := range j.List(t.Context(), pawl.Query{Run: "r"}) {
		must(t, err)
		found = h
	}
	return found
}

// below makes a directory that the server may write to.
func below(t *testing.T, s *server, name string) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "pawl-"+name+"-") //nolint:usetesting // the server, another user, cannot look into the directory of a test
	if err == nil && s.id != nil {
		err = os.Chown(dir, int(s.id.Uid), int(s.id.Gid))
	}
	must(t, err)
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	return dir
}

func port(t *testing.T) int {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	defer l.Close()
	return l.Addr().(*net.TCPAddr).Port
}

// do runs statements, each of its own.
func (s *server) do(t *testing.T, statements ...string) {
	t.Helper()
	c, err := pgx.Connect(t.Context(), s.url()+"&default_transaction_isolation=read%20committed") // serializable is refused during a restore
	must(t, err)
	defer c.Close(context.Background())
	for _, sql := range statements {
		_, err = c.Exec(t.Context(), sql, pgx.QueryExecModeSimpleProtocol)
		must(t, err)
	}
}

// ask returns the text that a statement yields.
func (s *server) ask(t *testing.T, sql string) (text string) {
	t.Helper()
	c, err := pgx.Connect(t.Context(), s.url()+"&default_transaction_isolation=read%20committed") // serializable is refused during a restore
	must(t, err)
	defer c.Close(context.Background())
	must(t, c.QueryRow(t.Context(), sql, pgx.QueryExecModeSimpleProtocol).Scan(&text))
	return text
}

// tool runs one of the server's programs as the server's user.
func (s *server) tool(t *testing.T, name string, args ...string) {
	t.Helper()
	cmd := exec.Command(filepath.Join(s.bin, name), args...)
	cmd.SysProcAttr, cmd.Dir = &syscall.SysProcAttr{Credential: s.id}, "/"
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%s: %v: %s", name, err, out)
	}
}
