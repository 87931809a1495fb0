package sqlite_test

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/journal/sqlite"
)

// TestMain lets this binary play the other processes. The arguments are the directory of the
// databases and the player's name.
func TestMain(m *testing.M) {
	if os.Getenv("PAWL_TEST_PART") != "race" {
		os.Exit(m.Run())
	}
	if err := playRace(os.Args[1], os.Args[2]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

// player starts another process; its output comes line by line through the scanner.
func player(t *testing.T, dir, me string) (*exec.Cmd, *bufio.Scanner, *bytes.Buffer, io.WriteCloser) {
	t.Helper()
	self, err := os.Executable()
	must(t, err)
	cmd := exec.Command(self, dir, me)
	cmd.Env = append(os.Environ(), "PAWL_TEST_PART=race")
	failures := new(bytes.Buffer)
	cmd.Stderr = failures
	out, err := cmd.StdoutPipe()
	must(t, err)
	in, err := cmd.StdinPipe()
	must(t, err)
	must(t, cmd.Start())
	t.Cleanup(func() { _ = cmd.Process.Kill() })
	return cmd, bufio.NewScanner(out), failures, in
}

const (
	raced = 25 // runs that processes race for
	made  = 20 // databases that they make at the same time
)

// playRace opens databases that do not exist yet, the common one last. There it tries to create every
// run and then to append at every place of one of them, and says what it won.
func playRace(dir, me string) error {
	ctx := context.Background()
	fmt.Println("ready")
	if _, err := bufio.NewReader(os.Stdin).ReadString('\n'); err != nil {
		return err
	}
	for i := range made {
		j, err := sqlite.Open(ctx, filepath.Join(dir, fmt.Sprint(i, ".db")), nil)
		if err != nil {
			return err
		}
		if err := j.Close(); err != nil {
			return err
		}
	}
	j, err := sqlite.Open(ctx, filepath.Join(dir, "common.db"), nil)
	if err != nil {
		return err
	}
	return errors.Join(playRuns(ctx, j, me), j.Close())
}

func playRuns(ctx context.Context, j *sqlite.Journal, me string) error {
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
		b := pawl.Batch{Run: "run-0", Epoch: 1, After: n, Records: [][]byte{[]byte(me)}, Head: pawl.Head{Agent: me}}
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

// TestProcessesRace lets processes make databases, create runs and append at the same time.
func TestProcessesRace(t *testing.T) {
	dir := t.TempDir()
	const players = 3
	var mu sync.Mutex
	won := make(map[string]string)
	var all sync.WaitGroup
	var starts []io.WriteCloser
	for i := range players {
		me := fmt.Sprint("player-", i)
		cmd, out, failures, in := player(t, dir, me)
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
		_, err := io.WriteString(in, "go\n")
		must(t, err)
	}
	all.Wait()
	j := openAt(t, filepath.Join(dir, "common.db"), nil)
	for h, err := range j.List(t.Context(), pawl.Query{Run: "run-"}) {
		must(t, err)
		if me := won["claimed "+strings.TrimPrefix(h.Run, "run-")]; me != h.Lease.Owner || h.Lease.Epoch != 1 {
			t.Errorf("%s was won by %q, but the lease is %+v", h.Run, me, h.Lease)
		}
	}
	last := ""
	for r, err := range j.Read(t.Context(), "run-0", 0) {
		must(t, err)
		last = string(r.Data)
		if me := won[fmt.Sprint("appended ", r.Seq)]; me != last {
			t.Errorf("record %d was won by %q, but it is %q", r.Seq, me, r.Data)
		}
	}
	if len(won) != raced+100 {
		t.Errorf("%d races had a winner, not %d", len(won), raced+100)
	}
	for h, err := range j.List(t.Context(), pawl.Query{Run: "run-0"}) {
		if err != nil || h.Seq != 100 || h.Agent != last {
			t.Errorf("the head is %+v, %v, but %q appended last", h, err, last)
		}
	}
}
