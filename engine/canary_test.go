package engine_test

import (
	"context"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/engine"
	"github.com/pawl-run/pawl/explain"
	"github.com/pawl-run/pawl/journal/sqlite"
	"github.com/pawl-run/pawl/stop"
	"github.com/pawl-run/pawl/tool"
)

const canary = `kanarie-7f/3"bird+9z`

// shapes are the ways in which the canary comes up.
func shapes(before string) []string {
	data := []byte(before + canary + "\n")
	inJSON, _ := json.Marshal(canary)
	return []string{
		canary, string(inJSON), url.QueryEscape(canary), hex.EncodeToString(data),
		base64.StdEncoding.EncodeToString(data), base64.RawURLEncoding.EncodeToString(data),
	}
}

// leaks names what of the canary is in a text. Of an encoding, its middle is
// what it cannot be without.
func leaks(text string) (found []string) {
	for _, before := range []string{"", "x", "xy"} {
		for _, shape := range shapes(before) {
			middle := shape[len(shape)/4 : len(shape)-len(shape)/4]
			if strings.Contains(text, middle) {
				found = append(found, middle)
			}
		}
	}
	return found
}

// parrot is a model that repeats the canary wherever a reply has room for it,
// in chunks of three bytes.
type parrot struct{ calls *int }

func (m parrot) Stream(_ context.Context, r pawl.Request) iter.Seq2[pawl.Chunk, error] {
	return func(yield func(pawl.Chunk, error) bool) {
		*m.calls++
		if *m.calls == 1 {
			yield(pawl.Chunk{}, &pawl.ModelError{Class: pawl.ClassNetwork, Message: "cannot reach https://u:" + canary + "@host"})
			return
		}
		opaque, _ := json.Marshal(map[string]string{"signature": "c2ln", "text": "I think of " + canary})
		reply := pawl.Reply{Parts: []pawl.Part{
			pawl.Thinking{Text: "I think of " + canary, Opaque: opaque, Model: "func"},
			pawl.Text{Text: "It is " + canary[:7]},
			pawl.Text{Text: canary[7:] + "."},
		}}
		args := func(v any) json.RawMessage { b, _ := json.Marshal(v); return b }
		turn := 0
		for _, msg := range r.Messages {
			if msg.Role == pawl.RoleAssistant {
				turn++
			}
		}
		switch turn {
		case 0:
			reply.Parts = append(reply.Parts,
				pawl.Call{Tool: "env", Args: args(map[string]string{"like": canary})},
				pawl.Call{Tool: "env", Args: args(map[string]string{"like": "fail"})},
				pawl.Call{Tool: canary, Args: args(map[string]string{canary: canary})})
		case 1:
			reply.Parts = append(reply.Parts, pawl.Call{Tool: "__pause_for_human__", Args: args(map[string]string{"question": "Is it " + canary + "?"})})
		}
		for _, p := range reply.Parts {
			var text, thought string
			switch p := p.(type) {
			case pawl.Text:
				text = p.Text
			case pawl.Thinking:
				thought = p.Text
			case pawl.Call:
				if !yield(pawl.Chunk{Call: p.Tool}, nil) {
					return
				}
			}
			for i := 0; i < len(text+thought); i += 3 {
				chunk := pawl.Chunk{Text: text[min(i, len(text)):min(i+3, len(text))], Thinking: thought[min(i, len(thought)):min(i+3, len(thought))]}
				if !yield(chunk, nil) {
					return
				}
			}
		}
		yield(pawl.Chunk{Reply: &reply}, nil)
	}
}

