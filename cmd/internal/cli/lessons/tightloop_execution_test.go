package lessons

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/engine"
	"github.com/pawl-run/pawl/journal/memory"
	"github.com/pawl-run/pawl/tool"
)

// prefix: the model gets turns and results as such, and each request begins
// with the whole of the one before. The ear complains if not; here is that it
// had something to hear.
func prefix(t *testing.T) {
	model := scripted(t, "replies: [{text: step, calls: [{tool: step, args: {n: \"{{turn}}\"}}, {tool: nothere}]}]\nrepeat: last")
	agent := pawl.Agent{Name: "walker", Prompt: "Walk.", Model: model, Tools: []pawl.Tool{echo("step", pawl.Read, nil)}, Limits: pawl.Limits{Iterations: 15}}
	inMemory(t, agent, pawl.Exhausted)
	if model.asked() != 16 { // the last is the landing
		t.Fatalf("asked %d times", model.asked())
	}
	for i, r := range model.heard[:15] {
		if len(r.Messages) != 1+2*i || len(r.Tools) != 1 || r.System != "Walk." {
			t.Errorf("request %d has %d messages, %d tools and the prompt %q", i+1, len(r.Messages), len(r.Tools), r.System)
		}
	}
	if res, ok := result(model.heard[14], "c_27"); !ok || res.Failed || res.Text() != "step of 14" {
		t.Errorf("the 14th step: %+v", res)
	}
}

// tooLong: a provider that finds a conversation too long gets a shorter one,
// which says what was left out.
func tooLong(t *testing.T) {
	model := scripted(t, `
replies:
  - calls: [{tool: read}]
  - attempts:
      - error: {class: too_long, message: 200001 tokens}
      - text: done`)
	agent := pawl.Agent{Name: "reader", Model: model, Tools: []pawl.Tool{
		does("read", pawl.Read, func(context.Context, int) (string, error) { return strings.Repeat("long ", 2000), nil }),
	}}
	inMemory(t, agent, pawl.Success)
	if text := told(model.last()); len(text) > 500 || !strings.Contains(text, "10,002 bytes are left out here") {
		t.Errorf("it was sent\n%.600s", text)
	}
}

// leftBehind: a function that does not heed its context costs the run its
// time-out and a second, and what it returns in the end reaches nobody.
func leftBehind(t *testing.T) {
	bubble(t, func(t *testing.T) {
		model := says(t, do("hang", 1), pawl.Say("done"))
		agent := pawl.Agent{Name: "waiter", Model: model, Tools: []pawl.Tool{
			tool.FuncWith("hang", "Hangs.", func(context.Context, number) (string, error) { time.Sleep(time.Hour); return "too late", nil }, pawl.Read,
				&tool.Options{Timeout: 10 * time.Second}),
		}}
		began := time.Now()
		_, j := inMemory(t, agent, pawl.Success)
		if took := time.Since(began); took > 12*time.Second {
			t.Errorf("it took %v", took)
		}
		time.Sleep(2 * time.Hour)
		f := events[pawl.ToolFinished](t, j)
		if len(f) != 1 || !f[0].Abandoned || f[0].Status != pawl.ToolTimeout || strings.Contains(told(model.last()), "too late") {
			t.Errorf("the log says %+v", f)
		}
	})
}

// linger is a program whose tool never returns.
func linger([]string) error {
	agent := pawl.Agent{Name: "waiter", Model: pawl.ModelFunc(func(_ context.Context, r pawl.Request) (pawl.Reply, error) {
		if len(r.Messages) == 1 {
			return do("hang", 1), nil
		}
		return pawl.Say("done"), nil
	}), Tools: []pawl.Tool{
		tool.FuncWith("hang", "Hangs.", func(context.Context, number) (string, error) { select {} }, pawl.Read, &tool.Options{Timeout: 50 * time.Millisecond}),
	}}
	res, err := engine.Run(context.Background(), agent, "go")
	fmt.Println(res.Answer)
	return err
}

func processLeaves(t *testing.T) {
	cmd := program(t, "child", "linger")
	done := time.AfterFunc(10*time.Second, func() { _ = cmd.Process.Kill() })
	defer done.Stop()
	out, err := cmd.CombinedOutput()
	if err != nil || string(out) != "done\n" {
		t.Errorf("the program says %q, %v", out, err)
	}
}

func needShell(t testing.TB) {
	t.Helper()
	needProgram(t, "/bin/sh")
}

