package sqlite_test

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
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/journal/sqlite"
)

// TestMain lets this binary play the other processes: the variable names the
// part, the arguments behind it are the database and the player's name.
func TestMain(m *testing.M) {
	parts := map[string]func(j *sqlite.Journal, me string) error{"race": playRace, "write": playWriter}
	part, ok := parts[os.Getenv("PAWL_TEST_PART")]
	if !ok {
		os.Exit(m.Run())
	}
	err := func() error {
		j, err := sqlite.Open(context.Background(), os.Args[1], nil)
		if err != nil {
			return err
		}
		return errors.Join(part(j, os.Args[2]), j.Close())
	}()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

// player starts another process; its output comes line by line through the scanner.
func player(t *testing.T, part, path, me string) (*exec.Cmd, *bufio.Scanner, *bytes.Buffer, io.WriteCloser) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(self, path, me)
	cmd.Env = append(os.Environ(), "PAWL_TEST_PART="+part)
	failures := new(bytes.Buffer)
	cmd.Stderr = failures
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill() })
	return cmd, bufio.NewScanner(out), failures, in
}

const raced = 25 // runs that processes race for

// playRace tries to create every run and then to append at every place of a
// common one, and says what it won.
func playRace(j *sqlite.Journal, me string) error {
	ctx := context.Background()
	fmt.Println("ready")
	if _, err := bufio.NewReader(os.Stdin).ReadString('\n'); err != nil {
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
	for n := uint64(0); n < 100; {
		b := pawl.Batch{Run: "common", Epoch: 1, After: n, Records: [][]byte{[]byte(me)}, Head: pawl.Head{Agent: me}}
		err := j.Append(ctx, b)
		switch {
		case err == nil:
			fmt.Println("appended", n+1)
		case !errors.Is(err, pawl.ErrConflict):
			return err
		}
		n++
	}
	return nil
}

func TestProcessesRace(t *testing.T) {
	path := filepath.Join(t.TempDir(), "j.db")
	j := openAt(t, path, nil)
	if _, err := j.Claim(t.Context(), pawl.Claim{Run: "common", TTL: time.Minute, New: true}); err != nil {
		t.Fatal(err)
	}
	const players = 3
	var mu sync.Mutex
	won := make(map[string]string)
	var all sync.WaitGroup
	var starts []io.WriteCloser
	for i := range players {
		me := fmt.Sprint("player-", i)
		cmd, out, failures, in := player(t, "race", path, me)
		if !out.Scan() || out.Text() != "ready" {
			t.Fatalf("%s: %q %s", me, out.Text(), failures)
		}
		starts = append(starts, in)
		all.Go(func() {
			for out.Scan() {
				mu.Lock()
				if other, ok := won[out.Text()]; ok {
					t.Errorf("both %s and %s %s", other, me, out.Text())
				}
				won[out.Text()] = me
				mu.Unlock()
			}
			if err := cmd.Wait(); err != nil {
				t.Errorf("%s: %v: %s", me, err, failures)
			}
		})
	}
	for _, in := range starts {
		if _, err := io.WriteString(in, "go\n"); err != nil {
			t.Fatal(err)
		}
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
	if len(won) != raced+100 {
		t.Errorf("%d races had a winner, not %d", len(won), raced+100)
	}
	for h, err := range j.List(t.Context(), pawl.Query{Run: "common"}) {
		if err != nil || h.Seq != 100 || h.Agent != last {
			t.Errorf("the head is %+v, %v, but %q appended last", h, err, last)
		}
	}
}

// playWriter appends batches to a few runs at once until it is killed, and
// says what was acknowledged. Each record holds its seq and its place in the
// batch, so that a reader can tell what is missing.
func playWriter(j *sqlite.Journal, me string) error {
	ctx := context.Background()
	errs := make(chan error)
	for w := range 3 {
		go func() {
			run := fmt.Sprint("run-", w)
			end := uint64(0)
			for r, err := range j.Read(ctx, run, 0) {
				if err != nil && !errors.Is(err, pawl.ErrUnknownRun) {
					errs <- err
					return
				}
				end = r.Seq
			}
			c := pawl.Claim{Run: run, Owner: me, TTL: time.Minute, New: end == 0}
			for h := range j.List(ctx, pawl.Query{Run: run}) {
				c.New, c.Over = false, h.Lease.Epoch // the one before was killed
			}
			l, err := j.Claim(ctx, c)
			for err == nil {
				b := pawl.Batch{Run: run, Epoch: l.Epoch, After: end, Head: pawl.Head{Status: pawl.StatusRunning}}
				n := 1 + rand.IntN(3)
				for k := range n {
					end++
					filler := strings.Repeat("x", rand.IntN(400)*rand.IntN(30))
					b.Records = append(b.Records, fmt.Appendf(nil, "%d %d/%d %s", end, k+1, n, filler))
				}
				if err = j.Append(ctx, b); err == nil {
					fmt.Println(run, end)
				}
			}
			errs <- err
		}()
	}
	return <-errs
}

// TestKilled kills a writer at random moments, again and again on the same
// database, and checks each time that what was acknowledged is there and that
// what is there is whole.
func TestKilled(t *testing.T) {
	path := filepath.Join(t.TempDir(), "j.db")
	rounds := 12
	switch {
	case testing.Short():
		rounds = 3
	case os.Getenv("PAWL_PROOF") != "":
		rounds = 400
	}
	acked := make(map[string]uint64)
	for round := range rounds {
		cmd, out, failures, _ := player(t, "write", path, fmt.Sprint("writer-", round))
		kill := func() { _ = cmd.Process.Kill() }
		if round > 0 { // the first lives until each run has got a record in, however slow the machine
			time.AfterFunc(20*time.Millisecond+rand.N(60*time.Millisecond), kill)
		}
		for out.Scan() {
			run, n, ok := strings.Cut(out.Text(), " ")
			end, err := strconv.ParseUint(n, 10, 64)
			if !ok || err != nil {
				break // a line the kill has cut
			}
			if acked[run] = end; round == 0 && len(acked) == 3 {
				kill()
			}
		}
		_ = cmd.Wait()
		if failures.Len() > 0 {
			t.Fatalf("the writer failed before it was killed: %s", failures)
		}
		j := openAt(t, path, nil)
		for run, end := range acked {
			if got := whole(t, j, run); got < end {
				t.Fatalf("round %d: %s ends at %d, but %d was acknowledged", round, run, got, end)
			}
		}
		if err := j.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if len(acked) != 3 {
		t.Fatalf("only %d of 3 runs ever got a record in", len(acked))
	}
}

// whole reads a log of playWriter, insists on whole batches without a gap, and returns its end.
func whole(t *testing.T, j *sqlite.Journal, run string) uint64 {
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
