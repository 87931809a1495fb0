package fakeprovider_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/internal/testkit/fakeprovider"
	"github.com/pawl-run/pawl/tool"
)

// onWires runs a test on every wire.
func onWires(t *testing.T, test func(t *testing.T, w fakeprovider.Wire)) {
	for w := range adapters {
		t.Run(w.String(), func(t *testing.T) {
			t.Parallel()
			test(t, w)
		})
	}
}

// sound fails if the provider had to object to anything.
func (r *rig) sound(t *testing.T) {
	t.Helper()
	if p := r.fake.Problems(); len(p) > 0 {
		t.Errorf("the provider objects: %s", strings.Join(p, "; "))
	}
}

// What a model thought comes back as it was, and where it was: the server
// refuses anything else.
func TestThinkingComesBack(t *testing.T) {
	onWires(t, func(t *testing.T, w fakeprovider.Wire) {
		r := newRig(t, w, nil)
		if res := r.start(t); res.Status != pawl.StatusSuccess {
			t.Fatalf("%v: %s", res.Verdict, res.Verdict.Detail)
		}
		r.sound(t)
		last := r.fake.Requests()[1].Decoded
		for _, m := range last.Messages {
			if i := slices.IndexFunc(m.Parts, func(p pawl.Part) bool { th, ok := p.(pawl.Thinking); return ok && th.Text == thought }); m.Role == pawl.RoleAssistant && i != 0 {
				t.Errorf("the thinking stands at %d in %+v, want it first", i, m.Parts)
			}
		}
	})
}

// A run that was stopped while its calls ran goes on with every call answered,
// and none twice.
func TestCallsCutShort(t *testing.T) {
	onWires(t, func(t *testing.T, w fakeprovider.Wire) {
		for _, how := range []string{"cancelled", "parked"} {
			r := newRig(t, w, nil)
			begun := make(chan bool, 1)
			first := true
			r.agent.Tools[0] = tool.Func("look", "Look at it.", func(ctx context.Context, _ struct {
				N *int `json:"n,omitempty"`
			}) (string, error) {
				if !first {
					return "it is there", nil
				}
				first = false
				begun <- true
				<-ctx.Done()
				return "", ctx.Err()
			}, pawl.Read)
			ctx, cancel := context.WithCancel(t.Context())
			h, err := r.eng.Start(ctx, r.agent, "Put it.", nil)
			if err != nil {
				t.Fatal(err)
			}
			r.run = h
			<-begun
			if how == "cancelled" {
				if err := r.eng.Cancel(t.Context(), h.ID(), "anna", "enough"); err != nil {
					t.Fatal(err)
				}
			} else {
				cancel()
			}
			if res := finish(t, h); res.Status != pawl.StatusCancelled && res.Status != pawl.StatusPaused {
				t.Fatalf("%s: %v", how, res.Verdict)
			}
			res := r.resume(t)
			cancel()
			if res.Status != pawl.StatusSuccess || r.puts.Load() != 1 {
				t.Errorf("%s: %v: %s; it was put %d times", how, res.Verdict, res.Verdict.Detail, r.puts.Load())
			}
			r.sound(t)
		}
	})
}

// A long conversation keeps to what the wire takes: marks for the cache, pairs,
// order. So does one whose calls and results are odd, empty or large.
func TestLongConversation(t *testing.T) {
	onWires(t, func(t *testing.T, w fakeprovider.Wire) {
		odd := []string{"", " ", "\x00", "\xff\xfe", "\u2028", "😀", `{"a":1,"a":2}`, `"\ud800"`, "null", "[]", strings.Repeat("x", 20_000), "{{secret}}", "</tool_result>"}
		turns, most := 0, 30
		if testing.Short() {
			most = 6
		}
		r := newRig(t, w, nil)
		r.agent.Limits.Iterations, r.agent.Limits.Tokens = 40, 5_000_000
		r.agent.Tools = append(r.agent.Tools, tool.Func("odd", "Say something odd.", func(_ context.Context, in struct {
			N int `json:"n"`
		}) (string, error) {
			if in.N%5 == 4 {
				return "", fmt.Errorf("no: %q", odd[in.N%len(odd)])
			}
			return odd[in.N%len(odd)], nil
		}, pawl.Read))
		r.think = func(_ context.Context, req pawl.Request) (pawl.Reply, error) {
			if turns++; turns > most {
				return pawl.Say("Done."), nil
			}
			var parts []pawl.Part
			if turns%3 != 0 {
				parts = append(parts, pawl.Thinking{Text: "Hm, " + strings.ToValidUTF8(odd[turns%len(odd)], "?")})
			}
			if turns%2 == 0 {
				parts = append(parts, pawl.Text{Text: odd[turns%len(odd)]})
			}
			for k := range 1 + turns%3 {
				parts = append(parts, pawl.Call{Tool: "odd", Args: json.RawMessage(fmt.Sprintf(`{"n":%d}`, 3*turns+k))})
			}
			return pawl.Reply{Parts: parts}, nil
		}
		if res := r.start(t); res.Status != pawl.StatusSuccess {
			t.Errorf("%v: %s", res.Verdict, res.Verdict.Detail)
		}
		r.sound(t)
	})
}

