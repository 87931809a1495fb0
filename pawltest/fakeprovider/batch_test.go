package fakeprovider_test

import (
	"context"
	"encoding/json"
	"math"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/engine"
	"github.com/pawl-run/pawl/journal/memory"
	"github.com/pawl-run/pawl/model/anthropic"
	"github.com/pawl-run/pawl/model/openai"
	"github.com/pawl-run/pawl/model/script"
	"github.com/pawl-run/pawl/pawltest"
	"github.com/pawl-run/pawl/pawltest/fakeprovider"
	"github.com/pawl-run/pawl/tool"
)

var batchPrice = pawl.Price{Input: 3, Output: 15}

// batchers are models whose calls are batches at a server.
var batchers = map[string]func(url string) pawl.Model{
	"anthropic": func(url string) pawl.Model {
		return anthropic.New("claude-sonnet-5-5", &anthropic.Options{APIKey: "key", BaseURL: url, Price: &batchPrice}).Batch()
	},
	"chat": func(url string) pawl.Model {
		return openai.New("house", &openai.Options{APIKey: "key", BaseURL: url + "/v1", Price: &batchPrice}).Batch()
	},
	"responses": func(url string) pawl.Model {
		return openai.New("gpt-6-luna", &openai.Options{API: openai.Responses, APIKey: "key", BaseURL: url + "/v1", Price: &batchPrice}).Batch()
	},
}

func batchAgent(m pawl.Model) pawl.Agent {
	look := tool.Func("look", "Look.", func(context.Context, struct{}) (string, error) { return "blue", nil }, pawl.Read)
	return pawl.Agent{Name: "patient", Model: m, Prompt: "Look.", Tools: []pawl.Tool{look}}
}

func batchServer(t *testing.T, o *fakeprovider.Options) (*fakeprovider.Server, string) {
	brain := script.Replies(pawl.Do(pawl.Call{Tool: "look", Args: json.RawMessage(`{}`)}, pawl.Call{Tool: "look", Args: json.RawMessage(`{}`)}), pawl.Say("It is blue."))
	fake := fakeprovider.New(brain, o)
	srv := httptest.NewServer(fake)
	t.Cleanup(srv.Close)
	t.Cleanup(fake.Close)
	return fake, srv.URL
}

