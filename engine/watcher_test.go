package engine_test

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/engine"
)

// gallery writes down what it is told, and puts each intent into its effect's context.
type gallery struct {
	mu    sync.Mutex
	seen  []string
	left  []string
	panic bool
}

type intentKey struct{}

func (g *gallery) Entry(_ context.Context, s *pawl.State, e pawl.Entry) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.seen = append(g.seen, fmt.Sprintf("%s %d %s", e.Run, e.Seq, e.Type()))
	if e.Seq != 0 && s.Seq() < e.Seq {
		g.seen = append(g.seen, "the state is older than the entry")
	}
	if g.panic {
		panic("SECRET-VALUE")
	}
}

func (g *gallery) Within(ctx context.Context, run string, intent uint64) context.Context {
	if g.panic {
		panic("SECRET-VALUE")
	}
	return context.WithValue(ctx, intentKey{}, fmt.Sprint(run, ".", intent))
}

func (g *gallery) Left(_ context.Context, run string, err error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.left = append(g.left, fmt.Sprint(run, " ", err))
}

// A watcher is told of every entry once, of its own engine's and in order, of the
// children's too, and of how the run was let go of; effects have the context that
// it gives for their intents.
func TestWatcherIsToldOfEverything(t *testing.T) { // Promises: T13.
	j, g := newTap(), &gallery{}
	var mu sync.Mutex
	var within []string
	clerk := pawl.Agent{Name: "clerk", Description: "Pays.", Model: turns([]pawl.Call{call("pay", 1)}), Tools: []pawl.Tool{
		fake{name: "pay", effect: pawl.Write, run: func(ctx context.Context, inv pawl.Invocation) (pawl.Output, error) {
			mu.Lock()
			defer mu.Unlock()
			within = append(within, fmt.Sprint(inv.Run, " ", ctx.Value(intentKey{})))
			return pawl.Output{}, nil
		}},
	}}
	e := engine.New(j, &engine.Options{Watchers: []engine.Watcher{g}})
	h, err := e.Start(t.Context(), boss(clerk), "go", &engine.StartOptions{ID: "r"})
	must(t, err)
	ends(t, h, pawl.StatusWaitingApproval)
	for _, run := range []string{"r", "r.c_1"} {
		var want []string
		for entry := range entriesOf(t, j, run) {
			want = append(want, fmt.Sprintf("%s %d %s", run, entry.Seq, entry.Type()))
		}
		got := slices.DeleteFunc(slices.Clone(g.seen), func(s string) bool { return !strings.HasPrefix(s, run+" ") })
		if !slices.Equal(got, want) {
			t.Errorf("of %s it is told\n%q, and the log says\n%q", run, got, want)
		}
	}
	if !slices.Equal(g.left, []string{"r.c_1 <nil>", "r <nil>"}) {
		t.Errorf("it is told that these were let go of: %q", g.left)
	}
	before := len(g.seen)
	must(t, e.Approve(t.Context(), "r.c_1", "c_1", "me", nil))
	h, err = e.Resume(t.Context(), boss(clerk), "r", nil)
	must(t, err)
	ends(t, h, pawl.StatusSuccess)
	if got := g.seen[before]; !strings.HasSuffix(got, "run.resumed") {
		t.Errorf("of the resumed run it is told %s first", got)
	}
	if len(within) != 1 || !slices.Contains(g.seen, strings.Replace(within[0][len("r.c_1 "):], "r.c_1.", "r.c_1 ", 1)+" tool.started") {
		t.Errorf("the tool ran within %q; told was %q", within, g.seen)
	}
}

// A watcher that panics changes nothing, and is told of to the operator without
// what is secret.
func TestWatcherPanics(t *testing.T) {
	var said strings.Builder
	e := engine.New(newTap(), &engine.Options{
		Watchers: []engine.Watcher{&gallery{panic: true}}, Secrets: map[string]string{"KEY": "SECRET-VALUE"},
		Log: slog.New(slog.NewTextHandler(&said, nil)),
	})
	h, err := e.Start(t.Context(), pawl.Agent{Name: "a", Model: turns()}, "go", nil)
	must(t, err)
	ends(t, h, pawl.StatusSuccess)
	if text := said.String(); !strings.Contains(text, "a watcher panicked") || strings.Contains(text, "SECRET-VALUE") {
		t.Errorf("said is %s", text)
	}
}

// What nobody else is told goes to the log: here that a call is tried again.
func TestLogTellsOfRetries(t *testing.T) {
	var said strings.Builder
	fails := true
	model := pawl.ModelFunc(func(context.Context, pawl.Request) (pawl.Reply, error) {
		if fails {
			fails = false
			return pawl.Reply{}, &pawl.ModelError{Class: pawl.ClassNetwork, Message: "no route"}
		}
		return pawl.Say("done"), nil
	})
	e := engine.New(newTap(), &engine.Options{Log: slog.New(slog.NewTextHandler(&said, nil))})
	h, err := e.Start(t.Context(), pawl.Agent{Name: "a", Model: model}, "go", &engine.StartOptions{ID: "r"})
	must(t, err)
	ends(t, h, pawl.StatusSuccess)
	if text := said.String(); !strings.Contains(text, "is tried again") || !strings.Contains(text, "run=r") || !strings.Contains(text, "class=network") {
		t.Errorf("said is %s", text)
	}
}
