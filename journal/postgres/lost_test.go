//go:build unix

package postgres_test

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/internal/retry"
	"github.com/pawl-run/pawl/journal/postgres"
)

// A fate is what becomes of a statement on its way.
type fate int

const (
	unsent fate = 1 + iota // the connection breaks before the server has it
	unread                 // the server has done it, and the answer is lost
	late                   // the connection breaks, but the server gets it later, when it has been asked again
)

func (f fate) String() string { return [...]string{"", "unsent", "unread", "late"}[f] }

// A wire lies between journal and server, and breaks when it is told to.
type wire struct {
	net.Listener

	to string

	mu    sync.Mutex
	next  fate // of the statement to come, after some others
	after int
	cuts  int
	asked int  // how many statements got through
	down  bool // nobody gets through
	lates sync.WaitGroup
}

func newWire(t *testing.T) *wire {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	w := &wire{Listener: l, to: fmt.Sprintf("127.0.0.1:%d", started(t).port)}
	t.Cleanup(func() { _ = l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go w.carry(c)
		}
	}()
	return w
}

func (w *wire) url() string {
	return "postgres://postgres@" + w.Addr().String() + "/postgres?sslmode=disable"
}

// doom breaks the wire at the statement after some others.
func (w *wire) doom(f fate, after int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.next, w.after, w.cuts = f, after, 0
}

func (w *wire) setDown(down bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.down = down
}

// wait waits until the journal has asked again, and been answered.
func (w *wire) wait() {
	asked := func() int {
		w.mu.Lock()
		defer w.mu.Unlock()
		return w.asked
	}
	for before, end := asked(), time.Now().Add(2*time.Second); asked() == before && time.Now().Before(end); {
		time.Sleep(time.Millisecond)
	}
	time.Sleep(30 * time.Millisecond)
}

// fate is that of something sent to the server. A prepared statement is run by
// one write, which begins with a Bind message.
func (w *wire) fate(sent []byte) fate {
	w.mu.Lock()
	defer w.mu.Unlock()
	if sent[0] != 'B' {
		return 0
	}
	if w.next == 0 {
		w.asked++
		return 0
	}
	if w.after > 0 {
		w.after--
		return 0
	}
	f := w.next
	w.next = 0
	w.cuts++
	return f
}

func (w *wire) carry(c net.Conn) {
	defer c.Close()
	w.mu.Lock()
	down := w.down
	w.mu.Unlock()
	if down {
		return
	}
	s, err := net.Dial("tcp", w.to)
	if err != nil {
		return
	}
	defer s.Close()
	silent := make(chan struct{})   // closed: what the server says gets lost
	answered := make(chan struct{}) // closed: it has said that, or the connection is gone
	go func() {
		defer close(answered)
		buf := make([]byte, 1<<16)
		for {
			n, err := s.Read(buf)
			select {
			case <-silent:
				return
			default:
			}
			if _, werr := c.Write(buf[:n]); err != nil || werr != nil {
				_ = c.Close()
				return
			}
		}
	}()
	buf := make([]byte, 1<<16)
	for {
		n, err := c.Read(buf)
		if err != nil {
			return
		}
		sent := buf[:n]
		if n == 16 && binary.BigEndian.Uint32(sent[4:]) == 80877102 {
			return // a request to cancel what was cut would spoil the worst case
		}
		switch w.fate(sent) {
		case unsent:
			return
		case unread:
			close(silent)
			if _, err := s.Write(sent); err == nil {
				<-answered // it is done: small answers come at once and whole
			}
			return
		case late:
			w.lates.Add(1)
			close(silent)
			_ = c.Close()
			w.wait()
			if _, err := s.Write(sent); err == nil {
				<-answered
			}
			w.lates.Done()
			return
		}
		if _, err := s.Write(sent); err != nil {
			return
		}
	}
}

