package sqlite_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/approval"
	"github.com/pawl-run/pawl/engine"
	"github.com/pawl-run/pawl/internal/testkit/check"
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

// A shop is a world with everything that somebody can be told: a model that is
// asked, tools that do something, a caller, and a person who decides. What each of
// them was told is in known, as it must then stand in the log.
type shop struct {
	payer

	known []string // guarded by payer.mu
}

func (s *shop) knows(format string, args ...any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.known = append(s.known, fmt.Sprintf(format, args...))
}

// put is a tool that may be driven again.
type put struct{ shop *shop }

func (put) Info() pawl.ToolInfo {
	return pawl.ToolInfo{Name: "put", Effect: pawl.Idempotent, Input: json.RawMessage(`{"type":"object","additionalProperties":true}`)}
}

func (p put) Run(_ context.Context, inv pawl.Invocation) (pawl.Output, error) {
	p.shop.knows(`"type":"tool.started","data":{"call":%q`, inv.Call)
	return pawl.Output{JSON: json.RawMessage(`"put"`)}, nil
}

func (s *shop) agent() pawl.Agent {
	a := s.payer.agent()
	s.first = func(call string) { s.knows(`"type":"tool.started","data":{"call":%q`, call) }
	model := a.Model.(pawl.ModelFunc)
	a.Model = pawl.ModelFunc(func(ctx context.Context, r pawl.Request) (pawl.Reply, error) {
		turn := 1
		for _, m := range r.Messages {
			if m.Role == pawl.RoleAssistant {
				turn++
			}
		}
		s.knows(`"iteration":%d,"type":"model.called"`, turn)
		reply, err := model(ctx, r)
		if err == nil && turn <= payments {
			reply.Parts = append(reply.Parts, pawl.Call{Tool: "put", Args: fmt.Appendf(nil, `{"n":%d}`, turn)})
		}
		return reply, err
	})
	a.Tools = append(a.Tools, put{s})
	a.Policies = []pawl.Policy{approval.When("pay", "args.n == 1")}
	return a
}

// goes drives the run to its end, from wherever it stands.
func (s *shop) goes(t *testing.T, j *sqlite.Journal) {
	t.Helper()
	e := engine.New(j, nil)
	h, err := e.Start(t.Context(), s.agent(), "go", &engine.StartOptions{ID: "r"})
	if err != nil {
		h, err = e.Resume(t.Context(), s.agent(), "r", nil)
		must(t, err)
	} else {
		s.knows(`"type":"run.started"`)
	}
	for range 10 {
		res, err := h.Wait(t.Context())
		must(t, err)
		s.knows(`"data":{"status":"%v"`, res.Status)
		if res.Status == pawl.StatusSuccess {
			break
		}
		for _, p := range res.Pending {
			switch {
			case p.Kind == "approval":
				err = e.Approve(t.Context(), "r", p.Call, "me", nil)
				s.knows("letter about %s", p.Call)
			case s.has(p.Call):
				err = e.Resolve(t.Context(), "r", p.Call, "me", engine.Happened(json.RawMessage(`"paid"`)))
			default:
				err = e.Resolve(t.Context(), "r", p.Call, "me", engine.DidNotHappen())
			}
			must(t, err)
		}
		h, err = e.Resume(t.Context(), s.agent(), "r", nil)
		must(t, err)
	}
	times := map[string]int{}
	for _, call := range s.paid {
		times[call]++
	}
	for call, n := range times {
		if n != 1 || len(times) != payments {
			t.Errorf("of %d payments, %s was made %d times", len(times), call, n)
		}
	}
	state, err := engine.Load(t.Context(), j, "r")
	if err != nil || state.Status() != pawl.StatusSuccess {
		t.Errorf("the run is %v, %v", state.Status(), err)
	}
	_, err = e.Replay(t.Context(), s.agent(), "r")
	must(t, err)
}

// lines is the log as it stands in the journal.
func lines(t *testing.T, j *sqlite.Journal) (out []string) {
	t.Helper()
	for r, err := range j.Read(t.Context(), "r", 0) {
		if errors.Is(err, pawl.ErrUnknownRun) {
			break
		}
		must(t, err)
		out = append(out, string(r.Data))
	}
	return out
}

// misses is what was known and is not in the journal.
func misses(t *testing.T, j *sqlite.Journal, known []string) (missing []string) {
	t.Helper()
	var all strings.Builder
	for _, line := range lines(t, j) {
		all.WriteString(line + "\n")
	}
	for l, err := range j.Signals(t.Context(), "r", 0) {
		must(t, err)
		call, _, _ := strings.Cut(l.Request, ".")
		all.WriteString("letter about " + call + "\n")
	}
	for _, what := range known {
		if !strings.Contains(all.String(), what) {
			missing = append(missing, what)
		}
	}
	return missing
}

// aCut is what a power cut at one moment leaves, and what was known by then.
type aCut struct {
	path        string
	paid, known []string
}

