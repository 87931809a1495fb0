package engine_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/engine"
)

var errDisk = errors.New("the disk is on fire")

// TestAppendFails breaks the journal at every append of a run: nothing written
// and an error, or written all the same. No effect may follow, the error must
// come out, and the run must go on from what is there.
func TestAppendFails(t *testing.T) {
	for _, written := range []bool{false, true} {
		for n := 1; ; n++ {
			if !t.Run(fmt.Sprintf("written=%v/%d", written, n), func(t *testing.T) { failAppend(t, n, written) }) || t.Failed() {
				return
			}
			if n > 40 {
				t.Fatal("the run appends for ever")
			}
			if lastAppend(t) < n {
				break
			}
		}
	}
}

func lastAppend(t *testing.T) (n int) {
	j := newTap()
	j.on(func(_ pawl.Batch, write func() error) error { n++; return write() })
	h, err := engine.New(j, nil).Start(t.Context(), spender(new(ledger).add), "go", nil)
	must(t, err)
	if res, err := wait(t, h); err != nil || res.Answer != "done" {
		t.Fatal(res, err)
	}
	return n
}

func failAppend(t *testing.T, n int, written bool) {
	j, l := newTap(), new(ledger)
	agent := spender(l.add)
	e := engine.New(j, nil)
	count, effects := 0, 0
	j.on(func(_ pawl.Batch, write func() error) error {
		count++
		if count > n {
			t.Errorf("append %d after append %d failed", count, n)
		}
		if count != n {
			return write()
		}
		effects = l.len()
		if written {
			if err := write(); err != nil {
				return err
			}
		}
		return errDisk
	})
	h, err := e.Start(t.Context(), agent, "go", &engine.StartOptions{ID: "r"})
	if n == 1 {
		if !errors.Is(err, errDisk) {
			t.Fatalf("start: %v", err)
		}
		if !written {
			return
		}
	} else if err != nil {
		t.Fatal(err)
	}
	if h != nil {
		res, err := wait(t, h)
		if count < n {
			if err != nil || res.Answer != "done" {
				t.Error(res, err)
			}
			return
		}
		if !errors.Is(err, errDisk) || !strings.Contains(err.Error(), "run r") {
			t.Errorf("the run ended with %v", err)
		}
		// Siblings of a call whose outcome could not be written run on; nothing new may begin.
		if l.len() > effects+2 {
			t.Errorf("%d effects after the journal failed", l.len()-effects)
		}
	}
	j.on(nil)
	if s, err := engine.Load(t.Context(), j, "r"); err == nil && s.Status() == pawl.StatusSuccess {
		return // what could not be written was written, and was the end
	}
	res := settleAll(t, e, agent, "r", func(call string) bool { return l.count("pay "+call) > 0 })
	if res.Status != pawl.StatusSuccess || res.Answer != "done" {
		t.Errorf("%v, %q", res.Verdict, res.Answer)
	}
	for _, c := range []string{"pay c_3", "pay c_7"} {
		if l.count(c) != 1 {
			t.Errorf("%s took place %d times", c, l.count(c))
		}
	}
	sound(t, e, j, agent, "r")
}
