package export_test

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"regexp"
	"runtime"
	"strings"
	"testing"
	"time"

	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/approval"
	"github.com/pawl-run/pawl/engine"
	"github.com/pawl-run/pawl/telemetry"
	"github.com/pawl-run/pawl/tool"
)

// The metrics and labels of the alert rules and the dashboard in deploy/monitoring are those
// that /metrics shows.
func TestMonitoring(t *testing.T) {
	e, shut := open(t, nil)
	defer shut()
	e.Telemetry.WatchBacklog(func(context.Context) (map[string]telemetry.Backlog, error) {
		return map[string]telemetry.Backlog{"odd": {Queued: 3, Oldest: time.Minute, Unowned: 2, InDoubt: 1}}, nil
	})
	eng := engine.New(journal(t), &engine.Options{Watchers: []engine.Watcher{e.Telemetry}})
	agent := pawl.Agent{Name: "odd", Model: speaker{turns: [][]pawl.Call{{ask("no", `{}`)}}}, Policies: []pawl.Policy{approval.For("no")}, Tools: []pawl.Tool{
		tool.Command("no", "Fail.", []string{"false"}, &tool.CommandOptions{Effect: pawl.Read}),
	}}
	h, err := eng.Start(t.Context(), agent, "go", &engine.StartOptions{ID: "r"})
	finish(t, h, err, pawl.StatusWaitingApproval)
	must(t, eng.Approve(t.Context(), "r", "c_1", "ann", nil))
	h, err = eng.Resume(t.Context(), agent, "r", nil)
	finish(t, h, err, pawl.StatusSuccess)

	w := httptest.NewRecorder()
	e.Metrics.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/metrics", nil))
	parser := expfmt.NewTextParser(model.LegacyValidation)
	families, err := parser.TextToMetricFamilies(strings.NewReader(w.Body.String()))
	must(t, err)
	labels := map[string]bool{"le": true, "error_type": true} // the latter of failed calls only
	for _, f := range families {
		for _, m := range f.Metric {
			for _, l := range m.Label {
				labels[l.GetName()] = true
			}
		}
	}
	known := func(name string) bool {
		for _, suffix := range []string{"", "_bucket", "_sum", "_count"} {
			if base, ok := strings.CutSuffix(name, suffix); ok && (families[base] != nil || labels[base]) {
				return true
			}
		}
		// There is none after this run: a call that is tried again, and an approval that nobody has decided.
		return name == "pawl_model_retries_total" || name == "pawl_approvals_waiting"
	}
	names := regexp.MustCompile(`\b(?:pawl|gen_ai|process|go|error)_[a-z_]+\b`)
	used := map[string]bool{}
	for _, file := range []string{"alerts.yaml", "dashboard.json"} {
		text, err := os.ReadFile("../../deploy/monitoring/" + file)
		must(t, err)
		if strings.HasSuffix(file, ".json") && !json.Valid(text) {
			t.Errorf("%s is not JSON", file)
		}
		for _, name := range names.FindAllString(string(text), -1) {
			used[name] = true
			if !known(name) {
				t.Errorf("%s uses %s, which /metrics does not show", file, name)
			}
		}
	}
	for name := range families {
		if strings.HasPrefix(name, "pawl_") && !used[name] && !used[name+"_bucket"] {
			t.Errorf("no alert and no panel uses %s", name)
		}
	}
}

