package temporal

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/approval"
	"github.com/pawl-run/pawl/engine"
	"github.com/pawl-run/pawl/internal/testkit/check"
	"github.com/pawl-run/pawl/journal/postgres"
	"github.com/pawl-run/pawl/journal/sqlite"
	"github.com/pawl-run/pawl/runs"
	"github.com/pawl-run/pawl/runs/worker"
	"github.com/pawl-run/pawl/tool"
)

var rewrite = flag.Bool("rewrite", false, "write the histories under testdata again, from a server")

// TestMain lets the test binary be a worker.
func TestMain(m *testing.M) {
	if os.Getenv("PAWL_TEST_WORKER") == "" {
		os.Exit(m.Run())
	}
	if err := playWorker(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// A town is a Temporal server of the test's own, a journal, and workers in processes of
// their own.
type town struct {
	t       *testing.T
	dir     string
	port    int
	server  *exec.Cmd
	url     string // of the journal
	journal store
	engine  *engine.Engine
	client  *Client
	fast    bool // leases, heartbeats and sweeps are short
}

// A store is a journal that is closed in the end.
type store interface {
	pawl.Journal
	pawl.Inbox
	io.Closer
}

func openStore(ctx context.Context, url string) (store, error) {
	if strings.HasPrefix(url, "postgres://") {
		return postgres.Open(ctx, url, nil)
	}
	return sqlite.Open(ctx, url, nil)
}

// newTown starts a server. It takes the program temporal, which make proof builds. The
// journal is a file, unless there is a url of another.
func newTown(t *testing.T, fast bool, url string) *town {
	t.Helper()
	if os.Getenv("PAWL_PROOF") == "" && !*rewrite {
		t.Skip("PAWL_PROOF is not set")
	}
	w := &town{t: t, dir: t.TempDir(), fast: fast}
	w.url = cmp.Or(url, filepath.Join(w.dir, "runs.db"))
	l, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	w.port = l.Addr().(*net.TCPAddr).Port
	_ = l.Close()
	if w.journal, err = openStore(t.Context(), w.url); err != nil {
		t.Fatal(err)
	}
	w.engine = engine.New(w.journal, nil)
	t.Cleanup(func() {
		w.killServer()
		if w.client != nil {
			w.client.Close()
		}
		must(t, errors.Join(w.engine.Close(), w.journal.Close()))
	})
	w.startServer()
	if w.client, err = Dial(t.Context(), w.target(), nil); err == nil {
		err = w.client.prepare(t.Context())
	}
	must(t, err)
	return w
}

func (w *town) store() string  { return filepath.Join(w.dir, "temporal.db") }
func (w *town) target() string { return fmt.Sprintf("temporal://127.0.0.1:%d/default", w.port) }

// startServer returns when the server answers.
func (w *town) startServer() {
	w.t.Helper()
	program, err := filepath.Abs("../bin/temporal")
	if name := os.Getenv("PAWL_TEST_TEMPORAL"); name != "" {
		program = name
	}
	must(w.t, err)
	if _, err := os.Stat(program); err != nil {
		w.t.Fatalf("no server to test with: %v; build it with make bin/temporal", err)
	}
	// Its ports beside the first one are found by the kernel.
	args := []string{"server", "start-dev", "--headless", "--ip", "127.0.0.1", "--port", strconv.Itoa(w.port), "--log-level", "never"}
	if w.fast { // it is killed
		args = append(args, "--db-filename", w.store())
	}
	w.server = exec.Command(program, args...)
	w.server.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	must(w.t, w.server.Start())
	for began := time.Now(); ; time.Sleep(100 * time.Millisecond) {
		c, err := Dial(w.t.Context(), w.target(), nil)
		if err == nil {
			c.Close()
			return
		}
		if time.Since(began) > time.Minute {
			w.t.Fatal(err)
		}
	}
}

// killServer kills the server without a warning.
func (w *town) killServer() {
	if w.server != nil {
		_ = w.server.Process.Kill()
		_ = w.server.Wait()
		w.server = nil
	}
}

// A hand is a worker's process.
type hand struct {
	*exec.Cmd

	t *testing.T
}

// hire starts a worker for so many runs at once, with more in its environment.
func (w *town) hire(slots int, env ...string) *hand {
	w.t.Helper()
	c := exec.Command(os.Args[0], "-test.run", "^$")
	c.Env = append(os.Environ(), "PAWL_TEST_WORKER="+w.target(), "PAWL_TEST_DATABASE="+w.url, "PAWL_TEST_SLOTS="+strconv.Itoa(slots), "PAWL_TEST_DIR="+w.dir)
	c.Env = append(c.Env, env...)
	if w.fast {
		c.Env = append(c.Env, "PAWL_TEST_FAST=1")
	}
	c.Stderr = os.Stderr
	must(w.t, c.Start())
	h := &hand{c, w.t}
	w.t.Cleanup(h.kill)
	return h
}

func (h *hand) kill() {
	_ = h.Process.Kill()
	_ = h.Wait()
}

// playWorker is what a worker's process does.
func playWorker() error {
	ctx, cancel := signal.NotifyContext(context.Background(), os.Interrupt)
	defer cancel()
	j, err := openStore(ctx, os.Getenv("PAWL_TEST_DATABASE"))
	if err != nil {
		return err
	}
	defer j.Close()
	o := &engine.Options{}
	work := &worker.Options{Log: slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelError}))}
	if os.Getenv("PAWL_TEST_FAST") != "" {
		o.Lease, work.Every = fastLease, fastSweep
		driving.HeartbeatTimeout = fastHeartbeat
	}
	if work.Slots, err = strconv.Atoi(os.Getenv("PAWL_TEST_SLOTS")); err != nil {
		return err
	}
	c, err := Dial(ctx, os.Getenv("PAWL_TEST_WORKER"), nil)
	if err != nil {
		return err
	}
	defer c.Close()
	e := engine.New(j, o)
	defer e.Close()
	return c.Work(ctx, j, shop{e}, 0, work)
}