// driven resumes a run until it is not paused, and counts the pauses.
func driven(t *testing.T, e *engine.Engine, a pawl.Agent, h *engine.Handle) (r pawl.Result, pauses int) {
	t.Helper()
	for ; ; pauses++ {
		r, err := h.Wait(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if r.Status != pawl.StatusPaused || pauses > 20 {
			return r, pauses
		}
		if h, err = e.Resume(t.Context(), a, h.ID(), nil); err != nil {
			t.Fatal(err)
		}
	}
}

// A run whose model's calls are batches is paused until they are done, and costs half.
func TestBatch(t *testing.T) {
	for wire, make := range batchers {
		t.Run(wire, func(t *testing.T) {
			fake, url := batchServer(t, nil)
			j := memory.New()
			e := engine.New(j, nil)
			defer e.Close()
			a := batchAgent(make(url))
			h, err := e.Start(t.Context(), a, "Which colour?", nil)
			if err != nil {
				t.Fatal(err)
			}
			if r, err := h.Wait(t.Context()); err != nil || r.Status != pawl.StatusPaused {
				t.Fatal(r.Status, r.Reason, err)
			}
			for head := range j.List(t.Context(), pawl.Query{}) {
				if wait := time.Until(head.WakeAt); wait < 50*time.Second || wait > 61*time.Second {
					t.Errorf("it is woken in %v", wait)
				}
			}
			r, pauses := driven(t, e, a, h)
			if r.Status != pawl.StatusSuccess || r.Answer != "It is blue." || pauses != 2 || fake.Batches() != 2 || r.Usage.ModelCalls != 2 {
				t.Errorf("%s %q after %d pauses and %d batches, %d model calls: %v", r.Status, r.Answer, pauses, fake.Batches(), r.Usage.ModelCalls, r.Reason)
			}
			want := batchPrice.Cost(pawl.Usage{Input: r.Usage.Input, Output: r.Usage.Output}) / 2
			if r.CostUSD == nil || math.Abs(float64(*r.CostUSD)-want) > 1e-8 || want == 0 {
				t.Errorf("it cost %v, not half of %v", r.CostUSD, 2*want)
			}
			if p := fake.Problems(); len(p) > 0 {
				t.Error(p)
			}
			if _, err := e.Replay(t.Context(), a, h.ID()); err != nil {
				t.Error(err)
			}
		})
	}
}

// Wherever a run is killed, it finds its batches again.
func TestBatchKills(t *testing.T) {
	for wire, make := range batchers {
		t.Run(wire, func(t *testing.T) {
			var fakes []*fakeprovider.Server
			pawltest.KillEverywhere(t, func() pawl.Agent {
				fake, url := batchServer(t, nil)
				fakes = append(fakes, fake)
				return batchAgent(make(url))
			}, "Which colour?", nil)
			for i, fake := range fakes {
				if n := fake.Batches(); n != 2 {
					t.Errorf("kill %d: %d batches were bought, not 2", i, n)
				}
			}
		})
	}
}

// What becomes of batches that bring no answer, or whose creation is not confirmed.
func TestBatchEnds(t *testing.T) {
	first := func(end string) func(int) string {
		return func(n int) string { return map[int]string{1: end}[n] }
	}
	for wire, make := range batchers {
		for what, c := range map[string]struct {
			o       fakeprovider.BatchOptions
			status  pawl.Status
			batches int
		}{
			"expired":  {fakeprovider.BatchOptions{End: first("expired")}, pawl.StatusSuccess, 3},
			"canceled": {fakeprovider.BatchOptions{End: first("canceled")}, pawl.StatusFailed, 1},
			"lost":     {fakeprovider.BatchOptions{Lost: func(n int) bool { return n == 1 }}, pawl.StatusSuccess, 2},
		} {
			t.Run(wire+" "+what, func(t *testing.T) {
				fake, url := batchServer(t, &fakeprovider.Options{Batch: c.o})
				e := engine.New(memory.New(), &engine.Options{Backoff: func(int) time.Duration { return 0 }})
				defer e.Close()
				a := batchAgent(make(url))
				h, err := e.Start(t.Context(), a, "Which colour?", nil)
				if err != nil {
					t.Fatal(err)
				}
				if r, _ := driven(t, e, a, h); r.Status != c.status || fake.Batches() != c.batches {
					t.Errorf("%s with %d batches, want %s with %d: %v", r.Status, fake.Batches(), c.status, c.batches, r.Reason)
				}
			})
		}
	}
}

// A cancelled run cancels its batch, and counts what that may cost.
func TestBatchLeft(t *testing.T) {
	fake, url := batchServer(t, &fakeprovider.Options{Batch: fakeprovider.BatchOptions{Time: time.Hour}})
	j := memory.New()
	e := engine.New(j, nil)
	defer e.Close()
	a := batchAgent(batchers["anthropic"](url))
	h, err := e.Start(t.Context(), a, "Which colour?", nil)
	if err != nil {
		t.Fatal(err)
	}
	if r, err := h.Wait(t.Context()); err != nil || r.Status != pawl.StatusPaused {
		t.Fatal(r.Status, err)
	}
	if err := e.Say(t.Context(), h.ID(), "ann", "In French.", nil); err != nil { // which makes it another request
		t.Fatal(err)
	}
	if h, err = e.Resume(t.Context(), a, h.ID(), nil); err != nil {
		t.Fatal(err)
	}
	r, err := h.Wait(t.Context())
	if err != nil || r.Status != pawl.StatusPaused || fake.Batches() != 2 || r.CostUSD == nil || *r.CostUSD < 0.03 {
		t.Fatal(r.Status, fake.Batches(), r.CostUSD, err)
	}
	before := *r.CostUSD
	if err := e.Cancel(t.Context(), h.ID(), "ann", "enough"); err != nil {
		t.Fatal(err)
	}
	s, err := engine.Load(t.Context(), j, h.ID())
	if cost, _ := s.Cost(); err != nil || s.Status() != pawl.StatusCancelled || cost < float64(before)+0.03 {
		t.Error(s.Status(), cost, before, err)
	}
}
