package worker_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"log/slog"
	"os"
	"os/exec"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/engine"
	"github.com/pawl-run/pawl/engine/archive"
	"github.com/pawl-run/pawl/internal/process"
	"github.com/pawl-run/pawl/internal/testkit/check"
	"github.com/pawl-run/pawl/journal/memory"
	"github.com/pawl-run/pawl/runs/worker"
)

// lease is an engine's default, and a worker looks at the queue so often.
const (
	lease       = 15 * time.Second
	lookAtQueue = time.Second
)

// disk is a journal that outlives the engines of a test, and counts what is read.
type disk struct {
	*memory.Journal
	reads, lists *atomic.Int64
}

func newDisk() disk {
	return disk{memory.New(), new(atomic.Int64), new(atomic.Int64)}
}

func (d disk) Read(ctx context.Context, run string, from uint64) iter.Seq2[pawl.Row, error] {
	d.reads.Add(1)
	return d.Journal.Read(ctx, run, from)
}

func (d disk) List(ctx context.Context, q pawl.Query) iter.Seq2[pawl.Head, error] {
	d.lists.Add(1)
	return d.Journal.List(ctx, q)
}

// mortal is the journal as a process has it that can die: it then reaches nothing
// any more.
type mortal struct {
	disk
	dead *atomic.Bool
}

var errDead = errors.New("the process is dead")

func (m mortal) Claim(ctx context.Context, c pawl.Claim) (pawl.Lease, error) {
	if m.dead.Load() {
		return pawl.Lease{}, errDead
	}
	return m.disk.Claim(ctx, c)
}

func (m mortal) Append(ctx context.Context, b pawl.Batch) error {
	if m.dead.Load() {
		return errDead
	}
	return m.disk.Append(ctx, b)
}

// program drives runs and sweeps.
type program struct {
	*engine.Engine
	t     *testing.T
	agent pawl.Agent
	tries atomic.Int64  // to resume runs
	fails atomic.Bool   // to make its agent
	busy  atomic.Bool   // it has no slot
	slow  time.Duration // to make its agent

	worker *worker.Worker
	log    check.Log
	end    func()
}

func (p *program) Names(context.Context) ([]string, error) { return []string{p.agent.Name}, nil }

func (p *program) Again(context.Context, *pawl.State) (worker.Work, error) {
	p.tries.Add(1)
	time.Sleep(p.slow)
	switch {
	case p.fails.Load():
		return worker.Work{}, errors.New("not now")
	case p.busy.Load():
		return worker.Work{}, &engine.BusyError{Max: 1}
	}
	return worker.Work{Agent: p.agent, Engine: p.Engine}, nil
}

// sweeps starts a program that sweeps until its end.
func sweeps(t *testing.T, j pawl.Journal, agent pawl.Agent) *program {
	t.Helper()
	return works(t, j, agent, &worker.Options{})
}

// works starts a worker that works until its end.
func works(t *testing.T, j pawl.Journal, agent pawl.Agent, o *worker.Options) *program {
	t.Helper()
	return worksOn(t, j, engine.New(j, nil), agent, o)
}

// worksOn is works with an engine.
func worksOn(t *testing.T, j pawl.Journal, e *engine.Engine, agent pawl.Agent, o *worker.Options) *program {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	p := &program{Engine: e, t: t, agent: agent}
	o.Log = slog.New(slog.NewTextHandler(&p.log, nil))
	p.worker = worker.New(j, p, o)
	var done sync.WaitGroup
	done.Go(func() { p.worker.Run(ctx) })
	p.end = sync.OnceFunc(func() {
		cancel()
		done.Wait()
		if err := errors.Join(p.worker.Close(), p.Close()); err != nil {
			t.Error(err)
		}
	})
	t.Cleanup(p.end)
	return p
}

// left leaves a run on a machine elsewhere, of whose processes nothing is known: a
// process died there in the run's first model call.
func left(t *testing.T, j disk, run string, agent pawl.Agent) {
	t.Helper()
	leftBy(t, j, run, agent, engine.Owner{Host: "elsewhere"})
}

func leftBy(t *testing.T, j disk, run string, agent pawl.Agent, owner engine.Owner) {
	t.Helper()
	m := mortal{j, new(atomic.Bool)}
	agent.Model = pawl.ModelFunc(func(ctx context.Context, _ pawl.Request) (pawl.Reply, error) {
		m.dead.Store(true)
		<-ctx.Done()
		return pawl.Reply{}, ctx.Err()
	})
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	e := engine.New(m, &engine.Options{Owner: &owner})
	h, err := e.Start(ctx, agent, "go", &engine.StartOptions{ID: run})
	must(t, err)
	synctest.Wait()
	cancel()
	if _, err := h.Wait(t.Context()); !errors.Is(err, errDead) {
		t.Fatal(err)
	}
}

func says(text string) pawl.Model {
	return pawl.ModelFunc(func(context.Context, pawl.Request) (pawl.Reply, error) { return pawl.Say(text), nil })
}

