package export_test

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	metricspb "go.opentelemetry.io/proto/otlp/metrics/v1"
	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/approval"
	"github.com/pawl-run/pawl/engine"
	"github.com/pawl-run/pawl/internal/testkit/check"
	"github.com/pawl-run/pawl/telemetry/export"
	"github.com/pawl-run/pawl/tool"
)

// A receiver that is busy is asked again, and gets everything.
func TestReceiverIsBusy(t *testing.T) {
	c := collect(t)
	c.refuse = 2
	e, shut := open(t, map[string]string{"OTEL_EXPORTER_OTLP_ENDPOINT": c.URL + "/", "OTEL_METRICS_EXPORTER": "none", "OTEL_LOGS_EXPORTER": "none"})
	eng := engine.New(journal(t), &engine.Options{Watchers: []engine.Watcher{e.Telemetry}})
	h, err := eng.Start(t.Context(), pawl.Agent{Name: "baker", Model: speaker{}}, "go", nil)
	finish(t, h, err, pawl.StatusSuccess)
	shut()
	c.one(t, "invoke_agent baker")
	if len(c.metrics) != 0 || len(c.records) != 0 {
		t.Errorf("what is switched off is sent: %v, %v", c.metrics, c.records)
	}
}

// How a run that did not get to its end is told: what was in flight ends with it,
// as cancelled, and so does a tool that takes too long, as that.
func TestEndings(t *testing.T) {
	c, j := collect(t), journal(t)
	e, shut := open(t, env(c))
	began := make(chan struct{})
	wait := func(ctx context.Context, _ struct{}) (string, error) {
		close(began)
		<-ctx.Done()
		return "", ctx.Err()
	}
	slow := func(ctx context.Context, _ struct{}) (string, error) {
		<-ctx.Done()
		return "", ctx.Err()
	}
	agent := pawl.Agent{Name: "idler", Model: speaker{turns: [][]pawl.Call{{ask("slow", `{}`)}, {ask("wait", `{}`)}}}, Tools: []pawl.Tool{
		quick{tool.Func("slow", "Be slow.", slow, pawl.Read)}, tool.Func("wait", "Wait.", wait, pawl.Read),
	}}
	eng := engine.New(j, &engine.Options{Watchers: []engine.Watcher{e.Telemetry}})
	h, err := eng.Start(t.Context(), agent, "go", &engine.StartOptions{ID: "r3"})
	must(t, err)
	<-began
	must(t, eng.Cancel(t.Context(), "r3", "me", "enough"))
	finish(t, h, err, pawl.StatusCancelled)
	// A fork has a trace of its own, with a link to where it comes from.
	fork, err := eng.Fork(t.Context(), pawl.Agent{Name: "idler", Model: speaker{}, Tools: agent.Tools}, "r3", 1, &engine.ForkOptions{ID: "r4", AllowChange: true})
	finish(t, fork, err, pawl.StatusSuccess)
	// A run without an owner is ended by the process that cancels it.
	agent = pawl.Agent{Name: "waiter", Model: speaker{turns: [][]pawl.Call{{ask("pay", `{}`)}}}, Policies: []pawl.Policy{approval.For("pay")},
		Tools: []pawl.Tool{tool.Command("pay", "Pay.", []string{"true"}, nil)}}
	h, err = eng.Start(t.Context(), agent, "go", &engine.StartOptions{ID: "r6"})
	finish(t, h, err, pawl.StatusWaitingApproval)
	must(t, eng.Cancel(t.Context(), "r6", "me", "enough"))
	shut()
	if all := c.named("invoke_agent waiter"); len(all) != 2 || texts(all[1].Attributes)["pawl.run.status"] != "cancelled" {
		t.Errorf("the run that was cancelled as it waited is %v", all)
	}
	for _, p := range c.metrics["pawl.runs.active"].GetSum().DataPoints {
		if p.GetAsInt() != 0 {
			t.Errorf("when all is over %d runs are active: %v", p.GetAsInt(), p)
		}
	}

	lives := c.named("invoke_agent idler")
	if len(lives) != 2 {
		t.Fatalf("there are %d runs: %v", len(lives), lives)
	}
	root, forked := lives[0], lives[1]
	if attrs := texts(root.Attributes); attrs["pawl.run.status"] != "cancelled" || attrs["error.type"] != "cancelled" || root.Status.GetCode() != tracepb.Status_STATUS_CODE_ERROR ||
		len(root.Events) != 1 || root.Events[0].Name != "pawl.cancel.requested" {
		t.Errorf("the cancelled run is %v", root)
	}
	for name, want := range map[string]string{"execute_tool slow": "timeout", "execute_tool wait": "cancelled"} {
		if got := texts(c.one(t, name).Attributes)["error.type"]; got != want {
			t.Errorf("%s ended as %q, want %q", name, got, want)
		}
	}
	if id(forked.TraceId) == id(root.TraceId) || len(forked.Links) != 1 || id(forked.Links[0].SpanId) != id(root.SpanId) || id(forked.Links[0].TraceId) != id(root.TraceId) {
		t.Errorf("the fork is %v, of %v", forked, root)
	}
	if m := c.metrics["pawl.runs"]; m == nil || len(m.GetSum().DataPoints) != 4 {
		t.Errorf("runs are counted as %v", m)
	}
}