// lossy are the calls that change something, each with what it must have come
// to, however the wire broke. The statement that writes comes after some others.
var lossy = map[string]struct {
	after int
	do    func(j *postgres.Journal) (any, error)
	want  any
}{
	"append": {1, func(j *postgres.Journal) (any, error) {
		return nil, j.Append(context.Background(), pawl.Batch{Run: "r", Epoch: 1, After: 1, Records: [][]byte{[]byte("two"), []byte("three")}, Head: pawl.Head{Agent: "a"}})
	}, nil},
	"create": {0, func(j *postgres.Journal) (any, error) {
		l, err := j.Claim(context.Background(), pawl.Claim{Run: "new", Owner: "me", TTL: time.Hour, New: true})
		return l.Epoch, err
	}, uint64(1)},
	"take": {0, func(j *postgres.Journal) (any, error) {
		l, err := j.Claim(context.Background(), pawl.Claim{Run: "free", Owner: "me", TTL: time.Hour})
		return fmt.Sprint(l.Epoch, l.Owner), err
	}, "2me"},
	"take over": {0, func(j *postgres.Journal) (any, error) {
		l, err := j.Claim(context.Background(), pawl.Claim{Run: "r", Owner: "me", TTL: time.Hour, Over: 1})
		return l.Epoch, err
	}, uint64(2)},
	"renew": {0, func(j *postgres.Journal) (any, error) {
		l, err := j.Claim(context.Background(), pawl.Claim{Run: "r", TTL: 2 * time.Hour, Epoch: 1})
		return fmt.Sprint(l.Epoch, time.Until(l.Until) > 90*time.Minute), err
	}, "1 true"},
	"give up": {0, func(j *postgres.Journal) (any, error) {
		l, err := j.Claim(context.Background(), pawl.Claim{Run: "r", Epoch: 1})
		return l.Until.IsZero(), err
	}, true},
	"post": {1, func(j *postgres.Journal) (any, error) {
		l, err := j.Send(context.Background(), pawl.Signal{Run: "r", Kind: pawl.SignalAnswer, Request: "q", Body: []byte(`"yes"`)})
		return string(l.Body), err
	}, `"yes"`},
	"remove": {1, func(j *postgres.Journal) (any, error) {
		return nil, j.Remove(context.Background(), "r", 1)
	}, nil},
	"blob": {0, func(j *postgres.Journal) (any, error) {
		return nil, j.PutBlob(context.Background(), digest("blob"), []byte("blob"))
	}, nil},
}

func digest(data string) string {
	sum := sha256.Sum256([]byte(data))
	return hex.EncodeToString(sum[:])
}

// prepared is a journal with a run of one record and one that is free.
func prepared(t *testing.T) (j *postgres.Journal, schemaName string) {
	t.Helper()
	j = emptied(t, "prepared", nil)
	for _, run := range []string{"r", "free"} {
		_, err := j.Claim(t.Context(), pawl.Claim{Run: run, Owner: "owner", TTL: time.Hour, New: true})
		must(t, err)
	}
	_, err := j.Claim(t.Context(), pawl.Claim{Run: "free", Epoch: 1})
	must(t, err)
	must(t, j.Append(t.Context(), pawl.Batch{Run: "r", Epoch: 1, Records: [][]byte{[]byte("one")}}))
	return j, "prepared"
}

// state is all there is in a journal but times.
func state(t *testing.T, j *postgres.Journal) string {
	t.Helper()
	var b strings.Builder
	for h, err := range j.List(t.Context(), pawl.Query{}) {
		must(t, err)
		fmt.Fprintln(&b, h.Run, h.Agent, h.Seq, h.Lease.Owner, h.Lease.Epoch, h.Lease.Until.IsZero(), logOf(t, j, h.Run))
	}
	for l, err := range j.Signals(t.Context(), "", 0) {
		must(t, err)
		fmt.Fprintln(&b, l.Run, l.Kind, l.Request, string(l.Body))
	}
	data, err := j.Blob(t.Context(), digest("blob"))
	fmt.Fprintln(&b, string(data), errors.Is(err, pawl.ErrUnknownBlob))
	return b.String()
}

// TestLostAnswers breaks the connection under every kind of write. Each must
// come to what it comes to without that: done once, and said to be done.
func TestLostAnswers(t *testing.T) {
	w := newWire(t)
	for name, c := range lossy {
		clean, _ := prepared(t)
		got, err := c.do(clean)
		if err != nil || got != c.want {
			t.Fatal(name, got, err)
		}
		want := state(t, clean)
		for _, f := range []fate{unsent, unread, late} {
			t.Run(name+"/"+f.String(), func(t *testing.T) {
				direct, schema := prepared(t)
				j := openAt(t, w.url(), schema)
				w.doom(f, c.after)
				got, err := c.do(j)
				if w.cuts != 1 {
					t.Fatal("nothing was cut")
				}
				if err != nil || got != c.want {
					t.Fatal(got, err)
				}
				w.lates.Wait()
				if d := cmp.Diff(want, state(t, direct)); d != "" {
					t.Error(d)
				}
			})
		}
	}
}