// needProgram skips the test where a program is missing, but not under CI.
func needProgram(t testing.TB, name string) {
	t.Helper()
	if _, err := exec.LookPath(name); err != nil {
		if os.Getenv("CI") != "" {
			t.Fatal(err)
		}
		t.Skip(err)
	}
}

// wholeGroup: what a command has started ends with it, though it ignores TERM
// and holds the pipes.
func wholeGroup(t *testing.T) {
	needShell(t)
	for _, limit := range []time.Duration{500 * time.Millisecond, 10 * time.Second} { // a slow machine may need the longer one
		pids := filepath.Join(t.TempDir(), "pids")
		agent := pawl.Agent{Name: "waiter", Model: says(t, pawl.Do(pawl.Call{Tool: "hang"}), pawl.Say("done")), Tools: []pawl.Tool{
			tool.Command("hang", "Hangs.", []string{"/bin/sh", "-c", `(trap "" TERM; echo $$ >>"$0"; sleep 60 & echo $! >>"$0"; wait; sleep 60) & wait; sleep 60`, pids},
				&tool.CommandOptions{Effect: pawl.Read, Timeout: limit, Grace: 100 * time.Millisecond}),
		}}
		began := time.Now()
		_, j := inMemory(t, agent, pawl.Success)
		if took := time.Since(began); took > limit+10*time.Second { // it would sleep for a minute
			t.Errorf("it took %v", took)
		}
		if f := events[pawl.ToolFinished](t, j); len(f) != 1 || f[0].Status != pawl.ToolTimeout || f[0].Abandoned {
			t.Errorf("the log says %+v", f)
		}
		text, err := os.ReadFile(pids)
		list := strings.Fields(string(text))
		if err != nil || len(list) != 2 {
			continue // it did not get as far
		}
		for _, field := range list {
			pid, err := strconv.Atoi(field)
			if err != nil {
				t.Fatal(err)
			}
			soon(t, "process "+field+" is gone", func() bool { return gone(pid) })
		}
		return
	}
	t.Error("the command never came to start others")
}

// gone reports whether there is no such process, or only what is left of one.
func gone(pid int) bool {
	if syscall.Kill(pid, 0) != nil {
		return true
	}
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	return err == nil && strings.Contains(string(text), ") Z ")
}

// boundedOutput: of what a command prints only so much is kept in memory.
func boundedOutput(t *testing.T) {
	needShell(t)
	model := says(t, pawl.Do(pawl.Call{Tool: "shout"}), pawl.Say("done"))
	agent := pawl.Agent{Name: "listener", Model: model, Tools: []pawl.Tool{
		tool.Command("shout", "Shouts.", []string{"/bin/sh", "-c", "i=0; while [ $i -lt 40000 ]; do echo 'a line of some forty bytes, again and again'; i=$((i+1)); done; echo the end"},
			&tool.CommandOptions{Effect: pawl.Read}),
	}}
	inMemory(t, agent, pawl.Success)
	r, _ := result(model.last(), "c_1")
	if text := r.Text(); len(text) > 20<<10 || !strings.HasSuffix(text, "the end") {
		t.Errorf("of 1.8 MB the model is given %d bytes, ending in %q", len(text), text[max(0, len(text)-30):])
	}
}

// clamped: neither a tool nor a model may take longer than the run has left.
func clamped(t *testing.T) {
	hang := does("hang", pawl.Read, func(ctx context.Context, _ int) (string, error) { <-ctx.Done(); return "", ctx.Err() })
	for name, model := range map[string]string{
		"tool":  "replies: [{calls: [{tool: hang}]}, {text: done}]",
		"model": "replies: [{hang: true, text: slowly}]",
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				agent := pawl.Agent{Name: "waiter", Model: scripted(t, model), Tools: []pawl.Tool{hang}, Limits: pawl.Limits{Time: 5 * time.Second}}
				began := time.Now()
				res, _ := inMemory(t, agent, pawl.Exhausted)
				if took := time.Since(began); took > 6*time.Second || res.Reason.Leaf != "elapsed >= 5s" {
					t.Errorf("it took %v: %v", took, res.Reason)
				}
			})
		})
	}
}