// events are the times at which a run got events of a type.
func events(t *testing.T, j pawl.Journal, run, kind string) (at []time.Time) {
	t.Helper()
	for e, err := range engine.Entries(t.Context(), j, run, 1) {
		must(t, err)
		if e.Type() == kind {
			at = append(at, e.Time)
		}
	}
	return at
}

func status(t *testing.T, j pawl.Journal, run string) pawl.Status {
	t.Helper()
	s, err := engine.Load(t.Context(), j, run)
	must(t, err)
	return s.Status()
}

// A run whose owner died is resumed within two leases, once, by one of several
// programs. Those of other agents are left alone, and so are those that live.
func TestLost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j, agent := newDisk(), pawl.Agent{Name: "a", Model: says("done")}
		slow, other := agent, agent
		slow.Model = takes(5 * time.Minute)
		other.Name = "other"
		lives := engine.New(j, &engine.Options{Owner: &engine.Owner{Host: "elsewhere"}})
		_, err := lives.Start(t.Context(), slow, "go", &engine.StartOptions{ID: "lives"})
		must(t, err)
		left(t, j, "other", other)
		programs := []*program{sweeps(t, j, agent), sweeps(t, j, agent), sweeps(t, j, agent)}
		const runs = 20
		died := map[string]time.Time{}
		for i := range runs {
			run := fmt.Sprint("r", i)
			left(t, j, run, agent)
			died[run] = time.Now()
			time.Sleep(700 * time.Millisecond)
		}
		time.Sleep(2 * lease)
		for run, at := range died {
			resumed := events(t, j, run, "run.resumed")
			if s := status(t, j, run); s != pawl.StatusSuccess || len(resumed) != 1 {
				t.Errorf("%s is %v, resumed at %v", run, s, resumed)
			} else if took := resumed[0].Sub(at); took < lease-5*time.Second || took > 2*lease {
				t.Errorf("%s was resumed after %v", run, took)
			}
		}
		time.Sleep(5 * time.Minute)
		if s := status(t, j, "other"); s != pawl.StatusRunning {
			t.Errorf("the run of another agent is %v", s)
		}
		if s, n := status(t, j, "lives"), len(events(t, j, "lives", "run.resumed")); s != pawl.StatusSuccess || n != 0 {
			t.Errorf("the run that lives is %v, resumed %d times", s, n)
		}
		tries, busy := int64(0), 0
		for _, p := range programs {
			tries += p.tries.Load()
			if p.log.Count("run resumed") > 0 {
				busy++
			}
			if n := p.log.Count("level=WARN") + p.log.Count("level=ERROR"); n > 0 {
				t.Errorf("%s", p.log.String())
			}
		}
		if tries > 2*runs || busy < 2 {
			t.Errorf("%d programs made %d tries for %d runs", busy, tries, runs)
		}
	})
}

// ended is a process that has ended.
func ended(t *testing.T) engine.Owner {
	t.Helper()
	c := exec.Command("sleep", "60")
	if err := c.Start(); err != nil {
		if os.Getenv("CI") != "" {
			t.Fatal(err)
		}
		t.Skip(err)
	}
	id, err := process.Identify(c.Process.Pid)
	_ = c.Process.Kill()
	_ = c.Wait()
	if err != nil {
		if os.Getenv("CI") != "" {
			t.Fatal(err)
		}
		t.Skip(err)
	}
	return engine.Owner{Process: id.String()}
}

// A run whose owner is known to be gone is resumed at the next look, while its lease
// lasts, and so is a queued run that its owner took and did not resume.
func TestGone(t *testing.T) {
	gone := ended(t)
	synctest.Test(t, func(t *testing.T) {
		j, agent := newDisk(), pawl.Agent{Name: "a", Model: says("done")}
		sweeps(t, j, agent)
		time.Sleep(time.Minute)
		for _, run := range []string{"taken", "elsewhere"} {
			queued(t, j, agent, run, nil)
			owner := gone.String()
			if run == "elsewhere" {
				owner = engine.Owner{Host: "elsewhere"}.String()
			}
			heads, err := j.Take(t.Context(), pawl.Take{Owner: owner, TTL: lease, Max: 1, Agents: []string{"a"}})
			if err != nil || len(heads) != 1 || heads[0].Run != run {
				t.Fatal(heads, err)
			}
		}
		leftBy(t, j, "r", agent, gone)
		died := time.Now()
		time.Sleep(5 * time.Second)
		if at := events(t, j, "r", "run.resumed"); len(at) != 1 || status(t, j, "r") != pawl.StatusSuccess {
			t.Errorf("after %v it is %v", time.Since(died), status(t, j, "r"))
		}
		time.Sleep(lookAtQueue)
		if a, b := status(t, j, "taken"), status(t, j, "elsewhere"); a != pawl.StatusSuccess || b != pawl.StatusQueued {
			t.Errorf("after %v what was taken here is %v, and elsewhere %v", time.Since(died), a, b)
		}
		time.Sleep(lease)
		if s := status(t, j, "elsewhere"); s != pawl.StatusSuccess {
			t.Errorf("when its lease has lapsed, what was taken elsewhere is %v", s)
		}
	})
}

