package export_test

import (
	"context"
	"encoding/json"
	"iter"
	"slices"
	"strings"
	"testing"
	"time"

	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/approval"
	"github.com/pawl-run/pawl/engine"
	"github.com/pawl-run/pawl/journal/sqlite"
	"github.com/pawl-run/pawl/tool"
)

// speaker is a model that calls tools first, turn by turn, and then is done. It
// streams, and its first attempt fails.
type speaker struct {
	turns [][]pawl.Call
	fails bool
}

func (s speaker) Describe() pawl.ModelInfo {
	return pawl.ModelInfo{Name: "openai/large", Endpoint: "https://models.example:8443/v1", Price: &pawl.Price{Input: 1, Output: 10}}
}

func (s speaker) Stream(_ context.Context, r pawl.Request) iter.Seq2[pawl.Chunk, error] {
	return func(yield func(pawl.Chunk, error) bool) {
		if s.fails && r.Turn == 1 && r.Attempt == 1 {
			yield(pawl.Chunk{}, &pawl.ModelError{Class: pawl.ClassOverloaded, Message: "SECRET SAUCE is busy"})
			return
		}
		if !yield(pawl.Chunk{Text: "SECRET SAUCE"}, nil) {
			return
		}
		reply := pawl.Reply{Parts: []pawl.Part{pawl.Text{Text: "SECRET SAUCE"}}, Usage: pawl.Usage{Input: 100, Output: 20, CacheRead: 60, CacheWrite: 7, Reasoning: 5}}
		if n := r.Turn - 1; n < len(s.turns) {
			for _, c := range s.turns[n] {
				reply.Parts = append(reply.Parts, c)
			}
		}
		yield(pawl.Chunk{Reply: &reply}, nil)
	}
}

func journal(t *testing.T) *sqlite.Journal {
	t.Helper()
	j, err := sqlite.Open(t.Context(), t.TempDir()+"/pawl.db", nil)
	must(t, err)
	t.Cleanup(func() { _ = j.Close() })
	return j
}

func ask(name, args string) pawl.Call { return pawl.Call{Tool: name, Args: json.RawMessage(args)} }

func env(c *collector) map[string]string {
	return map[string]string{
		"OTEL_EXPORTER_OTLP_ENDPOINT": c.URL, "OTEL_EXPORTER_OTLP_HEADERS": "x-key=abc%20def",
		"OTEL_SERVICE_NAME": "bakery", "OTEL_RESOURCE_ATTRIBUTES": "deployment.environment.name=test,service.name=other",
		"OTEL_EXPORTER_OTLP_COMPRESSION": "gzip",
	}
}

func finish(t *testing.T, h *engine.Handle, err error, want pawl.Status) pawl.Result {
	t.Helper()
	must(t, err)
	r, err := h.Wait(t.Context())
	if err != nil || r.Status != want {
		t.Fatalf("the run is %v (%+v), %v; want %v", r.Status, r.Reason, err, want)
	}
	return r
}

func within(t *testing.T, what string, inner, outer *tracepb.Span) {
	t.Helper()
	if id(inner.TraceId) != id(outer.TraceId) || id(inner.ParentSpanId) != id(outer.SpanId) {
		t.Errorf("%s: %s is in trace %s below %s, want %s below %s (%s)", what, inner.Name,
			id(inner.TraceId), id(inner.ParentSpanId), id(outer.TraceId), id(outer.SpanId), outer.Name)
	}
}