// TestRivals shows that a batch that was lost is not mistaken for another's:
// when somebody else has appended in its place, it is refused.
func TestRivals(t *testing.T) {
	w := newWire(t)
	direct, schema := prepared(t)
	j := openAt(t, w.url(), schema)
	l, err := direct.Claim(t.Context(), pawl.Claim{Run: "r", Owner: "rival", TTL: time.Hour, Over: 1})
	must(t, err)
	b := pawl.Batch{Run: "r", Epoch: l.Epoch, After: 1, Records: [][]byte{[]byte("two")}}
	must(t, direct.Append(t.Context(), b))
	w.doom(unread, 1)
	b.Epoch = 1 // the same bytes in the same place
	if err := j.Append(t.Context(), b); !errors.Is(err, pawl.ErrFenced) || w.cuts != 1 {
		t.Error(err, w.cuts)
	}
}

// TestUnreachable is about a database that does not come back.
func TestUnreachable(t *testing.T) {
	w := newWire(t)
	_, schema := prepared(t)
	j := openAt(t, w.url(), schema)
	j.SetPatience(200 * time.Millisecond)
	b := pawl.Batch{Run: "r", Epoch: 1, After: 1, Records: [][]byte{[]byte("two")}}

	w.setDown(true)
	w.doom(unread, 1)
	err := j.Append(t.Context(), b)
	if err == nil || !strings.Contains(err.Error(), "it is unknown whether this was written") || !strings.Contains(err.Error(), w.Addr().String()) {
		t.Errorf("an append whose answer was lost says %v", err)
	}
	err = j.Append(t.Context(), b)
	if err == nil || strings.Contains(err.Error(), "not known") || errors.Is(err, pawl.ErrConflict) || errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("an append that got nowhere says %v", err)
	}
	for _, err := range j.Read(t.Context(), "r", 0) {
		if err == nil || !strings.Contains(err.Error(), w.Addr().String()) || !retry.Temporary(err) {
			t.Errorf("a read says %v; to be asked again: %v", err, retry.Temporary(err))
		}
	}
	j.SetPatience(time.Hour)
	ctx, cancel := context.WithCancelCause(t.Context())
	time.AfterFunc(50*time.Millisecond, func() { cancel(errors.New("enough")) })
	if err := j.Append(ctx, b); !errors.Is(err, context.Canceled) {
		t.Errorf("an append that was called off before it got anywhere says %v", err)
	}

	w.setDown(false)
	if got := strings.Join(logOf(t, j, "r"), " "); got != "one two" {
		t.Errorf("the log is %q", got)
	}
	if err := j.Append(t.Context(), b); !errors.Is(err, pawl.ErrConflict) {
		t.Errorf("appending it once more says %v", err)
	}
}

// TestCancelled cancels an append that waits for a lock: it is too late, and the
// caller learns the outcome. A read is cancelled at once.
func TestCancelled(t *testing.T) {
	j, schema := prepared(t)
	c, err := pgx.Connect(t.Context(), started(t).url())
	must(t, err)
	defer c.Close(context.Background())
	_, err = c.Exec(t.Context(), `BEGIN; LOCK TABLE `+schema+`.runs`, pgx.QueryExecModeSimpleProtocol)
	must(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	appended, listed := make(chan error, 1), make(chan error, 1)
	go func() {
		appended <- j.Append(ctx, pawl.Batch{Run: "r", Epoch: 1, After: 1, Records: [][]byte{[]byte("two")}})
	}()
	go func() {
		for _, err := range j.List(ctx, pawl.Query{}) {
			listed <- err
		}
	}()
	waiting := func() bool {
		var n int
		err := c.QueryRow(t.Context(), `SELECT count(*) FROM pg_locks WHERE NOT granted AND relation = $1::regclass`, schema+".runs").Scan(&n)
		return err == nil && n == 2
	}
	until(t, "both wait for the lock", waiting)
	cancel()
	if err := <-listed; !errors.Is(err, context.Canceled) {
		t.Errorf("the list says %v", err)
	}
	select {
	case err := <-appended:
		t.Fatalf("the append left while its statement was under way: %v", err)
	case <-time.After(50 * time.Millisecond):
	}
	_, err = c.Exec(t.Context(), `COMMIT`)
	must(t, err)
	must(t, <-appended)
	if got := strings.Join(logOf(t, j, "r"), " "); got != "one two" {
		t.Errorf("the log is %q", got)
	}
	if err := j.Append(ctx, pawl.Batch{Run: "r", Epoch: 1, After: 2, Records: [][]byte{[]byte("three")}}); !errors.Is(err, context.Canceled) {
		t.Errorf("an append under an ended context says %v", err)
	}
}
