package lessons

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"testing"
	"time"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/engine"
	"github.com/pawl-run/pawl/hook"
	"github.com/pawl-run/pawl/journal/memory"
)

// recorded: a structured log is one of lines of JSON at the level its logger
// has, and calls of one name that run at once have each their own time in it.
func recorded(t *testing.T) {
	for level, want := range map[slog.Level]int{slog.LevelInfo: 3, slog.LevelWarn: 1} {
		t.Run(level.String(), func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				var b bytes.Buffer
				o := hooks(hook.Records(slog.New(slog.NewJSONHandler(&b, &slog.HandlerOptions{Level: level})), nil))
				agent := pawl.Agent{Name: "waiter", Model: says(t, pawl.Do(call("wait", 5), call("wait", 1), call("wait", 0)), pawl.Say("done")), Tools: []pawl.Tool{
					does("wait", pawl.Read, func(_ context.Context, n int) (string, error) {
						time.Sleep(time.Duration(n) * time.Second)
						if n == 0 {
							return "", fmt.Errorf("no time")
						}
						return "waited", nil
					}),
				}}
				ends(t, begin(t, engine.New(memory.New(), o), agent), pawl.Success)
				ended := map[string]time.Duration{}
				for d := json.NewDecoder(&b); ; {
					var line struct {
						Msg, Run, Call string
						Duration       time.Duration
					}
					if err := d.Decode(&line); err == io.EOF {
						break
					} else if err != nil || line.Run != run {
						t.Fatal(line, err)
					}
					if line.Msg == "tool.finished" {
						ended[line.Call] = line.Duration
					}
				}
				if len(ended) != want || want == 3 && (ended["c_1"] != 5*time.Second || ended["c_2"] != time.Second) {
					t.Errorf("the calls took %v", ended)
				}
			})
		})
	}
}

// useless: replies that say nothing are made again as often as was said, in
// each run for itself; a call is a reply, whatever stands beside it.
func useless(t *testing.T) {
	h := hook.Retry(1, nil)
	e := engine.New(memory.New(), hooks(h))
	for n := range 2 { // one hook, two runs
		model := says(t, pawl.Say("n/a"), do("look", 1), pawl.Say("done"))
		agent := pawl.Agent{Name: "a", Model: model, Tools: []pawl.Tool{echo("look", pawl.Read, nil)}}
		handle, err := e.Start(t.Context(), agent, "go", &engine.StartOptions{ID: fmt.Sprint(run, n)})
		if err != nil {
			t.Fatal(err)
		}
		if res := ends(t, handle, pawl.Success); res.Answer != "done" || model.asked() != 3 {
			t.Errorf("run %d: %q after %d requests", n, res.Answer, model.asked())
		}
	}
	model := says(t, pawl.Say("n/a"), pawl.Say("n/a"), pawl.Say("done"))
	handle, err := e.Start(t.Context(), pawl.Agent{Name: "a", Model: model}, "go", nil)
	if err != nil {
		t.Fatal(err)
	}
	if ends(t, handle, pawl.Success); model.asked() != 2 {
		t.Errorf("asked %d times where one more try was allowed", model.asked())
	}
}

// badHandler is a handler of a log that breaks.
type badHandler struct{ slog.Handler }

func (badHandler) Handle(context.Context, slog.Record) error { panic("the disk is full") }

// brokenLog: a log that cannot be written costs no run.
func brokenLog(t *testing.T) {
	l := slog.New(badHandler{slog.DiscardHandler})
	agent := looker(t, nil)
	e := engine.New(memory.New(), hooks(hook.Log(l, nil), hook.Records(l, nil)))
	ends(t, begin(t, e, agent), pawl.Success)
	sound(t, e, agent)
}
