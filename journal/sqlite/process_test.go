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

// TestMain lets this binary play the other processes: the variable names the
// part, the arguments behind it are the database and the player's name.
func TestMain(m *testing.M) {
	parts := map[string]func(j *sqlite.Journal, me string) error{"race": playRace}
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
	must(t, err)
	cmd := exec.Command(self, path, me)
	cmd.Env = append(os.Environ(), "PAWL_TEST_PART="+part)
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
		must(t, err)
		if me := won["claimed "+strings.TrimPrefix(h.Run, "run-")]; me != h.Lease.Owner || h.Lease.Epoch != 1 {
			t.Errorf("%s was won by %q, but the lease is %+v", h.Run, me, h.Lease)
		}
	}
	last := ""
	for r, err := range j.Read(t.Context(), "common", 0) {
		must(t, err)
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
