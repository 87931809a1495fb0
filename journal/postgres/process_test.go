//go:build unix

package postgres_test

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/journal/postgres"
)

// A player is another process; its output comes line by line.
type player struct {
	*exec.Cmd

	out      *bufio.Scanner
	in       io.WriteCloser
	failures *bytes.Buffer
}

func play(t *testing.T, part, url, schema, me string) *player {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	p := &player{Cmd: exec.Command(self, url, schema, me), failures: new(bytes.Buffer)}
	p.Env = append(os.Environ(), "PAWL_TEST_PART="+part)
	p.Stderr = p.failures
	out, err := p.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	p.out = bufio.NewScanner(out)
	if p.in, err = p.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	if err := p.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = p.Process.Kill() })
	return p
}

// says insists on the next line.
func (p *player) says(t *testing.T, want string) {
	t.Helper()
	if !p.out.Scan() || p.out.Text() != want {
		t.Fatalf("the other process says %q, not %q: %s", p.out.Text(), want, p.failures)
	}
}

func (p *player) tell(t *testing.T, line string) {
	t.Helper()
	if _, err := io.WriteString(p.in, line+"\n"); err != nil {
		t.Fatal(err)
	}
}

// part opens the journal for a player.
func part(do func(j *postgres.Journal, me string, hear func() error) error) error {
	j, err := postgres.Open(context.Background(), os.Args[1], &postgres.Options{Schema: os.Args[2]})
	if err != nil {
		return err
	}
	in := bufio.NewReader(os.Stdin)
	hear := func() error {
		_, err := in.ReadString('\n')
		return err
	}
	return errors.Join(do(j, os.Args[3], hear), j.Close())
}

const raced = 25 // runs that processes race for

// playRace tries to create every run and then to append at every place of a
// common one, and says what it won.
func playRace() error {
	return part(func(j *postgres.Journal, me string, hear func() error) error {
		ctx := context.Background()
		fmt.Println("ready")
		if err := hear(); err != nil {
			return err
		}
		for i := range raced {
			_, err := j.Claim(ctx, pawl.Claim{Run: fmt.Sprint("run-", i), Owner: me, TTL: time.Minute, New: true})
			switch {
			case err == nil:
				fmt.Println("claimed", i)
			case !errors.Is(err, pawl.ErrRunExists):
				return err
			}
		}
		for n := range uint64(50) {
			b := pawl.Batch{Run: "common", Epoch: 1, After: n, Records: [][]byte{[]byte(me)}, Head: pawl.Head{Agent: me}}
			err := j.Append(ctx, b)
			switch {
			case err == nil:
				fmt.Println("appended", n+1)
			case !errors.Is(err, pawl.ErrConflict):
				return err
			}
		}
		return nil
	})
}

func TestProcessesRace(t *testing.T) {
	url, schema := started(t).url(), schema()
	j := openAt(t, url, schema)
	if _, err := j.Claim(t.Context(), pawl.Claim{Run: "common", TTL: time.Minute, New: true}); err != nil {
		t.Fatal(err)
	}
	var mu sync.Mutex
	won := make(map[string]string)
	var all sync.WaitGroup
	var players []*player
	for i := range 3 {
		me := fmt.Sprint("player-", i)
		p := play(t, "race", url, schema, me)
		p.says(t, "ready")
		players = append(players, p)
		all.Go(func() {
			for p.out.Scan() {
				mu.Lock()
				if other, ok := won[p.out.Text()]; ok {
					t.Errorf("both %s and %s %s", other, me, p.out.Text())
				}
				won[p.out.Text()] = me
				mu.Unlock()
			}
			if err := p.Wait(); err != nil {
				t.Errorf("%s: %v: %s", me, err, p.failures)
			}
		})
	}
	for _, p := range players {
		p.tell(t, "go")
	}
	all.Wait()
	for h, err := range j.List(t.Context(), pawl.Query{Run: "run-"}) {
		if err != nil {
			t.Fatal(err)
		}
		if me := won["claimed "+strings.TrimPrefix(h.Run, "run-")]; me != h.Lease.Owner || h.Lease.Epoch != 1 {
			t.Errorf("%s was won by %q, but the lease is %+v", h.Run, me, h.Lease)
		}
	}
	last := ""
	for r, err := range j.Read(t.Context(), "common", 0) {
		if err != nil {
			t.Fatal(err)
		}
		last = string(r.Data)
		if me := won[fmt.Sprint("appended ", r.Seq)]; me != last {
			t.Errorf("record %d was won by %q, but it is %q", r.Seq, me, r.Data)
		}
	}
	if len(won) != raced+50 {
		t.Errorf("%d races had a winner, not %d", len(won), raced+50)
	}
	for h, err := range j.List(t.Context(), pawl.Query{Run: "common"}) {
		if err != nil || h.Seq != 50 || h.Agent != last {
			t.Errorf("the head is %+v, %v, but %q appended last", h, err, last)
		}
	}
}