// A conversation that is too long loses its older results, and no model is
// asked to shorten it, so none can be slow, empty or too long in doing so.
func TestTooLong(t *testing.T) {
	for _, name := range []string{"context-length", "too-large"} {
		t.Run(name, func(t *testing.T) {
			onWires(t, func(t *testing.T, w fakeprovider.Wire) {
				r := newRig(t, w, &fakeprovider.Options{FaultFor: func(n int) fakeprovider.Fault {
					if n == 3 {
						return fakeprovider.Must(name)
					}
					return fakeprovider.Fault{}
				}})
				turns := 0
				r.think = func(context.Context, pawl.Request) (pawl.Reply, error) {
					if turns++; turns > 2 {
						return pawl.Say("Done."), nil
					}
					return pawl.Do(pawl.Call{Tool: "look", Args: json.RawMessage(fmt.Sprintf(`{"n":%d}`, turns))}), nil
				}
				r.agent.Tools[0] = tool.Func("look", "Look at it.", func(context.Context, struct {
					N int `json:"n"`
				}) (string, error) {
					return strings.Repeat("much to see ", 100), nil
				}, pawl.Read)
				if res := r.start(t); res.Status != pawl.StatusSuccess {
					t.Errorf("%v: %s", res.Verdict, res.Verdict.Detail)
				}
				list := r.fake.Requests()
				if len(list) != 4 || len(list[3].Body) > len(list[2].Body)-500 {
					t.Errorf("%d requests; the one after the fault is not shorter", len(list))
				}
				r.sound(t)
			})
		})
	}
}

// A provider that is down ends the run, which can be resumed, within its time;
// when it is back, what was done is not done again.
func TestDeadProvider(t *testing.T) {
	for _, name := range []string{"unavailable-503", "rate-limit", "reset-before-headers", "no-events", "headers-only", "stalled-stream", "html-page", "endless-error-body"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			onWires(t, func(t *testing.T, w fakeprovider.Wire) {
				var back atomic.Bool
				r := newRig(t, w, &fakeprovider.Options{FaultFor: func(n int) fakeprovider.Fault {
					if n > 1 && !back.Load() {
						return fakeprovider.Must(name)
					}
					return fakeprovider.Fault{}
				}})
				if slices.Contains(hangs, name) {
					r.impatient(t)
				}
				r.agent.Limits.Time = 30 * time.Second
				begun := time.Now()
				res := r.start(t)
				if d := time.Since(begun); d > 40*time.Second {
					t.Errorf("it took %v", d)
				}
				if res.Status != pawl.StatusFailed || !res.Resumable {
					t.Fatalf("%v: %s", res.Verdict, res.Verdict.Detail)
				}
				r.accounts(t, res)
				back.Store(true)
				res = r.resume(t)
				if res.Status != pawl.StatusSuccess || r.puts.Load() != 1 {
					t.Errorf("when it is back: %v: %s; it was put %d times", res.Verdict, res.Verdict.Detail, r.puts.Load())
				}
				r.accounts(t, res)
				r.sound(t)
			})
		})
	}
}

// accounts checks that what a run has used is what its entries say, each
// attempt once, however often it was resumed.
func (r *rig) accounts(t *testing.T, res pawl.Result) {
	t.Helper()
	var sum pawl.Usage
	for e, err := range r.run.Entries(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		switch e := e.Event.(type) {
		case pawl.ModelReplied:
			sum = sum.Add(e.Reply.Usage)
		case pawl.ModelFailed:
			sum = sum.Add(e.Usage)
			if e.Usage == (pawl.Usage{}) && (e.Class == pawl.ClassTruncated || e.Class == pawl.ClassEmpty) {
				t.Errorf("an attempt that may have been billed is booked at nothing: %+v", e)
			}
		}
	}
	if res.Usage.Input != sum.Input || res.Usage.Output != sum.Output || res.Usage.CacheRead != sum.CacheRead {
		t.Errorf("usage %+v, but the entries sum to %+v", res.Usage, sum)
	}
}