// What a fast town shortens.
const (
	fastLease     = time.Second
	fastHeartbeat = 2 * time.Second
	fastSweep     = 3 * time.Second
)

// A shop drives the runs of all agents of the tests, and makes each from its name.
type shop struct{ *engine.Engine }

var shopped = []string{"long", "look", "short", "brief", "slow", "steady"}

func (shop) Names(context.Context) ([]string, error) { return shopped, nil }

func (s shop) Again(_ context.Context, run *pawl.State) (worker.Work, error) {
	return worker.Work{Agent: agentNamed(run.Declaration().Agent), Engine: s.Engine}, nil
}

// agentNamed makes an agent. Each counts its turns and then is done: long sends no mail
// for a hundred, but for two that need an approval; look is long without them; short sends a mail in each of five;
// brief asks at once; slow sends a mail every second turn for some minutes; steady
// sends one in each turn, at leisure.
func agentNamed(name string) pawl.Agent {
	turns := map[string]int{"long": 100, "look": 100, "short": 5, "brief": 1, "slow": 1000, "steady": 20}[name]
	a := pawl.Agent{Name: name, Limits: pawl.Limits{Iterations: 2000, Tokens: 100_000_000}}
	a.Model = pawl.ModelFunc(func(_ context.Context, r pawl.Request) (pawl.Reply, error) {
		args := json.RawMessage(fmt.Sprintf(`{"turn":%d}`, r.Turn))
		if name == "slow" || name == "steady" {
			time.Sleep(200 * time.Millisecond)
		}
		if err := note("asked", fmt.Sprint(r.Run, " ", r.Turn, " ", os.Getenv("TEMPORAL_WORKER_BUILD_ID"))); err != nil {
			return pawl.Reply{}, err
		}
		switch {
		case r.Turn > turns:
			return pawl.Say("done"), nil
		case name == "short", name == "steady", name == "brief", name == "slow" && r.Turn%2 == 0, name == "long" && (r.Turn == 30 || r.Turn == 60):
			return pawl.Do(pawl.Call{Tool: "send", Args: args}), nil
		}
		return pawl.Do(pawl.Call{Tool: "look", Args: args}), nil
	})
	type turn struct {
		Turn int `json:"turn"`
	}
	a.Tools = []pawl.Tool{
		tool.Func("look", "Look.", func(_ context.Context, t turn) (string, error) {
			return strings.Repeat("It is as it was. ", 20), nil
		}, pawl.Read),
		sender{tool.Func("send", "Send a mail.", func(ctx context.Context, t turn) (string, error) {
			return "sent", send(ctx, t.Turn)
		}, pawl.Write)},
	}
	if name == "long" || name == "brief" {
		a.Policies = []pawl.Policy{approval.ForEffect(pawl.Write)}
	}
	return a
}