// A whole run: a model call with a retry, a command that says what it was told of
// its caller, one that fails, and an agent as a tool. Its spans say what its log
// says, when it says so, and nothing of what was said.
func TestRunBecomesTrace(t *testing.T) { // Promises: T19.
	c, j := collect(t), journal(t)
	e, shut := open(t, env(c))
	helper := pawl.Agent{Name: "helper", Description: "Helps.", Model: speaker{}}
	agent := pawl.Agent{
		Name: "baker", Prompt: "SECRET SAUCE", Model: speaker{fails: true, turns: [][]pawl.Call{
			{ask("where", `{}`), ask("fails", `{"q":"SECRET SAUCE"}`)}, {ask("helper", `{"input":"SECRET SAUCE"}`)},
		}},
		Tools: []pawl.Tool{
			tool.Command("where", "Say where.", []string{"sh", "-c", `printf '"%s"' "$TRACEPARENT"`}, &tool.CommandOptions{Effect: pawl.Read}),
			tool.Command("fails", "Fail.", []string{"sh", "-c", "echo SECRET SAUCE >&2; exit 3"}, &tool.CommandOptions{
				Input: json.RawMessage(`{"type":"object","properties":{"q":{"type":"string"}}}`), Effect: pawl.Read}),
			tool.Agent(helper, nil),
		},
		Sampling: pawl.Sampling{Temperature: 0.5},
	}
	eng := engine.New(j, &engine.Options{Watchers: []engine.Watcher{e.Telemetry}, Backoff: func(int) time.Duration { return time.Millisecond }})
	h, err := eng.Start(t.Context(), agent, "SECRET SAUCE", &engine.StartOptions{ID: "r1"})
	finish(t, h, err, pawl.StatusSuccess)
	shut()

	root := c.one(t, "invoke_agent baker")
	if len(root.ParentSpanId) != 0 || root.Kind != tracepb.Span_SPAN_KIND_INTERNAL || root.Status.GetCode() != 0 {
		t.Errorf("the run's span is %v", root)
	}
	attrs := texts(root.Attributes)
	for key, want := range map[string]string{
		"gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": "baker", "gen_ai.conversation.id": "r1", "pawl.run.id": "r1",
		"gen_ai.request.model": "large", "pawl.run.status": "success", "pawl.run.condition": "done", "pawl.run.leaf": "done",
		"gen_ai.usage.input_tokens": "int_value:300", "pawl.run.iterations": "int_value:3",
	} {
		if got := strings.ReplaceAll(attrs[key], " ", ""); got != strings.ReplaceAll(want, " ", "") {
			t.Errorf("%s of the run is %q, want %q", key, attrs[key], want)
		}
	}

	chats := c.named("chat large")
	if len(chats) != 4 {
		t.Fatalf("there are %d model calls, want 4", len(chats))
	}
	i := slices.IndexFunc(chats, func(s *tracepb.Span) bool { return len(s.Events) > 0 })
	if i < 0 {
		t.Fatal("no model call says that an attempt failed")
	}
	first := chats[i]
	within(t, "model call", first, root)
	said := texts(first.Attributes)
	if first.Kind != tracepb.Span_SPAN_KIND_CLIENT || first.Status.GetCode() != 0 || len(first.Events) != 1 || first.Events[0].Name != "pawl.attempt.failed" ||
		said["gen_ai.operation.name"] != "chat" || said["server.address"] != "models.example" || said["pawl.purpose"] != "turn" || said["gen_ai.agent.name"] != "baker" {
		t.Errorf("the first model call is %v", first)
	}
	for key, want := range map[string]string{
		"gen_ai.usage.input_tokens": "100", "gen_ai.usage.output_tokens": "20", "gen_ai.usage.cache_read.input_tokens": "60",
		"gen_ai.usage.cache_write.input_tokens": "7", "gen_ai.usage.reasoning.output_tokens": "5", "gen_ai.request.temperature": "0.5",
		"gen_ai.response.finish_reasons": "tool_call", "gen_ai.response.time_to_first_chunk": "", "pawl.attempts": "2", "server.port": "8443", "gen_ai.request.max_tokens": "",
	} {
		if got, ok := said[key]; !ok || !strings.Contains(got, want) {
			t.Errorf("%s of a model call is %q, want %q", key, got, want)
		}
	}

	where := c.one(t, "execute_tool where")
	within(t, "tool", where, root)
	state, err := engine.Load(t.Context(), j, "r1")
	must(t, err)
	call, _ := state.Call("c_1")
	if want := `"00-` + id(where.TraceId) + "-" + id(where.SpanId) + `-01"`; string(call.Result) != want {
		t.Errorf("the command was told %s, want %s", call.Result, want)
	}
	failing := c.one(t, "execute_tool fails")
	if failing.Status.GetCode() != tracepb.Status_STATUS_CODE_ERROR || texts(failing.Attributes)["error.type"] != "error" || failing.Status.Message != "" {
		t.Errorf("the tool that failed is %v", failing)
	}

	delegated := c.one(t, "execute_tool helper")
	within(t, "delegated call", delegated, root)
	child := c.one(t, "invoke_agent helper")
	within(t, "child run", child, delegated)
	if texts(child.Attributes)["pawl.run.parent"] != "r1" {
		t.Errorf("the child is %v", texts(child.Attributes))
	}

	entries := map[int64]bool{}
	for _, run := range []string{"r1", "r1.c_3"} {
		for entry, err := range engine.Entries(t.Context(), j, run, 1) {
			must(t, err)
			entries[entry.Time.UnixNano()] = true
		}
	}
	for _, s := range c.spans {
		if !entries[int64(s.StartTimeUnixNano)] || !entries[int64(s.EndTimeUnixNano)] {
			t.Errorf("%s begins or ends when no entry says so", s.Name)
		}
		if strings.Contains(s.String(), "SECRET") {
			t.Errorf("%s says what was said: %v", s.Name, s)
		}
	}
	if c.resource["service.name"] != "bakery" || c.resource["deployment.environment.name"] != "test" || c.resource["service.version"] != "1.2.3" {
		t.Errorf("the resource is %v", c.resource)
	}
	if got := c.header.Get("X-Key"); got != "abc def" {
		t.Errorf("the header is %q", got)
	}
	for _, name := range []string{
		"gen_ai.client.inference.usage.input_tokens", "gen_ai.client.inference.duration", "gen_ai.client.inference.time_to_first_chunk", "gen_ai.execute_tool.duration",
		"pawl.runs", "pawl.runs.active", "pawl.run.cost_usd", "pawl.tool.errors", "pawl.model.retries",
	} {
		if c.metrics[name] == nil {
			t.Errorf("there is no metric %s", name)
		}
	}
	if h := c.metrics["gen_ai.client.inference.duration"].GetHistogram(); h == nil || len(h.DataPoints) != 1 || h.DataPoints[0].GetCount() != 4 || len(h.DataPoints[0].ExplicitBounds) != 14 {
		t.Errorf("model calls are counted as %v", h)
	}
	if len(c.records) != 2 || c.records[1].Body.GetStringValue() != "run ended" || id(c.records[1].SpanId) != id(root.SpanId) {
		t.Errorf("what is logged is %v", c.records)
	}
}