// playHolder takes a run for a moment and appends when it is told to.
func playHolder() error {
	return part(func(j *postgres.Journal, me string, hear func() error) error {
		ctx := context.Background()
		l, err := j.Claim(ctx, pawl.Claim{Run: "r", Owner: me, TTL: 300 * time.Millisecond, New: true})
		if err != nil {
			return err
		}
		b := pawl.Batch{Run: "r", Epoch: l.Epoch, Records: [][]byte{[]byte("first")}, Head: pawl.Head{Agent: me}}
		if err := j.Append(ctx, b); err != nil {
			return err
		}
		fmt.Println("holding")
		if err := hear(); err != nil {
			return err
		}
		b.After, b.Records = 1, [][]byte{[]byte("stale")}
		_, again := j.Claim(ctx, pawl.Claim{Run: "r", Owner: me, TTL: time.Minute, Epoch: l.Epoch})
		fmt.Println(errors.Is(j.Append(ctx, b), pawl.ErrFenced), errors.Is(again, pawl.ErrFenced))
		return nil
	})
}

// TestStoppedOwner stops a process with SIGSTOP until its lease has lapsed and
// somebody else has the run. When it goes on, it changes nothing.
func TestStoppedOwner(t *testing.T) {
	url, schema := started(t).url(), schema()
	j := openAt(t, url, schema)
	p := play(t, "hold", url, schema, "sleeper")
	p.says(t, "holding")
	if err := p.Process.Signal(syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	var l pawl.Lease
	until(t, "the lease of a stopped process lapses", func() bool {
		var err error
		l, err = j.Claim(t.Context(), pawl.Claim{Run: "r", Owner: "successor", TTL: time.Minute})
		if held := new(pawl.HeldError); err != nil && (!errors.As(err, &held) || held.Lease.Owner != "sleeper") {
			t.Fatal(err)
		}
		return err == nil
	})
	if l.Epoch != 2 {
		t.Errorf("the successor has the epoch %d", l.Epoch)
	}
	if err := p.Process.Signal(syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
	p.tell(t, "go on")
	p.says(t, "true true")
	b := pawl.Batch{Run: "r", Epoch: l.Epoch, After: 1, Records: [][]byte{[]byte("second")}, Head: pawl.Head{Agent: "successor"}}
	if err := j.Append(t.Context(), b); err != nil {
		t.Error(err)
	}
	for h, err := range j.List(t.Context(), pawl.Query{}) {
		if err != nil || h.Agent != "successor" || h.Seq != 2 || h.Lease != l {
			t.Error(h, err)
		}
	}
	if got := strings.Join(logOf(t, j, "r"), " "); got != "first second" {
		t.Errorf("the log is %q", got)
	}
}

func logOf(t *testing.T, j *postgres.Journal, run string) (out []string) {
	t.Helper()
	for r, err := range j.Read(t.Context(), run, 0) {
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, string(r.Data))
	}
	return out
}

// playWriter appends to a few runs at once and says what was acknowledged.
func playWriter() error {
	return part(func(j *postgres.Journal, me string, _ func() error) error {
		errs := make(chan error)
		for w := range 3 {
			go func() {
				run := fmt.Sprint("run-", w)
				errs <- appending(context.Background(), j, run, me, func(end uint64) { fmt.Println(run, end) })
			}()
		}
		return <-errs
	})
}

// appending takes a run over and appends batches until ctx ends or something
// breaks. Each record holds its seq and its place in the batch, so that a
// reader can tell what is missing.
func appending(ctx context.Context, j *postgres.Journal, run, me string, acknowledged func(end uint64)) error {
	c := pawl.Claim{Run: run, Owner: me, TTL: time.Minute, New: true}
	for h, err := range j.List(ctx, pawl.Query{Run: run}) {
		if err != nil {
			return err
		}
		c.New, c.Over = false, h.Lease.Epoch // the one before was killed
	}
	l, err := j.Claim(ctx, c)
	// Where the log ends is asked now: what the one before had sent may have been done until then.
	end := uint64(0)
	for h, err := range j.List(ctx, pawl.Query{Run: run}) {
		if err != nil {
			return err
		}
		end = h.Seq
	}
	for err == nil && ctx.Err() == nil {
		b := pawl.Batch{Run: run, Epoch: l.Epoch, After: end, Head: pawl.Head{Status: pawl.Running}}
		n := 1 + rand.IntN(3)
		for k := range n {
			end++
			filler := strings.Repeat("x", rand.IntN(400)*rand.IntN(30))
			b.Records = append(b.Records, fmt.Appendf(nil, "%d %d/%d %s", end, k+1, n, filler))
		}
		if err = j.Append(ctx, b); err == nil {
			acknowledged(end)
		}
	}
	return err
}

// whole reads a log of appending, insists on whole batches without a gap, and returns its end.
func whole(t *testing.T, j *postgres.Journal, run string) uint64 {
	t.Helper()
	end, k, n := uint64(0), 0, 0
	for r, err := range j.Read(t.Context(), run, 0) {
		if err != nil {
			t.Fatal(err)
		}
		var seq uint64
		wantK := k%max(n, 1) + 1
		if _, err := fmt.Sscanf(string(r.Data[:min(len(r.Data), 40)]), "%d %d/%d", &seq, &k, &n); err != nil {
			t.Fatalf("%s: record %d: %v", run, r.Seq, err)
		}
		if r.Seq != end+1 || seq != r.Seq || k != wantK {
			t.Fatalf("%s: after %d comes record %d, which says that it is %d and part %d of %d", run, end, r.Seq, seq, k, n)
		}
		end = r.Seq
	}
	if k != n {
		t.Fatalf("%s ends with part %d of a batch of %d", run, k, n)
	}
	return end
}

// headOf is where the head says that the log ends.
func headOf(t *testing.T, j *postgres.Journal, run string) uint64 {
	t.Helper()
	for h, err := range j.List(t.Context(), pawl.Query{Run: run}) {
		if err != nil {
			t.Fatal(err)
		}
		return h.Seq
	}
	return 0
}

// TestKilled kills a writer at random moments, again and again on the same
// database, and checks each time that what was acknowledged is there and that
// what is there is whole.
func TestKilled(t *testing.T) {
	url, schema := started(t).url(), schema()
	j := openAt(t, url, schema)
	rounds := 4
	if os.Getenv("PAWL_PROOF") != "" {
		rounds = 200
	}
	acked := make(map[string]uint64)
	for round := range rounds {
		p := play(t, "write", url, schema, fmt.Sprint("writer-", round))
		kill := func() { _ = p.Process.Kill() }
		if round > 0 { // the first lives until each run has got a record in, however slow the machine
			time.AfterFunc(30*time.Millisecond+rand.N(100*time.Millisecond), kill)
		}
		for p.out.Scan() {
			run, n, ok := strings.Cut(p.out.Text(), " ")
			end, err := strconv.ParseUint(n, 10, 64)
			if !ok || err != nil {
				break // a line the kill has cut
			}
			if acked[run] = end; round == 0 && len(acked) == 3 {
				kill()
			}
		}
		_ = p.Wait()
		if p.failures.Len() > 0 || p.ProcessState.Sys().(syscall.WaitStatus).Signal() != syscall.SIGKILL {
			t.Fatalf("the writer was not killed but failed: %v %s", p.ProcessState, p.failures)
		}
		for run, end := range acked {
			if got := whole(t, j, run); got < end {
				t.Fatalf("round %d: %s ends at %d, but %d was acknowledged", round, run, got, end)
			}
			// What the killed had sent may still be done.
			until(t, "the head ends where the log does", func() bool { return headOf(t, j, run) == whole(t, j, run) })
		}
	}
	if len(acked) != 3 {
		t.Fatalf("only %d of 3 runs ever got a record in", len(acked))
	}
}
