package engine_test

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/engine"
	"github.com/pawl-run/pawl/journal/memory"
	"github.com/pawl-run/pawl/pawltest"
	"github.com/pawl-run/pawl/tool"
)

// once is an agent that calls a tool once.
func once(of pawl.Tool, args string) pawl.Agent {
	return pawl.Agent{Name: "a", Tools: []pawl.Tool{of}, Model: pawl.ModelFunc(func(_ context.Context, r pawl.Request) (pawl.Reply, error) {
		if len(r.Messages) > 1 {
			return pawl.Say("done"), nil
		}
		return pawl.Reply{Parts: []pawl.Part{pawl.Call{Tool: of.Info().Name, Args: json.RawMessage(args)}}}, nil
	})}
}

// reporting is a tool that reports progress.
func reporting(limit time.Duration, effect pawl.Effect, run func(ctx context.Context) error) pawl.Tool {
	return fake{name: "count", effect: effect, limit: limit, run: func(ctx context.Context, _ pawl.Invocation) (pawl.Output, error) {
		return pawl.Output{}, run(ctx)
	}}
}

// seen are the reports that a watcher of a run sees.
func seen(t *testing.T, h *engine.Handle) (shown []string) {
	over := false
	for e, err := range h.Entries(t.Context()) {
		must(t, err)
		switch ev := e.Event.(type) {
		case pawl.ToolProgressed:
			if e.Seq != 0 || ev.Call != "c_1" || ev.Tool != "count" || ev.Agent != "" || over {
				t.Errorf("%+v", e)
			}
			shown = append(shown, fmt.Sprintf("%v %s", ev.Fraction, ev.Text))
		case pawl.ToolFinished:
			over = true
		}
	}
	return shown
}

func watched(t *testing.T, a pawl.Agent, o *engine.Options) *engine.Handle {
	h, err := engine.New(memory.New(), o).Start(t.Context(), a, "go", &engine.StartOptions{Watch: true})
	must(t, err)
	return h
}

// However often a tool reports, it is shown five times a second, and the last report always.
func TestProgressIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const n = 100_000
		h := watched(t, once(reporting(time.Minute, pawl.Read, func(ctx context.Context) error {
			for i := range n {
				tool.Progress(ctx, float64(i+1)/n, fmt.Sprintf("%d of %d", i+1, n))
				if i%1000 == 0 {
					time.Sleep(20 * time.Millisecond) // two seconds in all
				}
			}
			return nil
		}), "{}"), nil)
		shown := seen(t, h)
		if len(shown) < 9 || len(shown) > 12 || shown[0] != "1e-05 1 of 100000" || shown[len(shown)-1] != "1 100000 of 100000" {
			t.Errorf("%d were shown: %q", len(shown), shown)
		}
	})
}

// A watcher that begins during a call sees what it reported last.
func TestProgressForLateWatcher(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		host := engine.New(memory.New(), nil)
		h, err := host.Start(t.Context(), once(reporting(time.Minute, pawl.Read, func(ctx context.Context) error {
			tool.Progress(ctx, 0.5, "half")
			time.Sleep(10 * time.Second)
			return nil
		}), "{}"), "go", nil)
		must(t, err)
		time.Sleep(5 * time.Second)
		h = host.Live(h.ID())
		if shown := seen(t, h); len(shown) != 1 || shown[0] != "0.5 half" {
			t.Errorf("shown: %q", shown)
		}
	})
}

// Numbers that are no progress change nothing, and texts are cleaned and cut.
func TestProgressIsClean(t *testing.T) {
	const secret = "hunter2hunter2"
	reports := []struct {
		fraction float64
		text     string
		want     string
	}{
		{0.5, "half", "0.5 half"},
		{0.3, "back", "0.5 back"},
		{math.NaN(), "none", "0.5 none"},
		{7, "percent", "0.5 percent"},
		{-1, "percent", ""}, // nothing new
		{0.6, "two\nlines\x1b[2J \xff\r", "0.6 two lines \uFFFD"},
		{0.7, "key " + secret, "0.7 key {{secret:KEY}}"},
		{0.7, strings.Repeat("word ", 60)[:197] + secret, "0.7 " + strings.Repeat("word ", 39) + "…"},
		{0.7, strings.Repeat("x", 1<<20), "0.7 …"},
		{1, "", "1 "},
	}
	synctest.Test(t, func(t *testing.T) {
		lefts := make(chan context.Context, 1)
		h := watched(t, once(reporting(time.Minute, pawl.Read, func(ctx context.Context) error {
			lefts <- ctx
			for _, r := range reports {
				tool.Progress(ctx, r.fraction, r.text)
				time.Sleep(time.Second)
			}
			return nil
		}), "{}"), &engine.Options{Secrets: map[string]string{"KEY": secret}})
		shown := seen(t, h)
		var want []string
		for _, r := range reports {
			if r.want != "" {
				want = append(want, r.want)
			}
		}
		if got := strings.Join(shown, "|"); got != strings.Join(want, "|") {
			t.Errorf("shown:\n%q\nwant:\n%q", shown, want)
		}
		tool.Progress(<-lefts, 1, "after the end")
		tool.Progress(t.Context(), 1, "outside of a call")
	})
}

// The caller of an agent sees the progress of its calls if it asked for it.
func TestProgressOfChild(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		child := once(reporting(time.Minute, pawl.Read, func(ctx context.Context) error {
			tool.Progress(ctx, 0.5, "half")
			return nil
		}), "{}")
		child.Name, child.Description = "helper", "It helps."
		h := watched(t, once(tool.Agent(child, nil), `{"input":"count"}`), &engine.Options{Children: true})
		n := 0
		for e, err := range h.Entries(t.Context()) {
			must(t, err)
			if p, ok := e.Event.(pawl.ToolProgressed); ok {
				if n++; e.Run == h.ID() || p.Agent != "helper" || p.Text != "half" {
					t.Errorf("%+v", e)
				}
			}
		}
		if n != 1 {
			t.Errorf("%d reports", n)
		}
	})
}

// A run whose tools report survives the death of its process at every entry.
func TestProgressKilled(t *testing.T) {
	pawltest.KillEverywhere(t, func() pawl.Agent {
		return once(reporting(time.Minute, pawl.Write, func(ctx context.Context) error {
			tool.Progress(ctx, 0.5, "half")
			return nil
		}), "{}")
	}, "go", nil)
}