// With OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT spans say what was
// said, but for what looks like a secret.
func TestContentIsAskedFor(t *testing.T) {
	c := collect(t)
	vars := env(c)
	vars["OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT"] = "true"
	e, shut := open(t, vars)
	eng := engine.New(journal(t), &engine.Options{Watchers: []engine.Watcher{e.Telemetry}})
	h, err := eng.Start(t.Context(), pawl.Agent{Name: "baker", Prompt: "Bake.", Model: speaker{}}, "the password=hunter2secret99 is it", nil)
	finish(t, h, err, pawl.StatusSuccess)
	shut()
	chat, root := texts(c.one(t, "chat large").Attributes), texts(c.one(t, "invoke_agent baker").Attributes)
	if !strings.Contains(chat["gen_ai.output.messages"], "SECRET SAUCE") || !strings.Contains(root["gen_ai.system_instructions"], "Bake.") {
		t.Errorf("nothing is told of what was said: %v, %v", chat, root)
	}
	if in := root["gen_ai.input.messages"]; !strings.Contains(in, "is it") || strings.Contains(in, "hunter2") {
		t.Errorf("the input is told as %s", in)
	}
}

// A run that waits, is resumed by another process and ends there is one trace.
func TestTraceGoesOn(t *testing.T) {
	c, j := collect(t), journal(t)
	agent := pawl.Agent{Name: "clerk", Model: speaker{turns: [][]pawl.Call{{ask("pay", `{}`)}}}, Tools: []pawl.Tool{
		tool.Command("pay", "Pay.", []string{"true"}, nil),
	}, Policies: []pawl.Policy{approval.For("pay")}}
	first, shut := open(t, env(c))
	eng := engine.New(j, &engine.Options{Watchers: []engine.Watcher{first.Telemetry}})
	h, err := eng.Start(t.Context(), agent, "go", &engine.StartOptions{ID: "r2"})
	r := finish(t, h, err, pawl.StatusWaitingApproval)
	shut()

	second, shut := open(t, env(c))
	eng = engine.New(j, &engine.Options{Watchers: []engine.Watcher{second.Telemetry}})
	must(t, eng.Approve(t.Context(), "r2", r.Pending[0].Call, "me", &engine.ApproveOptions{Token: r.Pending[0].Token}))
	h, err = eng.Resume(t.Context(), agent, "r2", nil)
	finish(t, h, err, pawl.StatusSuccess)
	shut()

	lives := c.named("invoke_agent clerk")
	if len(lives) != 2 || id(lives[0].TraceId) != id(lives[1].TraceId) || id(lives[0].SpanId) == id(lives[1].SpanId) {
		t.Fatalf("the lives of the run are %v", lives)
	}
	if texts(lives[0].Attributes)["pawl.run.status"] != "waiting_approval" || lives[0].Status.GetCode() != 0 {
		t.Errorf("the first life is %v", lives[0])
	}
	if len(lives[1].Links) != 1 || id(lives[1].Links[0].SpanId) != id(lives[0].SpanId) {
		t.Errorf("the second life has the links %v", lives[1].Links)
	}
	wait := c.one(t, "pawl.await approval")
	within(t, "wait", wait, lives[1])
	took := time.Duration(wait.EndTimeUnixNano - wait.StartTimeUnixNano)
	if texts(wait.Attributes)["pawl.await.decision"] != "approve" || took <= 0 || took > time.Minute {
		t.Errorf("the wait is %v", wait)
	}
	within(t, "tool", c.one(t, "execute_tool pay"), lives[1])
	if len(c.named("chat large")) != 2 {
		t.Errorf("there are %d model calls", len(c.named("chat large")))
	}
}
