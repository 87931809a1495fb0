package webhook_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/engine"
	"github.com/pawl-run/pawl/internal/testkit/check"
	"github.com/pawl-run/pawl/journal/memory"
	"github.com/pawl-run/pawl/journal/sqlite"
	"github.com/pawl-run/pawl/model/script"
	"github.com/pawl-run/pawl/tool"
	"github.com/pawl-run/pawl/webhook"
)

// serve has an outbox serve until the test ends.
func serve(t *testing.T, out *webhook.Outbox) {
	t.Helper()
	ctx, stop := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() { defer close(done); out.Serve(ctx) }()
	t.Cleanup(func() { stop(); <-done })
}

// A server tells of its own runs at once, and of those of others when it looks.
func TestServe(t *testing.T) {
	j, to := open(t), receive(t, nil)
	parked(t, j, "a")
	out := outbox(t, j, &webhook.Options{Public: "https://runs.example.org", Sweep: time.Hour}, to.hook())
	serve(t, out)
	eventually(t, "what was there before is not told", func() bool { return to.types() == "waiting" })
	b := parked(t, j, "b")
	out.Tell(b)
	eventually(t, "what is said to be there is not told", func() bool { return to.types() == "waiting waiting" })
	if to.got[0].Links.Approvals != nil || len(to.got[1].Links.Approvals) != 1 {
		t.Errorf("%+v, %+v", to.got[0].Links, to.got[1].Links)
	}
	out.Tell(settled(t, j, b))
	eventually(t, "the end is not told", func() bool { return to.types() == "waiting waiting stopped" })

	soon := outbox(t, j, &webhook.Options{Sweep: 20 * time.Millisecond}, to.hook())
	serve(t, soon)
	parked(t, j, "c")
	eventually(t, "another's run is not found", func() bool { return strings.Count(to.types(), "waiting") == 3 })
}

// A process that leaves delivers what it was told last, also what Serve has only just taken.
func TestFlush(t *testing.T) {
	j, to := open(t), receive(t, nil)
	out := outbox(t, j, nil, to.hook())
	out.Tell(parked(t, j, "a"))
	equal(t, "taken", webhook.Taken(out), []string{"a"})
	out.Tell(parked(t, j, "b"))
	out.Flush(t.Context())
	if to.types() != "waiting waiting" {
		t.Errorf("the receiver got %q, want two waiting", to.types())
	}
}

// A run that asks again while its first notice is being delivered has a link in its second one.
func TestAsksMeanwhile(t *testing.T) {
	j, asked, again := open(t), make(chan struct{}), make(chan struct{})
	to := receive(t, func(n int, w http.ResponseWriter, _ *http.Request) {
		if n == 1 {
			close(asked)
			<-again
		}
		w.WriteHeader(http.StatusNoContent)
	})
	out := outbox(t, j, &webhook.Options{Public: "https://runs.example.org"}, to.hook())
	first := parked(t, j, "a")
	var done sync.WaitGroup
	done.Go(func() { deliver(t, out, first) })
	<-asked
	out.Tell(settled(t, j, first, pawl.Do(pawl.Call{Tool: "pay", Args: json.RawMessage(`{"to": "bob"}`)})))
	equal(t, "taken", webhook.Taken(out), []string{"a"})
	close(again)
	done.Wait()
	out.Flush(t.Context())
	if to.types() != "waiting waiting" || len(to.got[1].Links.Approvals) != 1 {
		t.Errorf("the receiver got %q, with %+v", to.types(), to.got[len(to.got)-1].Links)
	}
}

// Two servers tell each notice once between them.
func TestTwoServers(t *testing.T) {
	path := filepath.Join(t.TempDir(), "runs.db")
	to := receive(t, func(int, http.ResponseWriter, *http.Request) { time.Sleep(5 * time.Millisecond) })
	var journals []*sqlite.Journal
	for range 2 {
		j, err := sqlite.Open(t.Context(), path, nil)
		must(t, err)
		t.Cleanup(func() { _ = j.Close() })
		journals = append(journals, j)
	}
	const runs = 20
	for i := range runs {
		parked(t, journals[0], fmt.Sprintf("r%d", i))
	}
	var all sync.WaitGroup
	for _, j := range journals {
		out := outbox(t, j, &webhook.Options{Sweep: 30 * time.Millisecond}, to.hook())
		all.Go(func() { serve(t, out) })
	}
	all.Wait()
	eventually(t, "not all are told", func() bool { return len(to.ids()) >= runs })
	time.Sleep(100 * time.Millisecond)
	if ids := to.ids(); len(ids) != runs || len(slices.Compact(slices.Sorted(slices.Values(ids)))) != runs {
		t.Errorf("%d notices: %q", len(ids), ids)
	}
}