// All runs of a process that died go on at once, however many they are, unless somebody has said how
// many may be driven.
func TestGoneTogether(t *testing.T) {
	gone := ended(t)
	for most, want := range map[int]int{0: 2*worker.DefaultSlots + 50, 10: 10} {
		synctest.Test(t, func(t *testing.T) {
			j, agent := newDisk(), pawl.Agent{Name: "a", Model: takes(time.Minute)}
			for i := range 2*worker.DefaultSlots + 50 {
				leftBy(t, j, fmt.Sprint("r", i), agent, gone)
			}
			p := works(t, j, agent, &worker.Options{Slots: most})
			time.Sleep(6 * time.Second)
			if n := strings.Count(p.log.String(), "run resumed"); n != want {
				t.Errorf("with %d slots %d runs are resumed, want %d", most, n, want)
			}
			p.end()
		})
	}
}

// A lease that lapsed under a living owner, as when the machine was suspended, is
// the owner's if it renews the lease at once.
func TestLapsedAlive(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j, agent := newDisk(), pawl.Agent{Name: "a", Model: says("done")}
		left(t, j, "r", agent)
		lease, err := j.Claim(t.Context(), pawl.Claim{Run: "r", Owner: "elsewhere", TTL: time.Millisecond, Over: 1})
		must(t, err)
		time.Sleep(time.Second)
		sweeps(t, j, agent)
		synctest.Wait()
		time.Sleep(2 * time.Second)
		for range 20 {
			_, err = j.Claim(t.Context(), pawl.Claim{Run: "r", Owner: "elsewhere", TTL: 15 * time.Second, Epoch: lease.Epoch})
			must(t, err)
			time.Sleep(5 * time.Second)
		}
	})
}

// What cannot be resumed is said once, and tried ever more rarely.
func TestChangedAgent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j, agent := newDisk(), pawl.Agent{Name: "a", Prompt: "Be kind.", Model: says("done")}
		left(t, j, "r", agent)
		changed := agent
		changed.Prompt = "Be quick."
		p := sweeps(t, j, changed)
		time.Sleep(24 * time.Hour)
		if n := p.log.Count("run cannot be resumed"); n != 1 || p.log.Count("prompt changed") != 1 {
			t.Errorf("it was said %d times: %s", n, p.log.String())
		}
		if n := p.tries.Load(); n < 24 || n > 40 {
			t.Errorf("it was tried %d times in a day", n)
		}
		p.end()
		sweeps(t, j, agent)
		time.Sleep(lease)
		if s := status(t, j, "r"); s != pawl.StatusSuccess {
			t.Errorf("under its own agent it is %v", s)
		}
	})
}

// A run that loses one owner after the other without a result may be what ends
// them, and is left alone.
func TestPoison(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j := newDisk()
		agent := pawl.Agent{Name: "a", Model: says("done")}
		left(t, j, "r", agent)
		ends := 0
		for range 20 { // each program dies of the run
			m := mortal{j, new(atomic.Bool)}
			deadly := agent
			deadly.Model = pawl.ModelFunc(func(ctx context.Context, _ pawl.Request) (pawl.Reply, error) {
				ends++
				m.dead.Store(true)
				<-ctx.Done()
				return pawl.Reply{}, ctx.Err()
			})
			p := sweeps(t, m, deadly)
			time.Sleep(2 * lease)
			p.end()
		}
		if ends != 4 { // and the first owner
			t.Errorf("it ended %d programs", ends)
		}
		p := sweeps(t, j, agent)
		time.Sleep(time.Hour)
		if s := status(t, j, "r"); s != pawl.StatusRunning || p.log.Count("its process ended 5 times in a row") != 1 {
			t.Errorf("it is %v: %s", s, p.log.String())
		}
		h, err := p.Engine.Resume(t.Context(), agent, "r", nil)
		must(t, err)
		if r, err := h.Wait(t.Context()); err != nil || r.Status != pawl.StatusSuccess {
			t.Errorf("resumed by hand it is %v, %v", r.Status, err)
		}
	})
}

// A run that was imported in the middle of its work may go on where it came from.
func TestImported(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		from, to, agent := newDisk(), newDisk(), pawl.Agent{Name: "a", Model: says("done")}
		left(t, from, "r", agent)
		var file strings.Builder
		must(t, archive.Export(t.Context(), from, "r", &file, &archive.Options{Raw: true}))
		_, err := archive.Import(t.Context(), to, strings.NewReader(file.String()))
		must(t, err)
		p := sweeps(t, to, agent)
		time.Sleep(time.Hour)
		if s := status(t, to, "r"); s != pawl.StatusRunning || p.log.Count("imported") != 1 {
			t.Errorf("it is %v: %s", s, p.log.String())
		}
	})
}

// client is a tool whose result somebody hands in.
type client struct{}

func (client) Info() pawl.ToolInfo {
	return pawl.ToolInfo{Name: "pick", Client: true, Input: []byte(`{"type":"object"}`)}
}

func (client) Run(context.Context, pawl.Invocation) (pawl.Output, error) {
	return pawl.Output{}, errors.New("it ran here, where the client is to run it")
}

var must = check.Must