// quick is a tool with a short deadline.
type quick struct{ pawl.Tool }

func (q quick) Info() pawl.ToolInfo {
	info := q.Tool.Info()
	info.Timeout = 20 * time.Millisecond
	return info
}

// A run whose owner loses it is told as such, with no end that its log does not have.
func TestRunIsTakenOver(t *testing.T) {
	c, j := collect(t), journal(t)
	e, shut := open(t, env(c))
	took := func(ctx context.Context, _ struct{}) (string, error) { // the run is taken while this goes on
		lease, err := j.Claim(ctx, pawl.Claim{Run: "r5", Owner: "somebody", TTL: time.Minute, Over: 1})
		if err == nil && lease.Epoch != 2 {
			t.Errorf("the lease is %+v", lease)
		}
		return "", err
	}
	agent := pawl.Agent{Name: "loser", Model: speaker{turns: [][]pawl.Call{{ask("take", `{}`)}}}, Tools: []pawl.Tool{tool.Func("take", "Take.", took, pawl.Read)}}
	eng := engine.New(j, &engine.Options{Watchers: []engine.Watcher{e.Telemetry}})
	h, err := eng.Start(t.Context(), agent, "go", &engine.StartOptions{ID: "r5"})
	must(t, err)
	if _, err := h.Wait(t.Context()); err == nil {
		t.Fatal("a run that was taken over ended well")
	}
	shut()
	root := c.one(t, "invoke_agent loser")
	if attrs := texts(root.Attributes); attrs["pawl.run.status"] != "interrupted" || attrs["error.type"] != "interrupted" {
		t.Errorf("the run is told as %v", attrs)
	}
	if got := texts(c.one(t, "execute_tool take").Attributes)["error.type"]; got != "lost" {
		t.Errorf("its call ended as %q", got)
	}
	last := c.records[len(c.records)-1]
	if last.Body.GetStringValue() != "run was let go of" || last.SeverityText != "ERROR" {
		t.Errorf("logged is %v", last)
	}
}

// What the variables say wrongly is told by their names, without their values.
func TestVariables(t *testing.T) {
	for variable, c := range map[string]struct{ value, want string }{
		"OTEL_EXPORTER_OTLP_ENDPOINT":    {"tcp://user:hunter2@h", "OTEL_EXPORTER_OTLP_ENDPOINT is not a URL"},
		"OTEL_TRACES_EXPORTER":           {"zipkin", `OTEL_TRACES_EXPORTER is "zipkin"; write otlp or none`},
		"OTEL_EXPORTER_OTLP_HEADERS":     {"hunter2", "its part 1 is not of the form name=value"},
		"OTEL_EXPORTER_OTLP_TIMEOUT":     {"5s", "write milliseconds"},
		"OTEL_EXPORTER_OTLP_COMPRESSION": {"zstd", "write gzip or none"},
		"OTEL_EXPORTER_OTLP_PROTOCOL":    {"grpc", "only http/protobuf is supported"},
		"OTEL_RESOURCE_ATTRIBUTES":       {"hunter2", "OTEL_RESOURCE_ATTRIBUTES: its part 1"},

		"OTEL_EXPORTER_OTLP_METRICS_TEMPORALITY_PREFERENCE": {"sometimes", "write cumulative, delta or lowmemory"},
	} {
		vars := map[string]string{"OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:1", variable: c.value}
		_, err := export.Open(func(name string) string { return vars[name] }, nil)
		if err == nil || strings.Count(err.Error(), c.want) != 1 || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%s=%s: %v", variable, c.value, err)
		}
	}
	if e, err := export.Open(func(string) string { return "" }, nil); e != nil || err != nil {
		t.Errorf("with no variables there is %v, %v", e, err)
	}
	vars := map[string]string{"OTEL_EXPORTER_OTLP_TRACES_HEADERS": "authorization=Bearer%20abcdef,x=y"}
	got, _ := json.Marshal(export.Secrets(func(name string) string { return vars[name] }))
	if want := `{"OTEL_EXPORTER_OTLP_TRACES_HEADERS_1":"Bearer abcdef","OTEL_EXPORTER_OTLP_TRACES_HEADERS_1_TOKEN":"abcdef","OTEL_EXPORTER_OTLP_TRACES_HEADERS_2":"y"}`; string(got) != want {
		t.Errorf("the secrets are %s", got)
	}
}

