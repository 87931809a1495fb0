package export_test

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

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