// A secret that a tool prints, encodes and fails with, that the model repeats,
// that people and observers say, is nowhere to be found, and the run goes on,
// resumes and replays all the same.
func TestCanary(t *testing.T) {
	env := func(_ context.Context, in struct {
		Like string `json:"like"`
	}) (any, error) {
		if in.Like == "fail" {
			return nil, errors.New("cannot log in with " + canary)
		}
		return map[string]any{"key" + canary: shapes("x"), "text": strings.Join(shapes("xy"), "\n")}, nil
	}
	calls := 0
	agent := pawl.Agent{
		Name: "canary", Model: parrot{&calls}, Builtins: true,
		Tools: []pawl.Tool{tool.Func("env", "Show the environment.", env, pawl.Read)},
		Observer: func(context.Context) (pawl.Observation, error) {
			data, _ := json.Marshal(shapes(""))
			return pawl.Observation{Text: "seen: " + strings.Join(shapes(""), " "), Data: data}, nil
		},
		Goal: &pawl.Goal{Success: stop.Metric("<", 0), Metric: func(context.Context, pawl.Observation) (pawl.Measured, error) {
			return pawl.Measured{Value: 1, Open: []string{"open " + canary}}, nil
		}},
		Limits: pawl.Limits{Iterations: 3},
	}
	dir, ctx := t.TempDir(), t.Context()
	j, err := sqlite.Open(ctx, filepath.Join(dir, "runs.db"), nil)
	must(t, err)
	options := func() *engine.Options {
		return &engine.Options{Secrets: map[string]string{"CANARY": canary}, Backoff: func(int) time.Duration { return 0 }}
	}
	var said strings.Builder // whatever somebody may see
	watch := func(h *engine.Handle) pawl.Result {
		var text, thought strings.Builder
		for e, err := range h.Entries(ctx) {
			must(t, err)
			line, err := e.AppendJSON(nil)
			must(t, err)
			fmt.Fprintf(&said, "%s\n", line)
			if d, ok := e.Event.(pawl.ModelDelta); ok {
				text.WriteString(d.Text)
				thought.WriteString(d.Thinking)
			}
		}
		fmt.Fprintf(&said, "%s\n%s\n", text.String(), thought.String())
		result, err := h.Wait(ctx)
		must(t, err)
		line, _ := json.Marshal(result)
		fmt.Fprintf(&said, "%s\n", line)
		return result
	}

	first := engine.New(j, options())
	h, err := first.Start(ctx, agent, "Use "+canary+".", nil)
	must(t, err)
	parked := watch(h)
	if parked.Status != pawl.StatusWaitingInput || len(parked.Pending) != 1 {
		t.Fatalf("parked as %v: %+v", parked.Status, parked.Reason)
	}
	second := engine.New(j, options())
	for range 2 { // saying the same again is harmless
		must(t, second.Answer(ctx, parked.Run, parked.Pending[0].Call, "ada", "Yes, "+canary))
	}
	h, err = second.Resume(ctx, agent, parked.Run, nil)
	must(t, err)
	ended := watch(h)
	if ended.Status != pawl.StatusExhausted || ended.Iterations != 3 || !strings.Contains(said.String(), "It is {{secret:CANARY}}.") {
		t.Errorf("ended as %v after %d turns", ended.Status, ended.Iterations)
	}
	if n, err := second.Replay(ctx, agent, parked.Run); err != nil || n == 0 {
		t.Errorf("%d steps agree: %v", n, err)
	}
	report, err := explain.Of(engine.Entries(ctx, j, parked.Run, 1), nil)
	must(t, err)
	said.WriteString(report.Markdown())
	if found := leaks(said.String()); found != nil {
		t.Errorf("%q can be seen", found)
	}
	look := func() {
		t.Helper()
		files, _ := filepath.Glob(filepath.Join(dir, "*"))
		for _, file := range files {
			data, err := os.ReadFile(file)
			must(t, err)
			if found := leaks(string(data)); found != nil {
				t.Errorf("%q is in %s", found, filepath.Base(file))
			}
			if info, err := os.Stat(file); err != nil || info.Mode().Perm()&0o077 != 0 {
				t.Errorf("%s has mode %v: %v", filepath.Base(file), info.Mode(), err)
			}
		}
	}
	look() // with the write-ahead log beside it
	must(t, j.Close())
	look()
	for _, want := range []string{`"opaque"`, "c2ln"} {
		if strings.Contains(said.String(), want) {
			t.Errorf("thinking that was changed has kept %s", want)
		}
	}
}

// A secret that cannot be kept is told before anything is run.
func TestSecretTooShort(t *testing.T) {
	e := engine.New(newTap(), &engine.Options{Secrets: map[string]string{"PIN": "1234"}})
	_, err := e.Start(t.Context(), pawl.Agent{Name: "a", Model: turns()}, "Go.", nil)
	if err == nil || !strings.Contains(err.Error(), "PIN has 4 bytes") || strings.Contains(err.Error(), "1234") {
		t.Errorf("got %v", err)
	}
}

// Names are not text, and leave in lists, logs and telemetry: labels, threads,
// keys and who decided.
func TestSecretsInNames(t *testing.T) {
	j := newTap()
	e := engine.New(j, &engine.Options{Secrets: map[string]string{"CANARY": canary}})
	agent := pawl.Agent{Name: "a", Model: turns(), Labels: map[string]string{"agent " + canary: "v"}}
	start := func(o *engine.StartOptions) pawl.Result {
		t.Helper()
		h, err := e.Start(t.Context(), agent, "Go.", o)
		must(t, err)
		return ends(t, h, pawl.StatusSuccess)
	}
	var logs strings.Builder
	var first string
	for i, o := range []*engine.StartOptions{
		{Labels: map[string]string{"k " + canary: "v", "k": "v " + canary}},
		nil,
		{Thread: "talk " + canary, Key: "key " + canary},
		{Thread: "talk " + canary, Key: "key " + canary},
	} {
		run := start(o).Run
		if i == 2 {
			first = run
		}
		if i == 3 && run != first {
			t.Errorf("the same key gave the runs %s and %s", first, run)
		}
		logs.WriteString(text(t, j, run))
	}
	next := start(&engine.StartOptions{Thread: "talk " + canary}).Run
	logs.WriteString(text(t, j, next))
	fork, err := e.Fork(t.Context(), agent, next, 1, &engine.ForkOptions{Labels: map[string]string{canary: canary}})
	must(t, err)
	logs.WriteString(text(t, j, ends(t, fork, pawl.StatusSuccess).Run))
	if found := leaks(logs.String()); found != nil {
		t.Errorf("%q is in the logs", found)
	}
	if n := strings.Count(logs.String(), "{{secret:CANARY}}"); n < 9 {
		t.Errorf("the logs name the secret %d times", n)
	}
}
