package sqlite_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"syscall"
	"testing"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/engine"
	"github.com/pawl-run/pawl/journal/sqlite"
)

// A payer is a tool that must not be run twice, and what it has done.
type payer struct {
	mu    sync.Mutex
	paid  []string
	first func(call string) // asked before anything is done; nil: nobody
}

func (p *payer) Info() pawl.ToolInfo {
	return pawl.ToolInfo{Name: "pay", Description: "Pay.", Effect: pawl.Write, Input: json.RawMessage(`{"type":"object","additionalProperties":true}`)}
}

func (p *payer) Run(_ context.Context, inv pawl.Invocation) (pawl.Output, error) {
	if p.first != nil {
		p.first(inv.Call)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.paid = append(p.paid, inv.Call)
	return pawl.Output{JSON: json.RawMessage(`"paid"`)}, nil
}

// has reports whether a call was paid.
func (p *payer) has(call string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Contains(p.paid, call)
}

// payments is how often the agent pays, one call a turn.
const payments = 3

func (p *payer) agent() pawl.Agent {
	model := pawl.ModelFunc(func(_ context.Context, r pawl.Request) (pawl.Reply, error) {
		turn := 0
		for _, m := range r.Messages {
			if m.Role == pawl.RoleAssistant {
				turn++
			}
		}
		if turn >= payments {
			return pawl.Say("done"), nil
		}
		return pawl.Do(pawl.Call{Tool: "pay", Args: fmt.Appendf(nil, `{"n":%d}`, turn)}), nil
	})
	return pawl.Agent{Name: "payer", Model: model, Tools: []pawl.Tool{p}}
}

// goesOn takes a run up that its process has left, and brings it to its end. A doubt
// is settled by what the world shows.
func goesOn(t *testing.T, j *sqlite.Journal, p *payer) {
	t.Helper()
	must(t, j.Abandon(t.Context()))
	e := engine.New(j, nil)
	for range payments + 2 {
		h, err := e.Resume(t.Context(), p.agent(), "r", nil)
		must(t, err)
		res, err := h.Wait(t.Context())
		must(t, err)
		if res.Status == pawl.StatusSuccess {
			break
		}
		if res.Status != pawl.StatusWaitingDoubt {
			t.Fatalf("the run is %v: %s", res.Status, res.Reason.Detail)
		}
		for _, d := range res.Pending {
			if p.has(d.Call) {
				err = e.Resolve(t.Context(), "r", d.Call, "me", engine.Resolution{Happened: json.RawMessage(`"paid"`)})
			} else {
				err = e.Resolve(t.Context(), "r", d.Call, "me", engine.Resolution{DidNotHappen: true})
			}
			must(t, err)
		}
	}
	s, err := engine.Load(t.Context(), j, "r")
	if err != nil || s.Status() != pawl.StatusSuccess {
		t.Fatalf("the run is %v, %v", s.Status(), err)
	}
	times := map[string]int{}
	for _, call := range p.paid {
		times[call]++
	}
	for call, n := range times {
		if n != 1 || len(times) != payments {
			t.Errorf("of %d payments, %s was made %d times", len(times), call, n)
		}
	}
}

// started counts the calls whose start and whose end the log knows.
func started(t *testing.T, j *sqlite.Journal) (begun, ended int) {
	t.Helper()
	for e, err := range engine.Entries(t.Context(), j, "r", 1) {
		if errors.Is(err, pawl.ErrUnknownRun) {
			break
		}
		must(t, err)
		switch e.Event.(type) {
		case pawl.ToolStarted:
			begun++
		case pawl.ToolFinished:
			ended++
		}
	}
	return begun, ended
}

// TestDiskFails breaks the disk at its nth write or sync, for good: nothing is done
// that is not in the log, and after the repair the run continues.
func TestDiskFails(t *testing.T) {
	if testing.Short() {
		t.Skip("one goroutine after another, in which the race detector has nothing to see: -short")
	}
	t.Parallel()
	step := 5
	if os.Getenv("PAWL_PROOF") != "" {
		step = 1
	}
	for name, c := range map[string]struct {
		op  string
		err error
	}{
		"full":      {"write", syscall.ENOSPC},
		"write":     {"write", syscall.EIO},
		"sync":      {"sync", syscall.EIO},
		"read-only": {"", syscall.EROFS},
	} {
		t.Run(name, func(t *testing.T) {
			parked := 0
			for n, broken := 0, true; broken; n += step {
				d, fs := sqlite.NewDisk(t)
				path := filepath.Join(t.TempDir(), "j.db")
				j, err := sqlite.Open(t.Context(), path, (&sqlite.Options{}).OnDisk(fs))
				must(t, err)
				p := &payer{}
				d.Breaks(c.op, n, c.err)
				h, err := engine.New(j, nil).Start(t.Context(), p.agent(), "go", &engine.StartOptions{ID: "r"})
				if err == nil {
					_, err = h.Wait(t.Context())
				}
				if broken = d.Repair() > 0; broken && err == nil && len(p.paid) < payments {
					t.Errorf("failing from %d on: no error", n)
				}
				if begun, _ := started(t, j); begun < len(p.paid) {
					t.Errorf("failing from %d on: %d calls were made, the log knows of %d", n, len(p.paid), begun)
				}
				s, err := engine.Load(t.Context(), j, "r")
				switch {
				case errors.Is(err, pawl.ErrUnknownRun) || err == nil && s.Seq() == 0: // it never began
				case err != nil:
					t.Error(err)
				case s.Status() != pawl.StatusSuccess:
					parked++
					goesOn(t, j, p)
				}
				if err := j.Close(); err != nil {
					t.Error(err)
				}
				must(t, os.Remove(path))
			}
			if parked == 0 {
				t.Error("no run was left in the middle")
			}
		})
	}
}