// A receiver that does not answer, or answers with pages of text: it is told once,
// shortly and without the address, and after the end nobody is being asked.
func TestReceiverIsOfNoUse(t *testing.T) {
	asked, left := make(chan struct{}, 9), make(chan struct{}, 9)
	silent := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body) // so that it is seen when the caller goes
		asked <- struct{}{}
		<-r.Context().Done()
		left <- struct{}{}
	}))
	defer silent.Close()
	wordy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusForbidden)
		_, _ = io.WriteString(w, strings.Repeat("no ", 10_000))
	}))
	defer wordy.Close()
	for _, at := range []string{silent.URL, wordy.URL} {
		var told []string
		vars := map[string]string{"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": at + "/key-of-mine", "OTEL_EXPORTER_OTLP_LOGS_ENDPOINT": at + "/key-of-mine"}
		e, err := export.Open(func(name string) string { return vars[name] }, &export.Options{Failed: func(err error) { told = append(told, err.Error()) }})
		must(t, err)
		eng := engine.New(journal(t), &engine.Options{Watchers: []engine.Watcher{e.Telemetry}})
		h, err := eng.Start(t.Context(), pawl.Agent{Name: "baker", Model: speaker{}}, "go", nil)
		finish(t, h, err, pawl.StatusSuccess)
		ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
		if err := e.Shutdown(ctx); err != nil {
			told = append(told, err.Error())
		}
		cancel()
		if len(told) != 1 || len(told[0]) > 600 || strings.Contains(told[0], "key-of-mine") {
			t.Errorf("told is %q", told)
		}
	}
	for range len(asked) {
		<-asked
		<-left
	}
}

// A receiver that takes a part only says how much it refused, and why.
func TestReceiverRefusesAPart(t *testing.T) {
	for body, want := range map[string]string{
		"": "", "\x0a\x00": "",
		"\x0a\x08\x08\x03\x12\x04full": "metrics cannot be sent: the collector refused 3: full",
		"\x0a\x08\x08\x03":             "metrics cannot be sent: the collector's answer is not one of the protocol: unexpected EOF",
	} {
		part := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/x-protobuf")
			_, _ = io.WriteString(w, body)
		}))
		told := ""
		vars := map[string]string{"OTEL_EXPORTER_OTLP_METRICS_ENDPOINT": part.URL}
		e, err := export.Open(func(name string) string { return vars[name] }, &export.Options{Failed: func(err error) { told = err.Error() }})
		must(t, err)
		if err := e.Shutdown(t.Context()); err != nil || told != want {
			t.Errorf("of the answer %q is told %q, %v, want %q", body, told, err, want)
		}
		part.Close()
	}
}

// Metrics count from where the reader of them wants it.
func TestTemporality(t *testing.T) {
	for value, want := range map[string]metricspb.AggregationTemporality{
		"": metricspb.AggregationTemporality_AGGREGATION_TEMPORALITY_CUMULATIVE, "Delta": metricspb.AggregationTemporality_AGGREGATION_TEMPORALITY_DELTA,
	} {
		c := collect(t)
		e, shut := open(t, map[string]string{"OTEL_EXPORTER_OTLP_METRICS_ENDPOINT": c.URL + "/v1/metrics", "OTEL_EXPORTER_OTLP_METRICS_TEMPORALITY_PREFERENCE": value})
		h, err := engine.New(journal(t), &engine.Options{Watchers: []engine.Watcher{e.Telemetry}}).Start(t.Context(), pawl.Agent{Name: "baker", Model: speaker{}}, "go", nil)
		finish(t, h, err, pawl.StatusSuccess)
		shut()
		if got := c.metrics["pawl.runs"].GetSum().GetAggregationTemporality(); got != want {
			t.Errorf("with %q runs are counted as %v, want %v", value, got, want)
		}
	}
}

// What would be left out, or shown, is refused.
func TestWhatExportersWouldDo(t *testing.T) {
	for _, vars := range []map[string]string{
		{"OTEL_EXPORTER_OTLP_ENDPOINT": "http://me:hunter2@127.0.0.1:1"},
		{"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": "http://127.0.0.1:1/v1?key=hunter2"},
		{"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": "http://127.0.0.1:1", "OTEL_EXPORTER_OTLP_HEADERS": "hunter2", "OTEL_EXPORTER_OTLP_TRACES_HEADERS": "a=b"},
		{"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": "http://127.0.0.1:1", "OTEL_EXPORTER_OTLP_HEADERS": "Authorization: hunter2=="},
	} {
		e, err := export.Open(func(name string) string { return vars[name] }, nil)
		if e != nil || err == nil || !strings.Contains(err.Error(), "OTEL_EXPORTER_OTLP_") || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%v: %v, %v", vars, e, err)
		}
	}
}

var must = check.Must