// A child's request is told with its parent's run, and its token leads to it.
func TestChild(t *testing.T) {
	j, to := open(t), receive(t, nil)
	parent := pawl.Agent{
		Name: "parent", Tools: []pawl.Tool{tool.Agent(func() pawl.Agent {
			a := treasurer()
			a.Description, a.Limits = "Pays.", pawl.Limits{Tokens: 20_000}
			return a
		}(), nil)},
		Model: script.Replies(pawl.Do(pawl.Call{Tool: "treasurer", Args: json.RawMessage(`{"input": "Pay."}`)}), pawl.Say("Done.")),
	}
	r := finish(t)(engine.New(j, nil).Start(t.Context(), parent, "Go.", &engine.StartOptions{ID: "p"}))
	deliver(t, outbox(t, j, &webhook.Options{Public: "https://runs.example.org"}, to.hook()), r)
	var result pawl.Result
	must(t, json.Unmarshal(to.got[0].Result, &result))
	if len(result.Pending) != 1 || result.Pending[0].Run != r.Pending[0].Run || result.Pending[0].Run == "p" {
		t.Errorf("%+v", result.Pending)
	}
	if l := to.got[0].Links.Approvals; len(l) != 1 || l[0].Run != result.Pending[0].Run || !strings.Contains(l[0].URL, r.Pending[0].Token) {
		t.Errorf("%+v of %+v", l, r.Pending)
	}
}

func TestNoSecret(t *testing.T) {
	j, to := memory.New(), receive(t, nil)
	r := finish(t)(engine.New(j, nil).Start(t.Context(), pawl.Agent{Name: "a", Model: script.Replies(pawl.Say("Yes."))}, "Go.", nil))
	log := &check.Log{}
	hook := to.hook()
	hook.Secret = ""
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute) // the next try is later
	defer cancel()
	if left, err := outbox(t, j, &webhook.Options{Log: logger(log)}, hook).Deliver(ctx, r); left != 1 || err != nil || to.types() != "" {
		t.Errorf("%d are left, %q is told: %v", left, to.types(), err)
	}
	if !strings.Contains(log.String(), "cannot be called") {
		t.Error(log)
	}
	deliver(t, outbox(t, j, nil, to.hook()), r) // somebody who has it
}

// stuck is a journal that never gets to write down that something was delivered.
type stuck struct{ *sqlite.Journal }

func (s stuck) Send(ctx context.Context, l pawl.Signal) (pawl.Signal, error) {
	if strings.HasSuffix(l.Request, ".end") {
		fmt.Println("delivered")
		select {}
	}
	return s.Journal.Send(ctx, l)
}

// TestMain lets the test binary be a process that is killed.
func TestMain(m *testing.M) {
	if path := os.Getenv("DELIVER_FROM"); path != "" {
		j, err := sqlite.Open(context.Background(), path, nil)
		if err == nil {
			var out *webhook.Outbox
			out, err = webhook.New(stuck{j}, webhook.Always(webhook.Hook{URL: os.Getenv("DELIVER_TO"), Secret: secret}), &webhook.Options{Loopback: true})
			if err == nil {
				_, err = out.Deliver(context.Background(), pawl.Result{Run: "r"})
			}
		}
		fmt.Println(err)
		os.Exit(1)
	}
	os.Exit(m.Run())
}

// Who dies between a delivery and its mark is followed by somebody who delivers
// under the same id, and by nobody before his time is over.
func TestKilledBeforeTheMark(t *testing.T) {
	path := filepath.Join(t.TempDir(), "runs.db")
	j, err := sqlite.Open(t.Context(), path, nil)
	must(t, err)
	defer j.Close()
	to := receive(t, nil)
	r := parked(t, j, "r")
	cmd := exec.CommandContext(t.Context(), os.Args[0])
	cmd.Env = append(os.Environ(), "DELIVER_FROM="+path, "DELIVER_TO="+to.site.URL)
	said, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	must(t, err)
	line := make([]byte, len("delivered"))
	if _, err := said.Read(line); err != nil || string(line) != "delivered" {
		t.Fatalf("%s, %v", line, err)
	}
	_ = cmd.Process.Kill()
	if err := cmd.Wait(); err == nil || errors.Is(err, exec.ErrNotFound) {
		t.Fatal(err)
	}
	out := outbox(t, j, nil, to.hook())
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	if left, err := out.Deliver(ctx, r); left != 1 || err != nil || to.types() != "waiting" {
		t.Errorf("%d are left, %q is told: %v", left, to.types(), err)
	}
	webhook.Ahead(out, time.Minute)
	deliver(t, out, r)
	if ids := to.ids(); to.types() != "waiting waiting" || ids[0] != ids[1] {
		t.Errorf("%q, %q", to.types(), ids)
	}
	deliver(t, out, r)
	equal(t, "books", books(t, j, "r"), []string{fmt.Sprintf("%d.1", to.got[0].Seq), fmt.Sprintf("%d.2", to.got[0].Seq), fmt.Sprintf("%d.end", to.got[0].Seq)})
}
