package cli

import (
	"context"
	"log/slog"
	"net/http"
	"sync"
	"time"

	"github.com/pawl-run/pawl/engine"
	"github.com/pawl-run/pawl/internal/redact"
	"github.com/pawl-run/pawl/internal/traceparent"
	"github.com/pawl-run/pawl/telemetry/export"
)

// reports is where it is told what runs do, opened when the first engine is made.
type reports struct {
	once sync.Once
	to   *export.Export // nil: nobody is told
}

// reporting is the export that the environment asks for; nil: none. What is wrong
// with what it says is told, and no reason not to run.
func (a *app) reporting(metrics bool) *export.Export {
	if a.reports == nil {
		return nil
	}
	a.reports.once.Do(func() {
		to, err := export.Open(a.getenv, &export.Options{Version: thisBuild().Version, Metrics: metrics, Failed: a.unreported})
		if err != nil {
			a.unreported(err)
		}
		a.reports.to = to
	})
	return a.reports.to
}

func (a *app) unreported(err error) {
	a.sayf("pawl: telemetry: %s; runs go on without", redact.Text(err.Error()))
}

// watchers are those who are told of an engine's runs.
func (a *app) watchers(metrics bool) []engine.Watcher {
	if to := a.reporting(metrics); to != nil {
		return []engine.Watcher{to.Telemetry}
	}
	return nil
}

// scraped answers Prometheus.
func (a *app) scraped() http.Handler {
	if to := a.reporting(true); to != nil {
		return to.Metrics
	}
	return nil
}

// serverLog is where a server tells what its operator should know: here, and
// beside the traces where logs are sent, too.
func (a *app) serverLog(verbose bool) *slog.Logger {
	level := slog.LevelInfo
	if verbose {
		level = slog.LevelDebug
	}
	var to slog.Handler = slog.NewTextHandler(a.err, &slog.HandlerOptions{Level: level})
	if far := a.reporting(true); far != nil && far.Log != nil {
		to = slog.NewMultiHandler(to, far.Log.Handler())
	}
	return slog.New(to)
}

// mostReporting is how long what is left may take to be sent at the end.
const mostReporting = 5 * time.Second

// reported sends what is left to be told.
func (a *app) reported() {
	if a.reports == nil || a.reports.to == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), mostReporting)
	defer cancel()
	if err := a.reports.to.Shutdown(ctx); err != nil {
		a.unreported(err)
	}
}

// asked is ctx with the place in a trace of whoever has started this program, as
// he has said in the environment.
func (a *app) asked(ctx context.Context) context.Context {
	return traceparent.With(ctx, traceparent.Parse(a.getenv(traceparent.Variable), a.getenv(traceparent.StateVar)))
}