// A sender tells the model when the outcome of its call is unknown, and goes on.
type sender struct{ pawl.Tool }

func (s sender) Info() pawl.ToolInfo {
	i := s.Tool.Info()
	i.OnDoubt = pawl.DoubtTell
	return i
}

// Run puts the run into the context for send.
func (s sender) Run(ctx context.Context, in pawl.Invocation) (pawl.Output, error) {
	return s.Tool.Run(context.WithValue(ctx, sender{}, in.Run), in)
}

// send takes a while in the middle of which a mail leaves.
func send(ctx context.Context, turn int) error {
	nap := func() { time.Sleep(time.Duration(rand.IntN(20)) * time.Millisecond) }
	nap()
	defer nap()
	return note("sent", fmt.Sprint(ctx.Value(sender{}), " ", turn))
}

// note adds a line to a file that all workers of a town share.
func note(file, line string) error {
	f, err := os.OpenFile(filepath.Join(os.Getenv("PAWL_TEST_DIR"), file), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintln(f, line)
	return errors.Join(err, f.Close())
}

// queue leaves a run of an agent in the journal, and returns its head.
func (w *town) queue(agent, run string) pawl.Head {
	w.t.Helper()
	if _, err := w.engine.Queue(w.t.Context(), agentNamed(agent), "go", &engine.StartOptions{ID: run}); err != nil {
		w.t.Fatal(err)
	}
	return w.head(run)
}

func (w *town) head(run string) pawl.Head {
	w.t.Helper()
	h, err := runs.Head(w.t.Context(), w.journal, run)
	must(w.t, err)
	return h
}

// begin queues a run and hands it to Temporal.
func (w *town) begin(agent, run string) {
	w.t.Helper()
	must(w.t, w.client.Start(w.t.Context(), w.queue(agent, run)))
}

// until waits until so many runs have a status.
func (w *town) until(n int, status pawl.Status, most time.Duration) {
	w.t.Helper()
	got := 0
	for began := time.Now(); time.Since(began) < most; time.Sleep(20 * time.Millisecond) {
		got = 0
		for _, err := range w.journal.List(w.t.Context(), pawl.Query{Status: status}) {
			must(w.t, err)
			got++
		}
		if got >= n {
			return
		}
	}
	w.t.Fatalf("after %v, %d of %d runs are %v", most, got, n, status)
}

// approve approves what a run waits for.
func (w *town) approve(run string) {
	w.t.Helper()
	to, err := runs.Address(w.t.Context(), w.journal, run, func(*pawl.State) runs.Sender { return w.engine })
	if err == nil && len(to.Pending) == 0 {
		err = errors.New("it waits for nothing")
	}
	if err == nil {
		err = to.Signal(w.t.Context(), to.Pending[0].Call, runs.Approval("ada", nil))
	}
	if err != nil {
		w.t.Fatal(run, err)
	}
}

// noted are the lines of a file that the workers share.
func (w *town) noted(file string) []string {
	w.t.Helper()
	text, err := os.ReadFile(filepath.Join(w.dir, file))
	must(w.t, err)
	return strings.Fields(strings.ReplaceAll(string(text), " ", "/"))
}

// duplicates counts the mails that were sent twice.
func (w *town) duplicates() (sent, twice int) {
	w.t.Helper()
	seen := map[string]bool{}
	for _, line := range w.noted("sent") {
		sent++
		if seen[line] {
			twice++
		}
		seen[line] = true
	}
	return sent, twice
}

// at are the times of a run's entries of a type.
func (w *town) at(run, kind string) (at []time.Time) {
	w.t.Helper()
	for e, err := range engine.Entries(w.t.Context(), w.journal, run, 1) {
		must(w.t, err)
		if e.Type() == kind {
			at = append(at, e.Time)
		}
	}
	return at
}

var must = check.Must