// everyCut lets a run go to its end and cuts the power before and after each sync,
// with nothing of what was not synced left, and with some of it.
func everyCut(t *testing.T, emptied, chances int) (all []aCut) {
	t.Helper()
	d, name := sqlite.NewDisk(t)
	j, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "j.db"), new(sqlite.Options).OnDisk(name))
	must(t, err)
	must(t, j.Emptied(emptied))
	s := &shop{}
	var one sync.Mutex // a heartbeat syncs, too
	d.OnSync(func() {
		one.Lock()
		defer one.Unlock()
		s.mu.Lock()
		paid, known := slices.Clone(s.paid), slices.Clone(s.known)
		s.mu.Unlock()
		for i := range chances + 1 {
			var rnd *rand.Rand
			if i > 0 {
				rnd = rand.New(rand.NewPCG(uint64(i), uint64(len(all))))
			}
			all = append(all, aCut{d.Cut(t, rnd), paid, known})
		}
	})
	s.goes(t, j)
	d.OnSync(nil)
	all = append(all, aCut{d.Cut(t, nil), s.paid, s.known})
	must(t, j.Close())
	return all
}

// TestCutAtEverySync: at whatever sync the power is cut, those of moving the log
// into the file among them, all that a model, a tool, a caller or a person was
// told stands in the journal; the run goes on from there and does nothing twice.
func TestCutAtEverySync(t *testing.T) {
	check.SkipShort(t, "one goroutine after another, in which the race detector has nothing to see: -short")
	t.Parallel()
	for name, c := range map[string]struct{ emptied, chances int }{"log": {1000, 1}, "emptied": {5, 0}} {
		t.Run(name, func(t *testing.T) {
			if os.Getenv("PAWL_PROOF") != "" {
				c.chances = 20
			}
			all := everyCut(t, c.emptied, c.chances)
			resumed := 0
			for n, c := range all {
				j, err := sqlite.Open(t.Context(), c.path, &sqlite.Options{Normal: true})
				must(t, err)
				if missing := misses(t, j, c.known); missing != nil {
					t.Errorf("cut %d of %d: %q was known and is not there", n, len(all), missing)
				}
				if log := lines(t, j); len(log) > 0 && !strings.Contains(log[len(log)-1], "run.stopped") {
					must(t, j.Abandon(t.Context()))
					(&shop{payer: payer{paid: c.paid}}).goes(t, j)
					resumed++
				}
				must(t, j.Close())
			}
			t.Logf("%d cuts, %d runs went on", len(all), resumed)
			if resumed < 20 {
				t.Errorf("of %d runs that were cut only %d went on", len(all), resumed)
			}
		})
	}
}

// TestCutLoses: without the syncs there is something to lose.
func TestCutLoses(t *testing.T) {
	check.SkipShort(t, "one goroutine after another, in which the race detector has nothing to see: -short")
	t.Parallel()
	d, name := sqlite.NewDisk(t)
	j, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "j.db"), (&sqlite.Options{Normal: true}).OnDisk(name))
	must(t, err)
	s := &shop{}
	s.goes(t, j)
	path := d.Cut(t, nil)
	must(t, j.Close())
	j, err = sqlite.Open(t.Context(), path, nil)
	must(t, err)
	if len(misses(t, j, s.known)) == 0 {
		t.Error("nothing is lost, so the other test shows nothing")
	}
	must(t, j.Close())
}

// TestSyncFailsOnce fails one sync, which loses what was to be synced while it can
// still be read, and then works again. What is told afterwards is durable all the
// same: nothing that was in doubt is taken for written.
func TestSyncFailsOnce(t *testing.T) {
	t.Parallel()
	step, failed := 2, 0
	if os.Getenv("PAWL_PROOF") != "" {
		step = 1
	}
	for n, broke := 0, true; broke; n += step {
		d, name := sqlite.NewDisk(t)
		path := filepath.Join(t.TempDir(), "j.db")
		j, err := sqlite.Open(t.Context(), path, new(sqlite.Options).OnDisk(name))
		must(t, err)
		must(t, j.Emptied(5+n/step%2*1000))
		d.BreaksOnce(n, syscall.EIO)
		s := &shop{}
		h, err := engine.New(j, nil).Start(t.Context(), s.agent(), "go", &engine.StartOptions{ID: "r"})
		if err == nil {
			_, err = h.Wait(t.Context())
		}
		broken := d.Repair() > 0
		if err != nil {
			failed++
		}
		must(t, j.Abandon(t.Context()))
		s.goes(t, j)
		cut := d.Cut(t, nil)
		must(t, j.Close())
		if j, err = sqlite.Open(t.Context(), cut, &sqlite.Options{Normal: true}); err != nil {
			t.Fatalf("after sync %d failed: %v", n, err)
		}
		if missing := misses(t, j, s.known); missing != nil {
			t.Errorf("after sync %d failed: %q was known and is not there", n, missing)
		}
		must(t, j.Close())
		broke = broken
	}
	if failed < 3 {
		t.Errorf("only %d runs noticed", failed)
	}
}