// What Prometheus is shown is read by its own parser, has the names it would
// give, and tells apart what is bounded only.
func TestPrometheusReadsMetrics(t *testing.T) {
	e, shut := open(t, nil)
	defer shut()
	eng := engine.New(journal(t), &engine.Options{Watchers: []engine.Watcher{e.Telemetry}})
	agent := pawl.Agent{Name: "odd", Model: speaker{turns: [][]pawl.Call{{ask("no", `{}`)}}}, Tools: []pawl.Tool{
		tool.Command("no", "Fail.", []string{"false"}, &tool.CommandOptions{Effect: pawl.Read}),
	}}
	for _, run := range []string{"run-one", "run-two"} {
		h, err := eng.Start(t.Context(), agent, "go", &engine.StartOptions{ID: run})
		finish(t, h, err, pawl.StatusSuccess)
	}
	w := httptest.NewRecorder()
	e.Metrics.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/metrics", nil))
	text := w.Body.String()
	if w.Code != http.StatusOK || !strings.HasPrefix(w.Header().Get("Content-Type"), "text/plain; version=0.0.4") {
		t.Fatalf("%d, %v", w.Code, w.Header())
	}
	parser := expfmt.NewTextParser(model.LegacyValidation)
	families, err := parser.TextToMetricFamilies(strings.NewReader(text))
	if err != nil {
		t.Fatalf("%v in\n%s", err, text)
	}
	value := func(name string) float64 {
		f := families[name]
		if f == nil || len(f.Metric) == 0 {
			t.Errorf("there is no metric %s in\n%s", name, text)
			return -1
		}
		m := f.Metric[0]
		switch f.GetType() {
		case dto.MetricType_COUNTER:
			return m.GetCounter().GetValue()
		case dto.MetricType_GAUGE:
			return m.GetGauge().GetValue()
		default:
			return float64(m.GetHistogram().GetSampleCount())
		}
	}
	for name, want := range map[string]float64{
		"pawl_runs_total": 2, "pawl_runs_active": 0, "pawl_tool_errors_total": 2, "gen_ai_client_inference_duration_seconds": 4,
		"gen_ai_execute_tool_duration_seconds": 2, "gen_ai_client_inference_operation_input_tokens": 4, "gen_ai_invoke_agent_tool_calls": 2,
	} {
		if got := value(name); got != want {
			t.Errorf("%s is %v, want %v", name, got, want)
		}
	}
	above := []string{"go_goroutines", "process_start_time_seconds", "pawl_run_cost_usd_total"}
	if runtime.GOOS == "linux" {
		above = append(above, "process_cpu_seconds_total", "process_resident_memory_bytes")
	}
	for _, name := range above {
		if value(name) <= 0 {
			t.Errorf("%s is not above zero", name)
		}
	}
	for name, f := range families {
		for _, m := range f.Metric {
			if h := m.GetHistogram(); h != nil && h.Bucket[len(h.Bucket)-1].GetCumulativeCount() != h.GetSampleCount() {
				t.Errorf("%s: the last bucket is not the count", name)
			}
		}
	}
	if strings.Contains(text, "run-one") {
		t.Error("runs are told apart")
	}
	w = httptest.NewRecorder()
	e.Metrics.ServeHTTP(w, httptest.NewRequest(http.MethodPost, "/metrics", nil))
	if w.Code != http.StatusMethodNotAllowed {
		t.Errorf("POST is answered with %d", w.Code)
	}
}

// TestEarlierNames holds that the standard variable selects the names of version 1.41.0.
func TestEarlierNames(t *testing.T) {
	e, shut := open(t, map[string]string{"OTEL_SEMCONV_STABILITY_OPT_IN": "http,gen_ai/1.41.0"})
	defer shut()
	eng := engine.New(journal(t), &engine.Options{Watchers: []engine.Watcher{e.Telemetry}})
	h, err := eng.Start(t.Context(), pawl.Agent{Name: "old", Model: speaker{}}, "go", nil)
	finish(t, h, err, pawl.StatusSuccess)
	w := httptest.NewRecorder()
	e.Metrics.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/metrics", nil))
	if text := w.Body.String(); !strings.Contains(text, `gen_ai_client_token_usage_count{gen_ai_operation_name="chat"`) || !strings.Contains(text, "gen_ai_client_operation_duration_seconds") || strings.Contains(text, "inference") {
		t.Errorf("the metrics are\n%s", text)
	}
}