// notRetried: what the provider calls wrong, and what is broken in the program,
// is not sent again; what is only busy is, and later each time.
func notRetried(t *testing.T) {
	for name, c := range map[string]struct {
		model string
		asked int
		want  pawl.Status
	}{
		"invalid":    {"replies: [{error: {class: invalid, message: no}}]", 1, pawl.Failed},
		"auth":       {"replies: [{error: {class: auth, message: no}}]", 1, pawl.Failed},
		"overloaded": {"replies: [{attempts: [{error: {class: overloaded, message: no}}, {error: {class: overloaded, message: no}}, {text: done}]}]", 3, pawl.Success},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				model := scripted(t, c.model)
				inMemory(t, pawl.Agent{Name: "a", Model: model}, c.want)
				if model.asked() != c.asked {
					t.Errorf("asked %d times, want %d", model.asked(), c.asked)
				}
			})
		})
	}
	asked := 0
	broken := pawl.ModelFunc(func(context.Context, pawl.Request) (pawl.Reply, error) { asked++; panic("broken") })
	if inMemory(t, pawl.Agent{Name: "a", Model: broken}, pawl.Failed); asked != 1 {
		t.Errorf("a model that panics was asked %d times", asked)
	}
}

// atOnce: calls that change nothing run beside each other.
func atOnce(t *testing.T) {
	bubble(t, func(t *testing.T) {
		var calls []pawl.Call
		for n := range 50 {
			calls = append(calls, call("wait", n))
		}
		agent := pawl.Agent{Name: "a", Model: says(t, pawl.Do(calls...), pawl.Say("done")), Tools: []pawl.Tool{
			does("wait", pawl.Read, func(context.Context, int) (string, error) { time.Sleep(time.Second); return "", nil }),
		}}
		began := time.Now()
		if inMemory(t, agent, pawl.Success); time.Since(began) > 1100*time.Millisecond {
			t.Errorf("50 calls of a second took %v", time.Since(began))
		}
	})
}

// streamed: pieces of a reply can be seen before it is whole.
func streamed(t *testing.T) {
	bubble(t, func(t *testing.T) {
		model := scripted(t, "replies: [{text: one two three four, chunks: 4, delay: 4s}]")
		began := time.Now()
		h := begin(t, engine.New(memory.New(), nil), pawl.Agent{Name: "a", Model: model})
		pieces, first := 0, time.Duration(0)
		for e, err := range h.Entries(t.Context()) {
			if err != nil {
				t.Fatal(err)
			}
			if _, ok := e.Event.(pawl.ModelDelta); ok {
				if pieces++; first == 0 {
					first = time.Since(began)
				}
			}
		}
		if pieces < 4 || first >= 4*time.Second {
			t.Errorf("%d pieces, the first after %v", pieces, first)
		}
	})
}

// tellsAll: a line of the log has run, seq and iteration, its calls have their
// arguments and results, resuming is an entry of its own, and the command
// decides every step of it again.
func tellsAll(t *testing.T) {
	needShell(t)
	u := newUser(t, map[string]string{
		"agent.yaml": `
name: teller
model: script:script.yaml
tools:
  - {name: look, description: Look., command: [/bin/sh, -c, "echo seen"], effect: read, input: {type: object, properties: {q: {type: string}}}}`,
		"script.yaml": "replies: [{calls: [{tool: look, args: {q: shoes}}]}, {expect: seen, text: done}]",
	})
	u.must(3, "run", "agent.yaml", "go", "--limit", "iterations=1")
	u.must(0, "resume", "last", "--limit", "iterations=+1")
	u.must(0, "replay", "last")
	result := u.shows()
	seen := map[string]int{}
	for i, e := range u.entries() {
		if e.Run != result.Run || e.Seq != uint64(i+1) || e.Time.IsZero() {
			t.Errorf("line %d is entry %d of run %s at %v", i+1, e.Seq, e.Run, e.Time)
		}
		seen[e.Type()]++
		switch ev := e.Event.(type) {
		case pawl.RunStarted:
			if ev.Declaration.Machine == 0 {
				t.Error("the log does not say which machine decided it")
			}
		case pawl.ToolStarted:
			if string(ev.Args) != `{"q":"shoes"}` || ev.Key == "" {
				t.Errorf("started with %s under the key %q", ev.Args, ev.Key)
			}
		case pawl.ToolFinished:
			if string(ev.Result) != `"seen"` {
				t.Errorf("finished with %s", ev.Result)
			}
		}
	}
	if seen["run.started"] != 1 || seen["run.resumed"] != 1 || seen["tool.started"] != 1 {
		t.Errorf("the log has %v", seen)
	}
}
